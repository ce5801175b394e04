/// Powers, logarithms of other bases, angles and remainders as arithmetic, for
/// every input.
#include "compiler/math/ExpandPowers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ExactProduct exactProduct(ElementMath &m, Value a, Value b) {
  Value product = m.mul(a, b);
  Value negative = m.sub(m.num(-0.0), product);
  if (m.fused)
    return {product, m.mulAdd(a, b, negative)};
  // In halves whose products are exact (Dekker).
  auto split = [&](Value x) -> std::pair<Value, Value> {
    Value high = m.fromBits(m.andBits(
        m.toBits(x), m.bit(m.isDouble() ? ~uint64_t(0x7ffffff) : ~0xfffu)));
    return {high, m.sub(x, high)};
  };
  auto [aHigh, aLow] = split(a);
  auto [bHigh, bLow] = split(b);
  Value lost = m.add(m.mul(aHigh, bHigh), negative);
  lost = m.add(m.add(lost, m.mul(aHigh, bLow)), m.mul(aLow, bHigh));
  return {product, m.add(lost, m.mul(aLow, bLow))};
}

Value anyLane(ElementMath &m, Value condition) {
  if (!isa<VectorType>(condition.getType()))
    return condition;
  return vector::ReductionOp::create(m.builder, m.loc,
                                     vector::CombiningKind::OR, condition);
}

static Value both(ElementMath &m, Value a, Value b) {
  return m.make<arith::AndIOp>(a, b);
}
static Value either(ElementMath &m, Value a, Value b) {
  return m.make<arith::OrIOp>(a, b);
}
static Value isNot(ElementMath &m, Value condition) {
  auto type = condition.getType();
  TypedAttr on = m.builder.getBoolAttr(true);
  if (auto vector = dyn_cast<VectorType>(type))
    on = DenseElementsAttr::get(vector, true);
  return m.make<arith::XOrIOp>(
      condition, arith::ConstantOp::create(m.builder, m.loc, on).getResult());
}
static Value truncated(ElementMath &m, Value x) {
  return m.make<math::TruncOp>(x);
}

//===----------------------------------------------------------------------===//
// Powers and logarithms of one operand
//===----------------------------------------------------------------------===//

static Value expandExp2(ElementMath &m, Value x) {
  bool wide = m.isDouble();
  return scaled(m, expandPowerOfTwo(m, m.bounded(x, wide ? -2046 : -254,
                                                 wide ? 1025 : 129)));
}

// Above the bound the 1 no longer counts.
static Value expandExpm1(ElementMath &m, Value x) {
  double most = 40;
  Power power = expandPower(m, m.bounded(x, -most, most));
  Value scale = powerOfTwo(m, power.exponent);
  Value result = m.mulAdd(power.less, scale, m.sub(scale, m.num(1.0)));
  result = m.select(m.lt(m.num(most), x), expandExp(m, x), result);
  return m.select(m.eq(x, m.num(0.0)), x, result);
}

// log(1 + x) of the rounded sum, and what its rounding lost (Kahan).
static Value expandLog1p(ElementMath &m, Value x) {
  Value one = m.num(1.0);
  Value sum = m.add(x, one);
  Value lost = m.select(m.lt(x, one), m.sub(x, m.sub(sum, one)),
                        m.sub(one, m.sub(sum, x)));
  Value result = expandLog(m, sum);
  Value isExact = either(m, m.eq(lost, m.num(0.0)), m.eq(sum, m.num(infinity)));
  result = m.select(isExact, result, m.add(result, m.div(lost, sum)));
  return m.select(m.eq(sum, one), x, result);
}

// log x times `factor`, which is that of the base; times ln 2 it is high + low.
static Value expandLogOfBase(ElementMath &m, Value x, double factor,
                             double high, double low) {
  Logarithm log = splitLogarithm(m, x);
  Value part = m.add(m.sub(log.tail, log.square), log.f);
  Value result = m.mulAdd(part, m.num(factor), m.mul(log.exponent, m.num(low)));
  result = m.mulAdd(log.exponent, m.num(high), result);
  return withLogEdges(m, result, x);
}

//===----------------------------------------------------------------------===//
// pow
//===----------------------------------------------------------------------===//

namespace {
/// high + low, where low is what the rounding of the sum lost.
struct Pair {
  Value high, low;
};
} // namespace

static Pair sumOf(ElementMath &m, Value a, Value b) {
  Value sum = m.add(a, b), second = m.sub(sum, a);
  return {sum, m.add(m.sub(a, m.sub(sum, second)), m.sub(b, second))};
}

// log x of positive finite x in f64, to about 2^-65: with s = f / (2 + f),
// log(1 + f) = 2 s + 2/3 s^3 + ..., of which the first two terms are pairs.
static Pair exactLog(ElementMath &m, Value x) {
  Logarithm log = splitLogarithm(m, x);
  Value two = m.num(2.0);
  Value bottom = m.add(two, log.f);
  Value bottomLow = m.sub(log.f, m.sub(bottom, two));
  Value s = m.div(log.f, bottom);
  ExactProduct back = exactProduct(m, s, bottom);
  Value rest = m.sub(m.sub(log.f, back.value), back.lost);
  Value sLow = m.div(m.sub(rest, m.mul(s, bottomLow)), bottom);

  ExactProduct square = exactProduct(m, s, s);
  Value squareLow = m.add(square.lost, m.mul(m.mul(two, s), sLow));
  ExactProduct cube = exactProduct(m, square.value, s);
  Value cubeLow =
      m.add(cube.lost, m.add(m.mul(squareLow, s), m.mul(square.value, sLow)));
  Value third = m.num(0x1.5555555555555p-1);
  ExactProduct term = exactProduct(m, cube.value, third);
  Value termLow = m.add(m.add(term.lost, m.mul(cubeLow, third)),
                        m.mul(cube.value, m.num(0x1.5555555555555p-55)));
  // 2/5, 2/7, ...
  SmallVector<double> coefficients;
  for (int i = 5; i <= 25; i += 2)
    coefficients.push_back(2.0 / i);
  Value tail = m.mul(m.mul(cube.value, square.value),
                     m.polynomial(square.value, coefficients));

  Value ln2 = m.num(6.93147180369123816490e-01); // of 33 bits
  Pair first = sumOf(m, m.mul(log.exponent, ln2), m.mul(two, s));
  Pair second = sumOf(m, first.high, term.value);
  Value low = m.add(m.add(first.low, second.low), m.mul(two, sLow));
  low = m.add(low, m.mul(log.exponent, m.num(1.90821492927058770002e-10)));
  low = m.add(low, m.add(termLow, tail));
  Value high = m.add(second.high, low);
  return {high, m.sub(low, m.sub(high, second.high))};
}

// x^y of x that is not negative.
static Value positivePower(ElementMath &m, Value x, Value y) {
  Pair log = exactLog(m, x);
  Value isZero = m.eq(x, m.num(0.0)), isInfinite = m.eq(x, m.num(infinity));
  Value high = m.select(isInfinite, m.num(infinity), log.high);
  high = m.select(isZero, m.num(-infinity), high);
  ExactProduct product = exactProduct(m, y, high);
  Value low = m.add(product.lost, m.mul(y, log.low));
  Value power = expandExp(m, product.value);
  // Where the power is neither 0 for certain nor infinite.
  Value counts =
      both(m, m.lt(power, m.num(infinity)), m.lt(m.num(-800.0), product.value));
  return m.select(counts, m.mulAdd(power, low, power), power);
}

// The edges are those of C's pow.
static Value expandPow64(ElementMath &m, Value x, Value y) {
  Value zero = m.num(0.0), one = m.num(1.0);
  Value magnitude = m.abs(x);
  Value result =
      m.select(m.eq(x, x), positivePower(m, magnitude, y), m.num(nan));
  // A power of 1 or -1 by an infinity.
  Value isEndless = m.eq(m.abs(y), m.num(infinity));
  result = m.select(both(m, m.eq(magnitude, one), isEndless), one, result);

  Value isWhole = m.eq(truncated(m, y), y);
  Value half = m.mul(y, m.num(0.5));
  Value isOdd = both(m, isWhole, isNot(m, m.eq(truncated(m, half), half)));
  result = m.select(isOdd, m.withSign(result, x), result);
  Value isDefined = either(m, isWhole, m.eq(magnitude, m.num(infinity)));
  Value isNegative = m.lt(x, zero);
  result =
      m.select(both(m, isNegative, isNot(m, isDefined)), m.num(nan), result);
  return m.select(either(m, m.eq(y, zero), m.eq(x, one)), one, result);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

// Of x in [0, 1], by the tangent of half a right angle's half (Cephes).
static Value atanOfRatio(ElementMath &m, Value x) {
  Value one = m.num(1.0);
  bool wide = m.isDouble();
  Value isFar = m.lt(m.num(wide ? 0.66 : 0.4142135623730950), x);
  Value t = m.select(isFar, m.div(m.sub(x, one), m.add(x, one)), x);
  Value z = m.mul(t, t), series;
  if (wide) {
    Value top =
        m.polynomial(z, {-6.485021904942025371773e1, -1.228866684490136173410e2,
                         -7.500855792314704667340e1, -1.615753718733365076637e1,
                         -8.750608600031904122785e-1});
    Value bottom =
        m.polynomial(z, {1.945506571482613964425e2, 4.853903996359136964868e2,
                         4.328810604912902668951e2, 1.650270098316988542046e2,
                         2.485846490142306297962e1, 1.0});
    series = m.div(top, bottom);
  } else {
    series = m.polynomial(z, {-3.33329491539e-1, 1.99777106478e-1,
                              -1.38776856032e-1, 8.05374449538e-2});
  }
  Value angle = m.mulAdd(m.mul(t, z), series, t);
  Value eighth = m.num(0.78539816339744830962);
  double eighthLow = wide ? 3.061616997868382943065e-17 : -2.1855694e-8;
  return m.select(isFar, m.add(eighth, m.add(angle, m.num(eighthLow))), angle);
}

// A right angle less `angle`.
static Value complementOf(ElementMath &m, Value angle) {
  double low = m.isDouble() ? 6.123233995736765886130e-17 : -4.3711388e-8;
  return m.sub(m.num(1.57079632679489661923), m.sub(angle, m.num(low)));
}

static Value expandAtan(ElementMath &m, Value x) {
  Value one = m.num(1.0), magnitude = m.abs(x);
  Value isSteep = m.lt(one, magnitude);
  Value ratio = m.select(isSteep, m.div(one, magnitude), magnitude);
  Value angle = atanOfRatio(m, ratio);
  return m.withSign(m.select(isSteep, complementOf(m, angle), angle), x);
}

// The edges are those of C's atan2.
static Value expandAtan2(ElementMath &m, Value y, Value x) {
  Value height = m.abs(y), width = m.abs(x);
  Value isSteep = m.lt(width, height);
  Value larger = m.select(isSteep, height, width);
  Value ratio = m.div(m.select(isSteep, width, height), larger);
  ratio = m.select(m.eq(larger, m.num(0.0)), m.num(0.0), ratio);
  ratio =
      m.select(m.eq(height, width),
               m.select(m.eq(height, m.num(0.0)), ratio, m.num(1.0)), ratio);
  Value angle = atanOfRatio(m, ratio);
  angle = m.select(isSteep, complementOf(m, angle), angle);
  double low = m.isDouble() ? 1.2246467991473531772e-16 : -8.7422777e-8;
  Value behind = m.sub(m.num(3.14159265358979323846), m.sub(angle, m.num(low)));
  Value isBehind = m.lt(m.withSign(m.num(1.0), x), m.num(0.0));
  Value result = m.withSign(m.select(isBehind, behind, angle), y);
  Value isNumber = both(m, m.eq(x, x), m.eq(y, y));
  return m.select(isNumber, result, m.num(nan));
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

namespace {

/// The remainder of a division of positive numbers, exact: multiples of the
/// divisor by a power of two are taken away until the rest is smaller.
class LongDivision {
public:
  LongDivision(ElementMath &m, Value divisor)
      : m(m), divisor(divisor), exponent(exponentOf(divisor)) {}

  Value remainderOf(Value dividend) {
    OpBuilder &builder = m.builder;
    auto loop = scf::WhileOp::create(
        builder, m.loc, TypeRange{m.type}, ValueRange{dividend},
        [&](OpBuilder &inner, Location loc, ValueRange rest) {
          Within within(builder, inner);
          Value goesOn = anyLane(
              m, arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE,
                                       rest[0], divisor)
                     .getResult());
          scf::ConditionOp::create(builder, loc, goesOn, rest);
        },
        [&](OpBuilder &inner, Location loc, ValueRange rest) {
          Within within(builder, inner);
          scf::YieldOp::create(builder, loc, ValueRange{step(rest[0])});
        });
    return loop.getResult(0);
  }

private:
  /// Brings `builder` to where another one stands, for a while.
  struct Within {
    Within(OpBuilder &builder, OpBuilder &inner) : guard(builder) {
      builder.setInsertionPoint(inner.getInsertionBlock(),
                                inner.getInsertionPoint());
    }
    OpBuilder::InsertionGuard guard;
  };

  // Numbers below the normal range are lifted to have one.
  Value exponentOf(Value x) {
    bool wide = m.isDouble();
    unsigned mantissa = wide ? 52 : 23, lift = mantissa + 2;
    Value lifted = m.mul(x, m.num(wide ? 0x1p54 : 0x1p25));
    Value low = m.subBits(m.shr(m.toBits(lifted), mantissa), m.bit(lift));
    return m.select(m.lt(x, m.num(wide ? 0x1p-1022 : 0x1p-126)), low,
                    m.shr(m.toBits(x), mantissa));
  }

  // The quotient has so few bits that, with a quarter added, one too many is
  // the only error, also where a device divides within 2.5 ulp (Vulkan 1.3,
  // "Precision of core SPIR-V instructions"). One too few would leave more bits
  // than a number has, or for ever what is to be taken away.
  Value step(Value rest) {
    unsigned mantissa = m.isDouble() ? 52 : 23;
    Value distance =
        m.subBits(m.subBits(exponentOf(rest), exponent), m.bit(mantissa - 5));
    Value isPositive = arith::CmpIOp::create(
        m.builder, m.loc, arith::CmpIPredicate::sgt, distance, m.bit(0));
    distance = m.select(isPositive, distance, m.bit(0));
    // Twice the largest exponent; one less than asked for leaves a bit more.
    Value most = m.bit(m.isDouble() ? 2046 : 254);
    distance = m.select(m.below(most, distance), most, distance);
    Value half = m.shr(distance, 1);
    auto power = [&](Value n) { return powerOfTwo(m, m.shl(n, mantissa)); };
    Value multiple =
        m.mul(m.mul(divisor, power(half)), power(m.subBits(distance, half)));
    Value quotient = truncated(m, m.add(m.div(rest, multiple), m.num(0.25)));
    // One too many may be too large a number.
    Value isNumber = m.lt(m.mul(quotient, multiple), m.num(infinity));
    quotient = m.select(isNumber, quotient, m.sub(quotient, m.num(1.0)));
    ExactProduct product = exactProduct(m, quotient, multiple);
    Value left = m.sub(m.sub(rest, product.value), product.lost);
    return m.select(m.lt(left, m.num(0.0)), m.add(left, multiple), left);
  }

  ElementMath &m;
  Value divisor, exponent;
};

} // namespace

static Value expandRemainder(ElementMath &m, Value x, Value y) {
  Value dividend = m.abs(x), divisor = m.abs(y), endless = m.num(infinity);
  Value isDefined = both(m, m.lt(dividend, endless), m.lt(m.num(0.0), divisor));
  Value isFinite = both(m, isDefined, m.lt(divisor, endless));
  Value rest = LongDivision(m, m.select(isFinite, divisor, m.num(1.0)))
                   .remainderOf(m.select(isFinite, dividend, m.num(0.0)));
  Value result = m.select(isFinite, m.withSign(rest, x), x);
  return m.select(isDefined, result, m.num(nan));
}

/// Computes f32 in f64.
template <typename Function>
static Value inDouble(ElementMath &m, Operation *op, Function &&function) {
  ElementMath wide(m.builder, m.loc, m.shaped(m.builder.getF64Type()));
  wide.fused = m.fused;
  SmallVector<Value> operands(op->getOperands());
  if (!m.isDouble())
    for (Value &operand : operands)
      operand = m.convert<arith::ExtFOp>(wide.type, operand);
  Value result = function(wide, operands);
  return m.isDouble() ? result : m.convert<arith::TruncFOp>(m.type, result);
}

//===----------------------------------------------------------------------===//
// Rounding to integers
//===----------------------------------------------------------------------===//

// Adding and taking away 2^(mantissa bits) leaves an integer; what is larger is
// one.
static Value nearestInteger(ElementMath &m, Value x) {
  Value magnitude = m.abs(x), whole = m.num(m.isDouble() ? 0x1p52 : 0x1p23);
  Value rounded = m.sub(m.add(magnitude, whole), whole);
  return m.select(m.lt(magnitude, whole), m.withSign(rounded, x), x);
}

bool isRounding(Operation *op) {
  return isa<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op);
}

Value expandRounding(OpBuilder &builder, Operation *op) {
  Value given = op->getOperand(0);
  ElementMath m(builder, op->getLoc(), given.getType());
  Value x = isa<math::TruncOp>(op) ? m.abs(given) : given;
  Value result = nearestInteger(m, x), one = m.num(1.0);
  if (isa<math::CeilOp>(op))
    result = m.select(m.lt(result, x), m.add(result, one), result);
  else if (!isa<math::RoundEvenOp>(op))
    result = m.select(m.lt(x, result), m.sub(result, one), result);
  // Zeros too have the sign of what they come from.
  return m.withSign(m.abs(result), given);
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

bool isPower(Operation *op) {
  return isa<math::Exp2Op, math::ExpM1Op, math::Log2Op, math::Log10Op,
             math::Log1pOp, math::AtanOp, math::Atan2Op, math::PowFOp,
             math::ErfcOp, arith::RemFOp>(op);
}

Value expandPowers(ElementMath &m, Operation *op) {
  Value x = op->getOperand(0);
  bool wide = m.isDouble();
  if (isa<math::Exp2Op>(op))
    return expandExp2(m, x);
  if (isa<math::ExpM1Op>(op))
    return expandExpm1(m, x);
  if (isa<math::Log1pOp>(op))
    return expandLog1p(m, x);
  if (isa<math::Log2Op>(op))
    return expandLogOfBase(m, x, 1.4426950408889634, 1.0, 0.0);
  if (isa<math::Log10Op>(op))
    return expandLogOfBase(m, x, 0.43429448190325182765,
                           wide ? 3.01029995663611771306e-01 : 3.0102920532e-01,
                           wide ? 3.69423907715893078616e-13
                                : 7.9034151668e-07);
  if (isa<math::AtanOp>(op))
    return expandAtan(m, x);
  if (isa<math::Atan2Op>(op))
    return expandAtan2(m, x, op->getOperand(1));
  if (isa<arith::RemFOp>(op))
    return expandRemainder(m, x, op->getOperand(1));
  if (isa<math::PowFOp>(op))
    return inDouble(m, op, [](ElementMath &w, ArrayRef<Value> operands) {
      return expandPow64(w, operands[0], operands[1]);
    });
  if (isa<math::ErfcOp>(op))
    return inDouble(m, op, [](ElementMath &w, ArrayRef<Value> operands) {
      return expandErfc64(w, operands[0]);
    });
  return {};
}

} // namespace sinter::compiler
