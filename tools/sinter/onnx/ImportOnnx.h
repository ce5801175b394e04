/// ONNX models on the command line.
#pragma once

#include "tools/sinter/Arguments.h"
#include "tools/sinter/Model.h"

#include <string>

namespace sinter::cli {

/// An ONNX model as a `.sinter` file of the temporary folder, which is gone
/// with the last copy of the result: weights have the names of initializers,
/// axes that the model leaves open the names that they have there. `--size
/// NAME=N` sets one, which then is no axis of other sizes; `--constant
/// INPUT=FILE.npy` makes an input part of the program.
Result<Model> importOnnx(const std::string &path, const Arguments &arguments);

/// An ONNX model as a header and its parameters, as `export_cpp` writes them;
/// `--size` and `--constant` as above.
Status writeOnnxAsCpp(const std::string &path, const Arguments &arguments,
                      const std::string &output);

/// What a model is: inputs and outputs, how often it has each operator and the
/// bytes of its weights, and every node that is not supported.
Result<std::string> onnxText(const std::string &path);

} // namespace sinter::cli
