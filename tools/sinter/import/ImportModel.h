/// Models of other frameworks on the command line.
#pragma once

#include "tools/sinter/Arguments.h"
#include "tools/sinter/Model.h"

#include <string>

namespace sinter::cli {

/// An `.onnx` or `.pt2` model as a `.sinter` file of the temporary folder,
/// which is gone with the last copy of the result: weights and axes that the
/// model leaves open have the names that they have there. `--size NAME=N` sets
/// one, which then is no axis of other sizes; `--constant INPUT=FILE.npy` makes
/// an input part of the program.
Result<Model> importModel(const std::string &path, const Arguments &arguments);

/// Such a model as a header and its parameters, as `export_cpp` writes them;
/// `--size` and `--constant` as above.
Status writeModelAsCpp(const std::string &path, const Arguments &arguments,
                       const std::string &output);

/// What a model is: inputs and outputs, how often it has each operator and the
/// bytes of its weights, and every node that is not supported.
Result<std::string> onnxText(const std::string &path);
/// The same of a PyTorch program.
Result<std::string> torchText(const std::string &path);

} // namespace sinter::cli
