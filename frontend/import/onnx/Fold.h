/// Fold: what can be computed on the host, of known elements.
#pragma once

#include "frontend/import/onnx/Call.h"

namespace sinter::onnx {

/// Whether nodes of this operator can be computed on the host. They have one
/// result.
bool isFoldable(const NodeRecord &node);

/// The result of a node of known operands, null for those that are missing; as
/// opset `opset` means it. Null where it is too large, or a case that is left
/// to the device.
KnownRef fold(const NodeRecord &node, int64_t opset,
              const std::vector<KnownRef> &inputs);

} // namespace sinter::onnx
