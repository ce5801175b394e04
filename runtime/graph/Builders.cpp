/// The graph builders: generated functions over what stands here.
#include "runtime/graph/Builders.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/ComplexShapeRules.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/RecordOp.h"
#include "sinter/generated/builders/All.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace sinter::graph {

static bool worksEverywhere(const NodeRef &node) {
  return node->isLeaf() && node->leafKind() == InputKind::scalar;
}

/// The device of the result; `given` wins over scalars only.
static Result<DeviceId> commonDevice(const ShapeContext &context,
                                     std::span<const NodeRef> operands,
                                     std::optional<DeviceId> given) {
  for (const NodeRef &node : operands) {
    if (worksEverywhere(node))
      continue;
    if (given && *given != node->device())
      return shapeError(context, fmt::format("operands on two devices, {} and "
                                             "{}",
                                             toString(*given),
                                             toString(node->device())));
    given = node->device();
  }
  if (!given && !operands.empty())
    given = operands[0]->device();
  return given.value_or(DeviceId());
}

/// Whether every operand was placed, and on the first one's device.
static bool areTogether(std::span<const NodeRef> operands) {
  if (operands.empty() || worksEverywhere(operands[0]))
    return false;
  for (const NodeRef &node : operands.subspan(1))
    if (worksEverywhere(node) || node->device() != operands[0]->device())
      return false;
  return true;
}

Result<NodeRef> record(const ShapeContext &context,
                       std::span<const NodeRef> operands,
                       const TensorType &type, std::span<const uint64_t> attrs,
                       std::optional<DeviceId> device) {
  if (!device && areTogether(operands)) [[likely]]
    return NodeFactory::op(context.op, type.dtype, type.dims, operands, attrs,
                           operands[0]->device());
  if (device && operands.empty())
    return NodeFactory::op(context.op, type.dtype, type.dims, operands, attrs,
                           *device);
  SINTER_TRY_ASSIGN(DeviceId where, commonDevice(context, operands, device));
  return NodeFactory::op(context.op, type.dtype, type.dims, operands, attrs,
                         where);
}

bool sameType(const NodeRef &node, const TensorType &type) {
  return node->dtype() == type.dtype && identicalDims(node->dims(), type.dims);
}

Result<NodeRef> asLine(const NodeRef &node) {
  const Dim one[] = {Dim(1)};
  return node->rank() == 0 ? reshape(node, one) : node;
}

Result<NodeRef> asNumber(Result<NodeRef> made,
                         std::span<const NodeRef> operands) {
  bool areNumbers = std::ranges::all_of(
      operands, [](const NodeRef &node) { return node->rank() == 0; });
  if (!made || !areNumbers || (*made)->rank() == 0)
    return made;
  return reshape(*made, {});
}

Status checkArity(const ShapeContext &context) {
  if (context.op == leafOp || context.op >= OpId::count)
    return makeError(ErrorKind::internal, "a leaf is not an op");
  int arity = info(context.op).arity;
  if (arity == variadic || size_t(arity) == context.operands.size())
    return {};
  return shapeError(context, fmt::format("{} operands, not {}", arity,
                                         context.operands.size()));
}

Status checkNotEmpty(const ShapeContext &context) {
  if (context.operands.empty())
    return shapeError(context, "needs at least one operand");
  return {};
}

Status checkDTypes(const ShapeContext &context, DTypeSet allowed) {
  for (unsigned i = 0; i < context.operands.size(); ++i)
    SINTER_TRY(checkDType(context, i, allowed));
  return {};
}

Status checkNormalized(const ShapeContext &context, int64_t axis,
                       int64_t normal) {
  if (axis != normal)
    return shapeError(context, fmt::format("axis {} is negative", axis));
  return {};
}

Status checkNormalized(const ShapeContext &context,
                       std::span<const int64_t> axes,
                       std::span<const int64_t> normal) {
  if (!std::ranges::equal(axes, normal))
    return shapeError(context, "axes are negative or not in order");
  return {};
}

Status checkResolved(const ShapeContext &context, std::span<const Dim> shape) {
  for (Dim dim : shape)
    if (dim.isConstant() && dim.value < 0)
      return shapeError(context, fmt::format("dim {} is negative", dim.value));
  return {};
}

} // namespace sinter::graph

#include "sinter/generated/GraphBuilders.cpp.inc"

namespace sinter::graph {

Result<NodeRef> buildOp(OpId op, std::span<const NodeRef> operands,
                        std::span<const uint64_t> attrs, DeviceId device) {
  ShapeContext context{op, {}};
  OperandTypes types(operands);
  context.operands = types;
  SINTER_TRY(checkArity(context));
  return dispatchBuild(op, operands, attrs, device);
}

} // namespace sinter::graph
