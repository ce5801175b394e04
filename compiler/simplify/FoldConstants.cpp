/// Constants: an op on tensors that one number fills is such a tensor itself.
/// The work and the bytes are those of one number, whatever the shape.
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter::compiler {

TypedAttr fillOf(Value value) {
  auto full = value.getDefiningOp<ir::FullOp>();
  return full ? full.getValue() : TypedAttr();
}

// The filling number in the element type that the kernel would give it; null
// where the conversion is not exact, which is left to the kernel.
static TypedAttr elementOf(Value value) {
  TypedAttr fill = fillOf(value);
  if (!fill)
    return {};
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (auto type = dyn_cast<FloatType>(element)) {
    double number = isa<IntegerAttr>(fill)
                        ? double(cast<IntegerAttr>(fill).getInt())
                        : cast<FloatAttr>(fill).getValueAsDouble();
    return FloatAttr::get(type, number);
  }
  auto integer = dyn_cast<IntegerAttr>(fill);
  if (!integer)
    return {};
  unsigned width = element.getIntOrFloatBitWidth();
  APInt bits(64, uint64_t(integer.getInt()), true);
  if (width == 1)
    return IntegerAttr::get(ir::scalarType(element),
                            APInt(1, integer.getInt() != 0));
  return IntegerAttr::get(ir::scalarType(element), bits.trunc(width));
}

// Evaluates a block of scalar ops on constants. Only `arith` ops: what
// polynomials approximate is left to the kernel, so that folding changes no
// bit.
static Attribute evaluate(Block &block, ArrayRef<Attribute> arguments,
                          Value result) {
  DenseMap<Value, Attribute> known;
  for (auto [argument, attr] : llvm::zip(block.getArguments(), arguments))
    known[argument] = attr;
  for (Operation &op : block) {
    if (!isa<arith::ArithDialect>(op.getDialect()) || op.getNumResults() != 1)
      return {};
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> folded;
    if (failed(op.fold(operands, folded)) || folded.empty())
      return {};
    Attribute value = dyn_cast<Attribute>(folded[0]);
    known[op.getResult(0)] =
        value ? value : known.lookup(cast<Value>(folded[0]));
    if (!known[op.getResult(0)])
      return {};
  }
  return known.lookup(result);
}

static TypedAttr toNumber(Attribute value, Type element, OpBuilder &builder) {
  if (auto number = dyn_cast_or_null<FloatAttr>(value)) {
    // The one NaN that kernels make too.
    double real = number.getValueAsDouble();
    return builder.getF64FloatAttr(
        std::isnan(real) ? std::numeric_limits<double>::quiet_NaN() : real);
  }
  auto integer = dyn_cast_or_null<IntegerAttr>(value);
  if (!integer)
    return {};
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  APInt bits = integer.getValue();
  return builder.getI64IntegerAttr(isUnsigned ? int64_t(bits.getZExtValue())
                                              : bits.getSExtValue());
}

static Value fill(Operation *op, TypedAttr number, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return ir::FullOp::create(builder, op->getLoc(), type, shapeAttr(type),
                            number, TypeAttr::get(type.getElementType()));
}

static Value foldPointwise(ir::PointwiseOpInterface op, OpBuilder &builder) {
  // Nothing is full of numbers that nothing computes with.
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isComputable(*ir::dtypeOf(element)))
    return {};
  SmallVector<Attribute> numbers;
  for (Value operand : op->getOperands()) {
    TypedAttr number = elementOf(operand);
    if (!number)
      return {};
    numbers.push_back(number);
  }
  Block block;
  OpBuilder scalars(builder.getContext());
  scalars.setInsertionPointToEnd(&block);
  SmallVector<Value> operands;
  for (Attribute number : numbers)
    operands.push_back(
        block.addArgument(cast<TypedAttr>(number).getType(), op->getLoc()));
  Value result = op.emitScalar(scalars, op->getLoc(), operands, element);
  TypedAttr number =
      toNumber(evaluate(block, numbers, result), element, builder);
  return number ? fill(op, number, builder) : Value();
}

Value foldConstants(Operation *op, OpBuilder &builder) {
  if (auto pointwise = dyn_cast<ir::PointwiseOpInterface>(op))
    return foldPointwise(pointwise, builder);
  auto map = ir::viewMapOf(op);
  bool moves = map && map->isFixed();
  TypedAttr number = moves ? fillOf(op->getOperand(0)) : TypedAttr();
  return number ? fill(op, number, builder) : Value();
}

} // namespace sinter::compiler
