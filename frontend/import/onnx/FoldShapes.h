/// FoldShapes: what arranges and reduces known elements on the host.
#pragma once

#include "frontend/import/onnx/Records.h"
#include "frontend/import/onnx/Value.h"

#include <string_view>
#include <vector>

namespace sinter::onnx {

/// A node of known operands; those that are missing are null.
struct FoldCall {
  const NodeRecord &node;
  int64_t opset;
  const std::vector<KnownRef> &inputs;

  const AttributeRecord *attribute(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  bool has(size_t input) const {
    return input < inputs.size() && inputs[input];
  }
  /// Numbers of an operand or, in older versions, of an attribute.
  std::vector<int64_t> integers(size_t input, std::string_view name) const;
};
using ShapeFold = KnownRef (*)(const FoldCall &call);

/// Null when the operator is none of these.
ShapeFold findShapeFold(std::string_view op);
/// What the rule gives; null where the axes of an operand or of the result
/// are long, though it may have no elements.
KnownRef foldShape(ShapeFold rule, const FoldCall &call);

} // namespace sinter::onnx
