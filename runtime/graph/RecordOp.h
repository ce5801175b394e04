/// RecordOp: what the generated graph builders are made of.
#pragma once

#include "runtime/graph/ShapeRules.h"
#include "sinter/runtime/Node.h"

#include <optional>
#include <span>
#include <type_traits>

namespace sinter::graph {

/// The operands of an op about to be recorded, borrowed from the caller: no
/// reference count is touched until the node takes them.
template <size_t N> class BorrowedOperands {
public:
  template <typename... Refs>
  explicit BorrowedOperands(const Refs &...refs)
      : nodes{refs.get()...},
        operandTypes{TensorType{refs->dtype(), refs->dims()}...} {}

  std::span<const TensorType> types() const { return operandTypes; }
  /// Whether all operands have the very same type: an elementwise op has
  /// nothing left to check.
  bool haveOneType() const {
    const TensorType &first = operandTypes[0];
    for (size_t i = 1; i < N; ++i) {
      const TensorType &other = operandTypes[i];
      if (other.dtype != first.dtype || !identicalDims(other.dims, first.dims))
        return false;
    }
    return true;
  }
  operator std::span<const NodeRef>() const {
    static_assert(sizeof(NodeRef) == sizeof(Node *) &&
                  std::is_standard_layout_v<NodeRef>);
    return {reinterpret_cast<const NodeRef *>(nodes), N};
  }

private:
  Node *nodes[N];
  TensorType operandTypes[N];
};

/// The types of a variadic op's operands.
class OperandTypes {
public:
  explicit OperandTypes(std::span<const NodeRef> nodes) {
    for (const NodeRef &node : nodes)
      types.push_back({node->dtype(), node->dims()});
  }
  operator std::span<const TensorType>() const { return types; }

private:
  SmallVector<TensorType, 8> types;
};

/// Makes the node on the operands' common device. A dynamic scalar works on
/// every device; other operands on two devices are an error that names both.
/// Ops that no operand places are given their device.
Result<NodeRef> record(const ShapeContext &context,
                       std::span<const NodeRef> operands,
                       const TensorType &type, std::span<const uint64_t> attrs,
                       std::optional<DeviceId> device = std::nullopt);

/// Whether a node has exactly this type: dtype, and dims by expression too.
bool sameType(const NodeRef &node, const TensorType &type);

/// Whether an axis of a tensor without one is meant as that of one element.
constexpr bool isAxisOfNumber(int64_t axis) { return axis == 0 || axis == -1; }
/// A number as a tensor [1]; other nodes as they are.
Result<NodeRef> asLine(const NodeRef &node);
/// What an op gave for operands `asLine`: a number of a tensor [1] where all of
/// `operands` are numbers.
Result<NodeRef> asNumber(Result<NodeRef> made,
                         std::span<const NodeRef> operands);

// Checks with an error of the context's op.
Status checkArity(const ShapeContext &context);
Status checkNotEmpty(const ShapeContext &context);
Status checkDTypes(const ShapeContext &context, DTypeSet allowed);
/// Attributes in encoded form are normalized and resolved already.
Status checkNormalized(const ShapeContext &context, int64_t axis,
                       int64_t normal);
Status checkNormalized(const ShapeContext &context,
                       std::span<const int64_t> axes,
                       std::span<const int64_t> normal);
Status checkResolved(const ShapeContext &context, std::span<const Dim> shape);

} // namespace sinter::graph
