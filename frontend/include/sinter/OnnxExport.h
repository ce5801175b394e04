/// Writes functions and modules as ONNX models.
#pragma once

#include <sinter/Export.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace sinter {

/// How an ONNX model is written. Names and dynamic axes are those of
/// ExportOptions.
struct OnnxOptions {
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  /// Axes whose size is the caller's choice, as `x:0=batch`.
  std::vector<std::string> dynamic = {};
  int64_t opset = 20; ///< 17 to 23
  /// `beside` is `PATH.data`, where larger tensors stand, each at a multiple of
  /// 4096 bytes. Above 2 GiB they stand there in any case.
  WeightPlace weights = WeightPlace::inside;
};

/// Writes a module's `forward`, or a function of tensors, as an ONNX model:
/// parameters are initializers by their names, other tensors constants. The
/// function is called once, as `export_model` does; what changes parameters or
/// draws random numbers has no place in such a model.
///
///     sn::export_onnx("digits.onnx", model, x,
///                     {.inputs = {"x"}, .dynamic = {"x:0=batch"}});
///
/// An Error of kind `unsupported` names an op that ONNX has no operator for.
template <typename F, typename Inputs>
void export_onnx(const std::string &path, F &&function,
                 const Inputs &example_inputs, const OnnxOptions &options = {},
                 std::source_location where = std::source_location::current()) {
  ModelExport file;
  file.add("main", std::forward<F>(function), example_inputs,
           {options.inputs, options.outputs, options.dynamic, {}, {}}, where);
  file.write_onnx(path, {options.opset, options.weights}, where);
}

} // namespace sinter
