/// OwnTensors: what a loaded model still needs of its files, copied out of
/// them.
#pragma once

#include "frontend/import/onnx/TensorBytes.h"

namespace sinter::onnx {

/// Gives the tensors in attributes and inner graphs, and small initializers,
/// bytes of their own, and takes those of large initializers away, which the
/// model has as parameters or constants. Nothing refers to a file after this.
void ownTensors(ModelRecord &model, ExternalFiles &files);

} // namespace sinter::onnx
