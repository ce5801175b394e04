/// plan_step: the memory that a step of training takes, known before any runs.
#pragma once

#include <sinter/Creation.h>
#include <sinter/Fields.h>
#include <sinter/Transforms.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>

namespace sinter {

/// What a step takes, in bytes as the device gives them out: rounded up, by at
/// most an eighth or to 256.
struct StepMemory {
  uint64_t parameters = 0; ///< of those that are trained
  uint64_t state = 0; ///< of optimizers, running statistics, frozen parameters
  uint64_t batch = 0; ///< other tensors that the step reads
  /// The loss and whatever else the step gives, and new values of parameters
  /// and state that cannot be written over the old ones.
  uint64_t results = 0;
  /// What lives between kernels: activations and gradients, as many of them as
  /// are there at once.
  uint64_t temporaries = 0;
  /// Of parameters, state and batch: what has its memory already.
  uint64_t present = 0;

  /// All that is in use at the peak of a step.
  uint64_t peak() const {
    return parameters + state + batch + results + temporaries;
  }
  /// What is to be allocated for it.
  uint64_t to_allocate() const { return peak() - present; }
};
/// A line for each part.
std::string to_string(const StepMemory &memory);

/// A tensor that has a type and no memory, for the batches of steps that are
/// planned. It can be recorded on as any other, and made `dynamic`, as a
/// loader's batches are along axis 0; evaluating what depends on it is an
/// Error.
Tensor stand_in(const Dims &shape, Options options = {},
                std::source_location where = std::source_location::current());

namespace detail {

/// Between construction and `finish` the thread records a step, and nothing can
/// be evaluated.
class StepPlanner {
public:
  explicit StepPlanner(std::source_location where);
  ~StepPlanner();
  StepPlanner(const StepPlanner &) = delete;

  StepMemory finish(const Fields &results);

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace detail

/// What the step takes that `step()` records: a forward and a backward pass and
/// the steps of optimizers. It gives the loss, or whatever the loop reads
/// (a container of tensors, Gradients), or nothing.
///
///     auto memory = sn::plan_step([&] {
///       auto x = sn::stand_in({batch, 784});
///       auto y = sn::stand_in({batch}, {.dtype = sn::DType::i64});
///       auto loss = sn::cross_entropy(model(x), y);
///       adam.step(model, loss.backward());
///       return loss;
///     });
///
/// The program is compiled, and is the one that such a step runs; nothing is
/// run, no parameter, state, random number or count of steps changes, and no
/// value is made. Modules and optimizers are made before. The same holds for
/// evaluation, where nothing is stepped. Throws what recording and compiling
/// throw; reading a value inside is an error.
///
/// What comes on top: kernels' code, and on devices with graphs up to 32 MiB
/// of temporaries that get a place each (docs/hybrid.md).
template <typename F>
StepMemory
plan_step(F &&step,
          std::source_location where = std::source_location::current()) {
  detail::StepPlanner planner(where);
  if constexpr (std::is_void_v<std::invoke_result_t<F &>>) {
    step();
    return planner.finish({});
  } else {
    auto result = step();
    return planner.finish(detail::fieldsOf(result));
  }
}

} // namespace sinter
