/// Division, comparison, selection and conversion of elements.
#include "dialects/sinter/ScalarRules.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/SmallFloats.h"
#include "dialects/sinter/Types.h"
#include "sinter/generated/classes/Arithmetic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;

namespace sinter::ir {

ElementKind kindOf(Type element) {
  if (isa<FloatType>(element))
    return ElementKind::floating;
  if (element.isInteger(1))
    return ElementKind::boolean;
  return element.isUnsignedInteger() ? ElementKind::unsignedInteger
                                     : ElementKind::signedInteger;
}

static Type elementOf(Value tensor) {
  return getElementTypeOrSelf(tensor.getType());
}

/// `element` in the shape of `like`: a scalar or an equally long vector.
static Type shapedLike(Type element, Type like) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.cloneWith(std::nullopt, element);
  return element;
}

static bool isNarrowFloat(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

/// A constant of a scalar or vector type.
static Value makeConstant(OpBuilder &builder, Location loc, Type type,
                          TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(vector, element));
  return arith::ConstantOp::create(builder, loc, element);
}

static Value makeReal(OpBuilder &builder, Location loc, Type type,
                      double value) {
  return makeConstant(builder, loc, type,
                      builder.getFloatAttr(getElementTypeOrSelf(type), value));
}

static Value makeInteger(OpBuilder &builder, Location loc, Type type,
                         const APInt &value) {
  return makeConstant(
      builder, loc, type,
      builder.getIntegerAttr(getElementTypeOrSelf(type), value));
}

static Value makeInteger(OpBuilder &builder, Location loc, Type type,
                         int64_t value) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return makeInteger(builder, loc, type,
                     APInt(width, uint64_t(value), true, true));
}

static Value widen(OpBuilder &builder, Location loc, Value value) {
  if (!isNarrowFloat(elementOf(value)))
    return value;
  Type wide = shapedLike(builder.getF32Type(), value.getType());
  return arith::ExtFOp::create(builder, loc, wide, value);
}

static Value narrow(OpBuilder &builder, Location loc, Value value,
                    Type element) {
  if (elementOf(value) == element)
    return value;
  return arith::TruncFOp::create(builder, loc,
                                 shapedLike(element, value.getType()), value);
}

//===----------------------------------------------------------------------===//
// ScalarOperands
//===----------------------------------------------------------------------===//

ScalarOperands::ScalarOperands(OpBuilder &builder, Location loc, Operation *op,
                               ValueRange operands)
    : builder(builder), loc(loc), op(op), operands(operands) {}

ElementKind ScalarOperands::kind() const {
  return kindOf(elementOf(op->getOperand(0)));
}

Value ScalarOperands::operand(unsigned index) const {
  return widen(builder, loc, operands[index]);
}

Value ScalarOperands::constant(double value) const {
  Type type = operands[0].getType();
  if (kind() != ElementKind::floating)
    return makeInteger(builder, loc, type, int64_t(value));
  if (isNarrowFloat(getElementTypeOrSelf(type)))
    type = shapedLike(builder.getF32Type(), type);
  return makeReal(builder, loc, type, value);
}

Value ScalarOperands::result(Value value) const {
  Type element = elementOf(op->getResult(0));
  return isNarrowFloat(element) ? narrow(builder, loc, value, element) : value;
}

Value ScalarOperands::unsupported() const {
  op->emitOpError() << "has no scalar body for "
                    << elementOf(op->getOperand(0));
  return {};
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// Divides by 1 where the division would trap, then puts the defined result.
static Value divideIntegers(OpBuilder &builder, Location loc, Value lhs,
                            Value rhs, bool isUnsigned) {
  Type type = lhs.getType();
  unsigned width = elementOf(lhs).getIntOrFloatBitWidth();
  Value zero = makeInteger(builder, loc, type, 0);
  Value one = makeInteger(builder, loc, type, 1);
  Value allOnes = makeInteger(builder, loc, type, APInt::getAllOnes(width));
  auto equal = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
  };
  Value byZero = equal(rhs, zero);
  Value traps = byZero;
  if (!isUnsigned) {
    Value least =
        makeInteger(builder, loc, type, APInt::getSignedMinValue(width));
    Value overflows = arith::AndIOp::create(builder, loc, equal(lhs, least),
                                            equal(rhs, allOnes));
    traps = arith::OrIOp::create(builder, loc, byZero, overflows);
  }
  Value divisor = arith::SelectOp::create(builder, loc, traps, one, rhs);
  Value quotient;
  if (isUnsigned)
    quotient = arith::DivUIOp::create(builder, loc, lhs, divisor);
  else
    quotient = arith::DivSIOp::create(builder, loc, lhs, divisor);
  return arith::SelectOp::create(builder, loc, byZero, allOnes, quotient);
}

Value emitDivision(DivOp op, OpBuilder &builder, Location loc,
                   ValueRange operands) {
  ScalarOperands scalars(builder, loc, op, operands);
  switch (scalars.kind()) {
  case ElementKind::floating:
    return scalars.result(arith::DivFOp::create(
        builder, loc, scalars.operand(0), scalars.operand(1)));
  case ElementKind::signedInteger:
    return divideIntegers(builder, loc, operands[0], operands[1], false);
  case ElementKind::unsignedInteger:
    return divideIntegers(builder, loc, operands[0], operands[1], true);
  case ElementKind::boolean:
    break;
  }
  return scalars.unsupported();
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

static arith::CmpFPredicate floatPredicate(StringRef name) {
  using P = arith::CmpFPredicate;
  return llvm::StringSwitch<P>(name)
      .Case("eq", P::OEQ)
      .Case("ne", P::UNE)
      .Case("lt", P::OLT)
      .Case("le", P::OLE)
      .Case("gt", P::OGT)
      .Case("ge", P::OGE);
}

static arith::CmpIPredicate integerPredicate(StringRef name, bool isSigned) {
  using P = arith::CmpIPredicate;
  return llvm::StringSwitch<P>(name)
      .Case("eq", P::eq)
      .Case("ne", P::ne)
      .Case("lt", isSigned ? P::slt : P::ult)
      .Case("le", isSigned ? P::sle : P::ule)
      .Case("gt", isSigned ? P::sgt : P::ugt)
      .Case("ge", isSigned ? P::sge : P::uge);
}

Value emitComparison(CompareOp op, OpBuilder &builder, Location loc,
                     ValueRange operands) {
  ScalarOperands scalars(builder, loc, op, operands);
  if (Type element = elementOf(op.getLhs()); isStoredFloat(element))
    return arith::CmpFOp::create(
        builder, loc, floatPredicate(op.getPredicate()),
        emitDecoding(builder, loc, element, operands[0]),
        emitDecoding(builder, loc, element, operands[1]));
  if (scalars.kind() == ElementKind::floating)
    return arith::CmpFOp::create(builder, loc,
                                 floatPredicate(op.getPredicate()),
                                 scalars.operand(0), scalars.operand(1));
  bool isSigned = scalars.kind() == ElementKind::signedInteger;
  return arith::CmpIOp::create(builder, loc,
                               integerPredicate(op.getPredicate(), isSigned),
                               operands[0], operands[1]);
}

Value emitSelection(WhereOp, OpBuilder &builder, Location loc,
                    ValueRange operands) {
  return arith::SelectOp::create(builder, loc, operands[0], operands[1],
                                 operands[2]);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

namespace {

/// One conversion from one element type to another.
class Conversion {
public:
  Conversion(OpBuilder &builder, Location loc, Type from, Type to)
      : builder(builder), loc(loc), from(from), to(to) {}
  Value emit(Value value);

private:
  Value fromFloat(Value value);
  Value fromInteger(Value value);
  Value floatToInteger(Value value);
  Value widthChanged(Value value);
  /// The bits that an integer has in a byte, with its sign above them.
  Value lowBits(Value value);
  /// The signless type of `element` in the shape of `like`.
  Type signless(Type element, Value like) {
    return shapedLike(scalarType(element), like.getType());
  }
  Value compare(arith::CmpFPredicate predicate, Value value, double bound) {
    return arith::CmpFOp::create(
        builder, loc, predicate, value,
        makeReal(builder, loc, value.getType(), bound));
  }

  OpBuilder &builder;
  Location loc;
  Type from;
  Type to;
};

} // namespace

/// Truncates inside the range only, where it is defined; the ends saturate
/// and NaN, which is nowhere, stays 0.
Value Conversion::floatToInteger(Value value) {
  bool isUnsigned = to.isUnsignedInteger();
  unsigned width = to.getIntOrFloatBitWidth();
  double low = isUnsigned ? 0.0 : -std::ldexp(1.0, int(width) - 1);
  double high = std::ldexp(1.0, int(width) - (isUnsigned ? 0 : 1));
  Value inside = arith::AndIOp::create(
      builder, loc, compare(arith::CmpFPredicate::OGT, value, low),
      compare(arith::CmpFPredicate::OLT, value, high));
  Value safe =
      arith::SelectOp::create(builder, loc, inside, value,
                              makeReal(builder, loc, value.getType(), 0.0));
  // Narrow integers by way of i32, for which there are vector instructions.
  Type wide = width < 32 ? builder.getI32Type() : to;
  Type wideType = signless(wide, value);
  Value integer;
  if (isUnsigned && width >= 32)
    integer = arith::FPToUIOp::create(builder, loc, wideType, safe);
  else
    integer = arith::FPToSIOp::create(builder, loc, wideType, safe);
  Type type = signless(to, value);
  if (width < 32)
    integer = arith::TruncIOp::create(builder, loc, type, integer);
  unsigned bits = elementOf(integer).getIntOrFloatBitWidth();
  APInt least = isUnsigned ? APInt::getZero(bits)
                           : APInt::getSignedMinValue(width).sext(bits);
  APInt most =
      (isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width))
          .zext(bits);
  integer = arith::SelectOp::create(
      builder, loc, compare(arith::CmpFPredicate::OGE, value, high),
      makeInteger(builder, loc, type, most), integer);
  return arith::SelectOp::create(
      builder, loc, compare(arith::CmpFPredicate::OLE, value, low),
      makeInteger(builder, loc, type, least), integer);
}

Value Conversion::fromFloat(Value value) {
  Value wide = widen(builder, loc, value);
  if (to.isInteger(1))
    return compare(arith::CmpFPredicate::UNE, wide, 0.0);
  if (to.isInteger())
    return floatToInteger(wide);
  unsigned width = elementOf(wide).getIntOrFloatBitWidth();
  if (to.getIntOrFloatBitWidth() > width)
    return arith::ExtFOp::create(builder, loc, shapedLike(to, value.getType()),
                                 wide);
  // The small floats by way of f32, each step to nearest even.
  if (isNarrowFloat(to))
    wide = narrow(builder, loc, wide, builder.getF32Type());
  return narrow(builder, loc, wide, to);
}

Value Conversion::widthChanged(Value value) {
  Type type = signless(to, value);
  unsigned fromWidth = elementOf(value).getIntOrFloatBitWidth();
  unsigned toWidth = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return value;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(builder, loc, type, value);
  if (kindOf(from) == ElementKind::signedInteger)
    return arith::ExtSIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

Value Conversion::lowBits(Value value) {
  Value unused = makeInteger(builder, loc, value.getType(),
                             int64_t(8 - to.getIntOrFloatBitWidth()));
  Value high = arith::ShLIOp::create(builder, loc, value, unused);
  if (kindOf(to) == ElementKind::signedInteger)
    return arith::ShRSIOp::create(builder, loc, high, unused);
  return arith::ShRUIOp::create(builder, loc, high, unused);
}

Value Conversion::fromInteger(Value value) {
  bool extendsSign = kindOf(from) == ElementKind::signedInteger;
  if (to.isInteger(1))
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 makeInteger(builder, loc, value.getType(), 0));
  if (auto floating = dyn_cast<FloatType>(to)) {
    Type wide = isNarrowFloat(to) ? builder.getF32Type() : floating;
    Type type = shapedLike(wide, value.getType());
    Value result;
    if (extendsSign)
      result = arith::SIToFPOp::create(builder, loc, type, value);
    else
      result = arith::UIToFPOp::create(builder, loc, type, value);
    return narrow(builder, loc, result, to);
  }
  Value result = widthChanged(value);
  return to.getIntOrFloatBitWidth() < 8 ? lowBits(result) : result;
}

Value Conversion::emit(Value value) {
  if (from == to)
    return value;
  Type single = builder.getF32Type();
  if (isStoredFloat(from)) {
    Value number = emitDecoding(builder, loc, from, value);
    return Conversion(builder, loc, single, to).emit(number);
  }
  if (isStoredFloat(to)) {
    Value number = Conversion(builder, loc, from, single).emit(value);
    return emitEncoding(builder, loc, to, number);
  }
  return isa<FloatType>(from) ? fromFloat(value) : fromInteger(value);
}

Value emitConversion(CastOp op, OpBuilder &builder, Location loc,
                     ValueRange operands) {
  Type from = elementOf(op.getX());
  Type to = elementOf(op.getResult());
  return Conversion(builder, loc, from, to).emit(operands[0]);
}

} // namespace sinter::ir
