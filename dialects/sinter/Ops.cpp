/// The ops: verified by the shape rules of recording, emitted on elements by
/// bodies from the records.
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/InferShape.h"
#include "dialects/sinter/ScalarRules.h"
#include "dialects/sinter/Types.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"
#include "sinter/generated/classes/All.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include <list>

#define GET_OP_CLASSES
#include "sinter/generated/SinterOps.cpp.inc"

#include "sinter/generated/ScalarBodies.cpp.inc"

using namespace mlir;

namespace sinter::ir {

using llvm::SmallVector; // not the runtime's

/// The operands' types as shape rules take them, and the dims they borrow.
struct OperandTypes {
  std::list<SmallVector<Dim>> dims;
  SmallVector<graph::TensorType> types;
};

static LogicalResult readOperands(Operation *op, OperandTypes &operands) {
  for (Type type : op->getOperandTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    std::optional<DType> dtype = dtypeOf(tensor.getElementType());
    if (!dtype)
      return op->emitOpError() << "cannot compute with " << type;
    SmallVector<Dim> &dims =
        operands.dims.emplace_back(llvm::map_to_vector(dimsOf(tensor), dimOf));
    operands.types.push_back({*dtype, {dims.data(), dims.size()}});
  }
  return success();
}

/// Every dim that is symbolic has an expression, and only those.
static LogicalResult verifyEncoding(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto map = dyn_cast_or_null<AffineMapAttr>(tensor.getEncoding());
  if (!tensor.getEncoding() && tensor.hasStaticShape())
    return success();
  if (!map || map.getValue().getNumDims() != 0 ||
      map.getValue().getNumResults() != size_t(tensor.getRank()))
    return op->emitOpError()
           << "needs one expression over symbols for each dim of " << type;
  for (auto [size, expr] :
       llvm::zip(tensor.getShape(), map.getValue().getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (constant ? constant.getValue() != size : !ShapedType::isDynamic(size))
      return op->emitOpError() << "dims and expressions disagree in " << type;
  }
  return success();
}

/// Whether the declared dims can be the inferred ones: symbolic dims that
/// differ are equal by a guard of the program.
static bool agree(RankedTensorType declared,
                  const graph::InferredType &inferred) {
  if (dtypeOf(declared.getElementType()) != inferred.dtype ||
      size_t(declared.getRank()) != inferred.dims.size())
    return false;
  for (auto [size, dim] : llvm::zip(declared.getShape(), inferred.dims))
    if (!ShapedType::isDynamic(size) && dim.isConstant() && size != dim.value)
      return false;
  return true;
}

FailureOr<InferredShape> inferShape(Operation *op) {
  OperandTypes operands;
  if (failed(readOperands(op, operands)))
    return failure();
  FailureOr<SmallVector<uint64_t>> words = encodeAttrs(op);
  if (failed(words))
    return failure();
  graph::GuardSink guards{.valuesUnknown = true, .equalities = {}};
  graph::ShapeContext context{cast<SinterOpInterface>(op).getOpId(),
                              {operands.types.data(), operands.types.size()},
                              &guards};
  Result<graph::InferredType> inferred =
      graph::inferType(context, {words->data(), words->size()});
  if (!inferred)
    return op->emitError(inferred.error().message);
  return InferredShape{std::move(*inferred), std::move(guards.equalities)};
}

LogicalResult verifyShapeRule(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (failed(verifyEncoding(op, type)))
      return failure();
  auto declared = cast<SinterOpInterface>(op).getTensorType();
  if (failed(verifyEncoding(op, declared)))
    return failure();
  FailureOr<InferredShape> inferred = inferShape(op);
  if (failed(inferred))
    return failure();
  const graph::InferredType &type = inferred->type;
  if (!agree(declared, type))
    return op->emitOpError()
           << "infers " << graph::typeString({type.dtype, type.dims})
           << ", which is not the result's type " << declared;
  return success();
}

} // namespace sinter::ir
