/// Powers, remainders and shifts of elements.
#include "dialects/sinter/ScalarRules.h"

#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sinter::ir {

namespace {

/// Arithmetic on an op's integer operands, in few words.
class Integers {
public:
  Integers(OpBuilder &builder, Location loc, Operation *op, ValueRange operands)
      : builder(builder), loc(loc), scalars(builder, loc, op, operands),
        width(getElementTypeOrSelf(operands[0].getType())
                  .getIntOrFloatBitWidth()) {}

  template <typename Op> Value make(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  Value number(int64_t value) { return scalars.constant(double(value)); }
  Value is(arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, number(b));
  }
  Value equals(Value a, int64_t b) {
    return is(arith::CmpIPredicate::eq, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  bool isSigned() const { return scalars.kind() == ElementKind::signedInteger; }

  OpBuilder &builder;
  Location loc;
  ScalarOperands scalars;
  unsigned width;
};

} // namespace

Value emitCopySign(CopysignOp op, OpBuilder &builder, Location loc,
                   ValueRange operands) {
  ScalarOperands scalars(builder, loc, op, operands);
  Value sign = scalars.operand(1);
  Value isNumber = arith::CmpFOp::create(builder, loc,
                                         arith::CmpFPredicate::ORD, sign, sign);
  Value known = arith::SelectOp::create(builder, loc, isNumber, sign,
                                        scalars.constant(1));
  return scalars.result(
      math::CopySignOp::create(builder, loc, scalars.operand(0), known));
}

// By squares, one for each bit that an exponent may have.
static Value integerPower(Integers &m, Value base, Value exponent) {
  unsigned bits = m.isSigned() ? m.width - 1 : m.width;
  Value result = m.number(1), square = base, one = m.number(1);
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value shifted = m.make<arith::ShRUIOp>(exponent, m.number(bit));
    Value counts = m.equals(m.make<arith::AndIOp>(shifted, one), 1);
    result = m.select(counts, m.make<arith::MulIOp>(result, square), result);
    square = m.make<arith::MulIOp>(square, square);
  }
  if (!m.isSigned())
    return result;
  Value isOdd = m.equals(m.make<arith::AndIOp>(exponent, one), 1);
  Value zero = m.number(0);
  Value sign = m.select(isOdd, m.number(-1), one);
  Value inverse = m.select(m.equals(base, -1), sign, zero);
  inverse = m.select(m.equals(base, 1), one, inverse);
  return m.select(m.is(arith::CmpIPredicate::slt, exponent, 0), inverse,
                  result);
}

Value emitPower(PowOp op, OpBuilder &builder, Location loc,
                ValueRange operands) {
  ScalarOperands scalars(builder, loc, op, operands);
  if (scalars.kind() == ElementKind::floating)
    return scalars.result(math::PowFOp::create(builder, loc, scalars.operand(0),
                                               scalars.operand(1)));
  Integers integers(builder, loc, op, operands);
  return integerPower(integers, operands[0], operands[1]);
}

// Divides by 1 where the division would trap.
static Value integerRemainder(Integers &m, Value lhs, Value rhs) {
  Value byZero = m.equals(rhs, 0), one = m.number(1);
  Value divisor = m.select(byZero, one, rhs);
  if (!m.isSigned())
    return m.select(byZero, lhs, m.make<arith::RemUIOp>(lhs, divisor));
  divisor = m.select(m.equals(rhs, -1), one, divisor);
  return m.select(byZero, lhs, m.make<arith::RemSIOp>(lhs, divisor));
}

Value emitRemainder(FmodOp op, OpBuilder &builder, Location loc,
                    ValueRange operands) {
  ScalarOperands scalars(builder, loc, op, operands);
  if (scalars.kind() == ElementKind::floating)
    return scalars.result(arith::RemFOp::create(
        builder, loc, scalars.operand(0), scalars.operand(1)));
  Integers integers(builder, loc, op, operands);
  return integerRemainder(integers, operands[0], operands[1]);
}

namespace {
/// Where a shift is by fewer bits than there are, and by how many there.
struct Shift {
  Value isShort, by;
};
} // namespace

static Shift shortShift(Integers &m, Value by) {
  // As an unsigned number a negative one is large. A select here, too, would be
  // left out by LLVM 22 for PTX, where shifts by 64 and more give 0: but of the
  // number of bits they take the last 32.
  Value isShort = m.is(arith::CmpIPredicate::ult, by, m.width);
  return {isShort, m.make<arith::MinUIOp>(by, m.number(m.width - 1))};
}

Value emitShiftLeft(ShiftLeftOp op, OpBuilder &builder, Location loc,
                    ValueRange operands) {
  Integers m(builder, loc, op, operands);
  auto [isShort, by] = shortShift(m, operands[1]);
  return m.select(isShort, m.make<arith::ShLIOp>(operands[0], by), m.number(0));
}

Value emitShiftRight(ShiftRightOp op, OpBuilder &builder, Location loc,
                     ValueRange operands) {
  Integers m(builder, loc, op, operands);
  auto [isShort, by] = shortShift(m, operands[1]);
  if (!m.isSigned())
    return m.select(isShort, m.make<arith::ShRUIOp>(operands[0], by),
                    m.number(0));
  Value all = m.make<arith::ShRSIOp>(operands[0], m.number(m.width - 1));
  return m.select(isShort, m.make<arith::ShRSIOp>(operands[0], by), all);
}

} // namespace sinter::ir
