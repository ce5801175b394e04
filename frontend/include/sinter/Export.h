/// Export: functions and modules as one file that runs without a compiler.
#pragma once

#include <sinter/Jit.h>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter {

namespace optim {
class Optimizer;
} // namespace optim

/// Where an exported file's weights are.
enum class WeightPlace : uint8_t {
  inside, ///< in the file itself
  beside, ///< in a safetensors file next to it, of the same name
};

/// What a file says of one of its functions. Tensors are counted as they are
/// found in the arguments, and in the result, one after the other; a struct's
/// are found by its fields. One without a name here has its field's, or is
/// `input0`, `output0` and so on.
struct EntryOptions {
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  /// Axes whose size is the caller's choice, as `x:0=batch`. Axes of one name
  /// have one size; the example has one of it.
  std::vector<std::string> dynamic = {};
  std::string description = {};
  /// What inputs and outputs are, by their names.
  std::vector<std::pair<std::string, std::string>> descriptions = {};
};

/// How a file is written.
struct FileOptions {
  /// `cpu`, `cpu:x86-64-v3`, `cuda:sm_90`, `vulkan` and so on, as `sinter
  /// compile --target` takes them: the file has a program for each. None: that
  /// of the default device.
  std::vector<std::string> targets = {};
  WeightPlace weights = WeightPlace::inside;
  /// Anything, by key.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  /// Whether errors of the file's programs have the lines of this program.
  bool source_lines = true;
};

/// How an ONNX model is written.
struct OnnxFileOptions {
  int64_t opset = 20; ///< 17 to 23
  WeightPlace weights = WeightPlace::inside;
};

/// Both, for a file of one function.
struct ExportOptions {
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<std::string> dynamic = {};
  std::vector<std::string> targets = {};
  WeightPlace weights = WeightPlace::inside;
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::string description = {};
  std::vector<std::pair<std::string, std::string>> descriptions = {};
  bool source_lines = true;
};

namespace detail {

struct ExportParts;

/// Records one function of a file: the thread captures until this is destroyed.
class ExportRecording {
public:
  /// `inner` are copies of the arguments `given`: their Params become those of
  /// `given`, their tensors placeholders.
  ExportRecording(ExportParts &file, std::string name, const Fields &given,
                  const Fields &inner, EntryOptions options,
                  std::source_location where);
  ~ExportRecording();
  /// Ends it. `after` are the copies after the call, `result` its result.
  void finish(const Fields &after, const Fields &result);

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

template <typename T> struct IsTuple : std::false_type {};
template <typename... T> struct IsTuple<std::tuple<T...>> : std::true_type {};

} // namespace detail

/// A file of several functions that share weights and state:
///
///     sn::ModelExport file;
///     file.add("predict", model, x, {.inputs = {"x"}, .dynamic = {"x:0=n"}});
///     file.add("train", step, std::tuple{x, y}, {.outputs = {"loss"}});
///     file.write("digits.sinter");
///
/// Each function is called once, when it is added, on stand-ins for its example
/// inputs: it records, and cannot read values. What it reaches without being
/// given is in the file:
/// - A parameter is a weight, by its path in its module.
/// - A parameter without gradient that a function assigns to (a running
///   statistic, a cache), and the moments of an optimizer that takes a step in
///   it, are state: the file has their first values, and who runs it keeps them
///   from run to run. Weights that a step changes are changed there, too.
/// - Random numbers go on from run to run, from a seed of the runner's.
/// - Numbers (an eps, a learning rate) are constants, with the bits that they
///   have here; a rate can be an input, see `rate`. What an optimizer's step
///   computes of its count (Adam's corrections) is computed in the file, in
///   f64, from state that counts: with `exact` numerics a training goes on bit
///   by bit, in other modes so does one without such a count.
/// - Other tensors are constants; fields of modules have their paths as names.
///
/// Weights and state are what they are when the first function that uses them
/// is added. Not thread-safe.
class ModelExport {
public:
  using Where = std::source_location;

  ModelExport();
  ~ModelExport();
  ModelExport(ModelExport &&) noexcept;
  ModelExport &operator=(ModelExport &&) noexcept;

  /// Parameters of this module have in the file the names that they have in it,
  /// behind `prefix` and a dot; a Param itself has the name `prefix`. Of a
  /// module that `add` is given this is known.
  template <typename T>
  ModelExport &name(const T &module, std::string_view prefix = {}) {
    nameFields(detail::allFieldsOf(module), prefix);
    return *this;
  }

  /// What steps of `optimizer` that are added from now on take for its rate is
  /// an f64 scalar that each run is given by this name, in place of the rate
  /// that it has now. Inputs of one function have different names, rates, too.
  ModelExport &rate(const optim::Optimizer &optimizer, std::string name,
                    Where where = Where::current());

  /// Adds a function of tensors, or a module's `forward`. `inputs` are examples
  /// of its arguments: one, or a std::tuple; what `jit` takes. An Error names
  /// what cannot be exported.
  template <typename F, typename Inputs>
  ModelExport &add(std::string name, F &&function, const Inputs &inputs,
                   EntryOptions options = {}, Where where = Where::current()) {
    if constexpr (!detail::IsTuple<Inputs>::value) {
      return add(std::move(name), std::forward<F>(function),
                 std::tuple<Inputs>(inputs), std::move(options), where);
    } else {
      if constexpr (detail::Module<std::decay_t<F>>)
        this->name(function);
      Inputs copies = inputs;
      std::apply(
          [&](const auto &...given) {
            std::apply(
                [&](auto &...each) {
                  (detail::separateShared(each, detail::fieldsOf(given)), ...);
                },
                copies);
          },
          inputs);
      detail::ExportRecording recording(
          *parts, std::move(name), detail::fieldsOf(inputs),
          detail::fieldsOf(copies), std::move(options), where);
      auto call = [&](auto &...each) -> decltype(auto) {
        if constexpr (detail::Module<std::decay_t<F>>)
          return std::as_const(function).forward(each...);
        else
          return std::invoke(function, each...);
      };
      using R = decltype(std::apply(call, copies));
      if constexpr (std::is_void_v<R>) {
        std::apply(call, copies);
        recording.finish(detail::fieldsOf(copies), {});
      } else {
        static_assert(detail::isJitValue<std::decay_t<R>>,
                      "an exported function gives tensors, or structs and "
                      "containers of these");
        std::decay_t<R> result = std::apply(call, copies);
        recording.finish(detail::fieldsOf(copies), detail::fieldsOf(result));
      }
      return *this;
    }
  }

  /// Compiles all functions for all targets and writes the file, and, with
  /// weights beside, `PATH.safetensors` without the file's `.sinter`.
  void write(const std::string &path, const FileOptions &options = {},
             Where where = Where::current()) const;

  /// Writes the only function as an ONNX model, see `export_onnx`.
  void write_onnx(const std::string &path, const OnnxFileOptions &options = {},
                  Where where = Where::current()) const;

  /// Writes the only function as a module in C++, see `export_cpp`.
  void write_cpp(const std::string &path, Where where = Where::current()) const;

private:
  void nameFields(const detail::Fields &fields, std::string_view prefix);

  std::unique_ptr<detail::ExportParts> parts;
};

/// Writes a file of one function, `main`: a module's `forward`, or a function
/// of tensors.
///
///     sn::export_model("digits.sinter", model, x,
///                      {.inputs = {"x"}, .dynamic = {"x:0=batch"}});
///
/// ModelExport says what becomes of what the function reaches.
template <typename F, typename Inputs>
void export_model(
    const std::string &path, F &&function, const Inputs &example_inputs,
    const ExportOptions &options = {},
    std::source_location where = std::source_location::current()) {
  ModelExport file;
  file.add("main", std::forward<F>(function), example_inputs,
           {options.inputs, options.outputs, options.dynamic,
            options.description, options.descriptions},
           where);
  file.write(path,
             {options.targets, options.weights, options.metadata,
              options.source_lines},
             where);
}

} // namespace sinter
