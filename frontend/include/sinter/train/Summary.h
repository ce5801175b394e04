/// Summary: the modules of a model as a table.
#pragma once

#include <sinter/Module.h>
#include <sinter/ModuleCalls.h>
#include <sinter/Transforms.h>

#include <cstdint>
#include <iosfwd>
#include <source_location>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace sinter::train {

/// One module, with all that is below it. Tied parameters count once.
struct SummaryRow {
  std::string path;        ///< empty for the model itself
  std::string type;        ///< the class, without `sinter::`
  int64_t parameters = 0;  ///< elements, but of running statistics
  int64_t trainable = 0;   ///< elements that are trained now
  int64_t bytes = 0;       ///< of all values, running statistics too
  std::string dtypes = {}; ///< `f32`, or `bf16, f32` of several
  /// Shapes of what it gave, `[8,10]`, in the order of its calls; empty where
  /// it was not called as a module or gave no tensor.
  std::vector<std::string> outputs = {};
};

/// The rows in the order of the fields, the model first.
struct ModelSummary {
  std::vector<SummaryRow> rows;
  int64_t buffers = 0; ///< elements that were not made to be trained
};
/// A table with a line for each row, and the totals.
std::ostream &operator<<(std::ostream &stream, const ModelSummary &summary);

} // namespace sinter::train

namespace sinter::detail {

/// Notes shapes of outputs.
class ShapeObserver : public ModuleObserver {
public:
  void gave(const void *address, const std::type_info &type,
            const Tensor &output) override;

  struct Output {
    const void *address;
    std::type_index type;
    std::string shape;
  };
  std::vector<Output> outputs;
};

train::ModelSummary summarize(const Fields &fields, const WalkedModules &walked,
                              const ShapeObserver *shapes,
                              std::source_location where);

template <typename T>
train::ModelSummary summaryOf(const T &model, const ShapeObserver *shapes,
                              std::source_location where) {
  Fields fields;
  WalkedModules walked;
  FieldWalker(fields, &walked).walk(const_cast<T &>(model));
  refuseForgotten(fields, walked);
  return summarize(fields, walked, shapes, where);
}

} // namespace sinter::detail

namespace sinter::train {

/// The model's modules, their parameters and bytes. Makes and reads no value.
template <typename T>
ModelSummary
summary(const T &model,
        std::source_location where = std::source_location::current()) {
  return sinter::detail::summaryOf(model, nullptr, where);
}

/// The same with shapes of outputs, of `run(copy)` where copy is the model's
/// `valid()`, whose gradients nobody wants. What it records is not evaluated,
/// unless the model reads a value on its way.
///
///     std::cout << sn::train::summary(model, [&](const auto &copy) {
///       copy(ids, mask); });
template <typename T, typename F>
  requires std::is_invocable_v<F &, const T &>
ModelSummary
summary(const T &model, F run,
        std::source_location where = std::source_location::current()) {
  const T copy = model.valid();
  sinter::detail::ShapeObserver shapes;
  {
    no_grad guard;
    run(copy);
  }
  ModelSummary found = sinter::detail::summaryOf(copy, &shapes, where);
  ModelSummary own = summary(model, where); // with what is trained
  for (size_t i = 0; i < own.rows.size(); ++i)
    own.rows[i].outputs = std::move(found.rows[i].outputs);
  return own;
}
/// The same of `model(input)`.
template <typename T>
ModelSummary
summary(const T &model, const Tensor &input,
        std::source_location where = std::source_location::current()) {
  return summary(model, [&](const T &copy) { copy(input); }, where);
}

} // namespace sinter::train
