/// exp, log, tanh, erf and rsqrt as arithmetic, for every input.
#include "compiler/math/ExpandMath.h"

#include "compiler/math/Elementary.h"
#include "compiler/math/ExpandExtremum.h"
#include "compiler/math/ExpandFloat16.h"
#include "compiler/math/ExpandPowers.h"
#include "compiler/math/ExpandTrig.h"
#include "compiler/math/ExpandWide.h"
#include "compiler/math/Rounded.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

static constexpr double infinity = std::numeric_limits<double>::infinity();

// e^r - 1 for |r| <= ln(2)/2.
static Value powerLess(ElementMath &m, Value r) {
  Value square = m.mul(r, r), tail;
  if (m.isDouble()) {
    double coefficients[12];
    double factorial = 1;
    for (int i = 0; i < 12; ++i) {
      factorial *= i + 2;
      coefficients[i] = 1 / factorial;
    }
    tail = m.polynomial(r, coefficients);
  } else {
    // In pairs: the chain of sums that wait for each other is shorter.
    Value low = m.polynomial(r, {4.9999994e-1, 1.6666520e-1});
    Value high = m.polynomial(r, {4.1668393e-2, 8.3687808e-3});
    high = m.mulAdd(square, m.num(1.3814467e-3), high);
    tail = m.mulAdd(high, square, low);
  }
  return m.mulAdd(square, tail, r);
}

Power expandPower(ElementMath &m, Value x) {
  bool wide = m.isDouble();
  // Adding 1.5 * 2^(mantissa bits) leaves the rounded value in the low bits;
  // those above are shifted out.
  Value magic = m.num(wide ? 6755399441055744.0 : 12582912.0);
  Value shifted = m.mulAdd(x, m.num(1.4426950408889634), magic);
  Value count = m.sub(shifted, magic);
  double ln2High = wide ? 6.93147180369123816490e-01 : 0.693359375;
  double ln2Low = wide ? 1.90821492927058770002e-10 : -2.12194440e-4;
  Value r = m.mulAdd(count, m.num(-ln2High), x);
  r = m.mulAdd(count, m.num(-ln2Low), r);
  return {powerLess(m, r), m.shl(m.toBits(shifted), wide ? 52 : 23)};
}

Power expandPowerOfTwo(ElementMath &m, Value x) {
  bool wide = m.isDouble();
  Value magic = m.num(wide ? 6755399441055744.0 : 12582912.0);
  Value shifted = m.add(x, magic);
  Value r = m.sub(x, m.sub(shifted, magic));
  return {powerLess(m, m.mul(r, m.num(0.6931471805599453))),
          m.shl(m.toBits(shifted), wide ? 52 : 23)};
}

Value powerOfTwo(ElementMath &m, Value exponent) {
  uint64_t one = m.isDouble() ? uint64_t(1023) << 52 : uint64_t(127) << 23;
  return m.fromBits(m.addBits(exponent, m.bit(one)));
}

static Value mantissaOf(ElementMath &m, const Power &power) {
  return m.add(power.less, m.num(1.0));
}

// The scale is applied in two halves, so that results below the normal range
// and overflow come out right. From where they are 0 for certain, both halves
// are 0, too: processors take long over a product that is nearly 0, and what
// is masked by -inf is not rare.
Value scaled(ElementMath &m, const Power &power) {
  uint64_t fraction = (uint64_t(1) << (m.isDouble() ? 52 : 23)) - 1;
  Value half = m.andBits(m.shrSigned(power.exponent, 1), m.bit(~fraction));
  Value rest = m.subBits(power.exponent, half);
  return m.mul(m.mul(mantissaOf(m, power), powerOfTwo(m, half)),
               powerOfTwo(m, rest));
}

Value expandExp(ElementMath &m, Value x) {
  bool wide = m.isDouble();
  return scaled(m, expandPower(m, m.bounded(x, wide ? -1418.0 : -176.0,
                                            wide ? 710.0 : 89.0)));
}

// Of f32, by the machine's power of two, 2^t, and what t is off by: a factor
// near 1. Beyond the bounds the power is 0 or infinite.
static Value expandExpByPower(ElementMath &m, Value x) {
  constexpr double log2e = 1.44269502162933349609375, rest = 1.9259629112e-8;
  Value bounded = m.bounded(x, -176.0, 89.0);
  Value t = m.mul(bounded, m.num(log2e));
  Value excess = m.mulAdd(bounded, m.num(-log2e), t);
  excess = m.mulAdd(bounded, m.num(-rest), excess);
  Value factor = m.mulAdd(excess, m.num(-0.6931471805599453), m.num(1.0));
  Value power = m.make<math::Exp2Op>(t);
  return m.mul(power, factor);
}

// Of x that is not above the largest result's logarithm. Where the result
// would be below the normal range, so is its scale, which is 0 then.
static Value expandWeight(ElementMath &m, Value x) {
  Value low = m.num(m.isDouble() ? -709.0 : -88.0);
  Power power = expandPower(m, m.select(m.lt(x, low), low, x));
  return m.mul(mantissaOf(m, power), powerOfTwo(m, power.exponent));
}

// Where the result is known to be in the normal range, or x is NaN.
static Value expandSmallExp(ElementMath &m, Value x) {
  Power power = expandPower(m, x);
  return m.mul(mantissaOf(m, power), powerOfTwo(m, power.exponent));
}

// 2^y of an f32 whose result is in the normal range; anything of NaN. Coarse is
// to a unit in the last place.
static Value expandSmallPower(ElementMath &m, Value y, bool coarse) {
  Value magic = m.num(12582912.0);
  Value shifted = m.add(y, magic);
  Value r = m.sub(y, m.sub(shifted, magic));
  Value square = m.mul(r, r);
  Value low, middle, high;
  if (coarse) {
    low = m.polynomial(r, {1.0, 6.93147004e-1});
    middle = m.polynomial(r, {2.40222424e-1, 5.55073358e-2});
    high = m.polynomial(r, {9.67151299e-3, 1.32647273e-3});
  } else {
    low = m.polynomial(r, {1.0, 6.93147182e-1});
    middle = m.polynomial(r, {2.40226477e-1, 5.55033237e-2});
    high = m.polynomial(r, {9.61843692e-3, 1.33988750e-3});
    high = m.mulAdd(square, m.num(1.53533620e-4), high);
  }
  Value mantissa = m.mulAdd(m.mulAdd(high, square, middle), square, low);
  Value exponent = m.shl(m.toBits(shifted), 23);
  return m.fromBits(m.addBits(m.toBits(mantissa), exponent));
}

Logarithm splitLogarithm(ElementMath &m, Value x) {
  bool wide = m.isDouble();
  unsigned mantissa = wide ? 52 : 23;
  Value smallest = m.num(wide ? 0x1p-1022 : 0x1p-126);
  Value isTiny = m.lt(x, smallest);
  double lift = wide ? 0x1p54 : 0x1p25;
  Value scaled = m.select(isTiny, m.mul(x, m.num(lift)), x);
  Value word = m.toBits(scaled);
  Value origin = m.bit(wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  Value exponent = m.shrSigned(m.subBits(word, origin), mantissa);
  Value f =
      m.sub(m.fromBits(m.subBits(word, m.shl(exponent, mantissa))), m.num(1.0));
  Value k = m.toFloat(exponent);
  k = m.select(isTiny, m.sub(k, m.num(wide ? 54 : 25)), k);

  Value s = m.div(f, m.add(m.num(2.0), f));
  Value z = m.mul(s, s);
  Value w = m.mul(z, z);
  Value odd, even;
  if (wide) {
    odd = m.polynomial(w, {6.666666666666735130e-01, 2.857142874366239149e-01,
                           1.818357216161805012e-01, 1.479819860511658591e-01});
    even = m.polynomial(w, {3.999999999940941908e-01, 2.222219843214978396e-01,
                            1.531383769920937332e-01});
  } else {
    odd = m.polynomial(w, {0.66666662693, 0.28498786688});
    even = m.polynomial(w, {0.40000972152, 0.24279078841});
  }
  Value series = m.add(m.mul(z, odd), m.mul(w, even));
  Value square = m.mul(m.mul(m.num(0.5), f), f);
  return {k, f, square, m.mul(s, m.add(square, series))};
}

Value withLogEdges(ElementMath &m, Value result, Value x) {
  Value zero = m.num(0.0);
  Value nan = m.num(std::numeric_limits<double>::quiet_NaN());
  result = m.select(m.eq(x, m.num(infinity)), x, result);
  result = m.select(m.eq(x, zero), m.num(-infinity), result);
  result = m.select(m.lt(x, zero), nan, result);
  return m.select(m.eq(x, x), result, x);
}

Value expandLog(ElementMath &m, Value x) {
  bool wide = m.isDouble();
  Logarithm log = splitLogarithm(m, x);
  double ln2High = wide ? 6.93147180369123816490e-01 : 6.9313812256e-01;
  double ln2Low = wide ? 1.90821492927058770002e-10 : 9.0580006145e-06;
  Value result = m.add(log.tail, m.mul(log.exponent, m.num(ln2Low)));
  result = m.add(m.add(m.sub(result, log.square), log.f),
                 m.mul(log.exponent, m.num(ln2High)));
  return withLogEdges(m, result, x);
}

// By the machine's power of two, to within its 2^-22.5, where that is allowed:
// then the quotient may be off by two units in the last place, as what it is
// taken from is at least twice as large.
static Value expandTanh(ElementMath &m, Value x, bool byMachine) {
  Value magnitude = m.abs(x);
  Value z = m.mul(x, x);
  Value series;
  if (m.isDouble()) {
    Value top =
        m.polynomial(z, {-1.61468768441708447952e3, -9.92877231001918586564e1,
                         -9.64399179425052238628e-1});
    Value bottom =
        m.polynomial(z, {4.84406305325125486048e3, 2.23548839060100448583e3,
                         1.12811678491632931402e2, 1.0});
    series = m.div(top, bottom);
  } else {
    series =
        m.polynomial(z, {-3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2,
                         2.06390887954e-2, -5.70498872745e-3});
  }
  Value near = m.mulAdd(m.mul(series, z), magnitude, magnitude);
  // Beyond, the result is 1.
  Value most = m.num(m.isDouble() ? 20.0 : 9.5);
  Value bounded = m.select(m.lt(most, magnitude), most, magnitude);
  Value doubled = m.isDouble() ? m.add(bounded, bounded)
                               : m.mul(bounded, m.num(2.88539008));
  Value power = m.isDouble() ? expandSmallExp(m, doubled)
                : byMachine  ? m.make<math::Exp2Op>(doubled)
                             : expandSmallPower(m, doubled, /*coarse=*/false);
  Value one = m.num(1.0), two = m.num(2.0), more = m.add(power, one);
  Value less = byMachine ? m.nearQuotient(two, more) : m.div(two, more);
  Value far = m.sub(one, less);
  // NaN is not far, and stays NaN.
  Value isFar = m.lt(m.num(0.625), magnitude);
  return m.withSign(m.select(isFar, far, near), x);
}

static Value expandErf32(ElementMath &m, Value x, bool byMachine) {
  Value magnitude = m.abs(x);
  // Beyond 4 the result is 1 in f32; the polynomial must not leave its range.
  Value most = m.num(4.0);
  Value t = m.select(m.lt(most, magnitude), most, magnitude);
  // 1 - erf = 2^y, which is small, and so is what it is off by.
  Value square = m.mul(t, t);
  Value low = m.polynomial(t, {-1.65481327e-4, -1.62738228});
  Value middle = m.polynomial(t, {-9.18422043e-1, -1.50686666e-1});
  Value high = m.polynomial(t, {3.24303098e-2, -4.48271260e-3});
  high = m.mulAdd(square, m.num(2.92185316e-4), high);
  Value y =
      m.mulAdd(high, m.mul(square, square), m.mulAdd(middle, square, low));
  Value rest = byMachine ? m.make<math::Exp2Op>(y)
                         : expandSmallPower(m, y, /*coarse=*/true);
  Value far = m.withSign(m.sub(m.num(1.0), rest), x);
  Value near =
      m.polynomial(square, {1.28379166e-1, -3.76125723e-1, 1.12827174e-1,
                            -2.68025529e-2, 5.05110156e-3, -6.31516392e-4});
  near = m.mulAdd(near, x, x);
  // NaN is not far, and stays NaN.
  return m.select(m.lt(m.num(0.85), magnitude), far, near);
}

static Value expandRsqrt(ElementMath &m, Value x) {
  return m.div(m.num(1.0), m.sqrt(x));
}

// Of f32, to nearest, from a root that is off by a unit in the last place
// (Markstein 1990, "Computation of elementary functions on the IBM RISC
// System/6000"): what it lacks of the number is exact.
static Value expandRoundedRoot(ElementMath &m, Value x) {
  Value root = m.sqrt(x);
  Value rest = m.mulAdd(m.negated(root), root, x);
  Value nearer = m.mulAdd(rest, m.div(m.num(0.5), root), root);
  // Of zero and infinity there is no rest.
  Value isPositive = m.lt(m.num(0.0), root);
  Value isFinite = m.lt(root, m.num(std::numeric_limits<double>::infinity()));
  return m.select(m.andBits(isPositive, isFinite), nearer, root);
}

static bool isRoundedRoot(Operation *op) {
  return isa<math::SqrtOp>(op) && op->hasAttr(roundedAttr) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isF32();
}

// Of f32, to nearest, from a quotient that is off by some units in the last
// place (as above): twice what it lacks of the number, once of the reciprocal.
// Where a rest might not be a normal number the machine's quotient stays, as it
// does for zeros, infinities and NaN.
static Value expandRoundedQuotient(ElementMath &m, Value a, Value b) {
  constexpr double leastRest = 0x1p-76, least = 0x1p-125, most = 0x1p125;
  Value one = m.num(1.0), minus = m.negated(b);
  Value quotient = m.div(a, b), reciprocal = m.div(one, b);
  reciprocal =
      m.mulAdd(m.mulAdd(minus, reciprocal, one), reciprocal, reciprocal);
  Value nearer = quotient;
  for (int step = 0; step < 2; ++step)
    nearer = m.mulAdd(m.mulAdd(minus, nearer, a), reciprocal, nearer);
  Value isNormal = m.lt(m.num(leastRest), m.abs(a));
  for (Value value : {b, quotient}) {
    Value magnitude = m.abs(value);
    isNormal = m.andBits(isNormal, m.andBits(m.lt(m.num(least), magnitude),
                                             m.lt(magnitude, m.num(most))));
  }
  return m.select(isNormal, nearer, quotient);
}

static bool isPowerOfTwo(Value value) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValue().getExactInverse(nullptr);
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::UIToFPOp, arith::SIToFPOp>(op))
    return false;
  Value size = op->getOperand(0);
  while (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(
      size.getDefiningOp()))
    size = size.getDefiningOp()->getOperand(0);
  llvm::APInt count;
  return matchPattern(size, m_ConstantInt(&count)) && count.isPowerOf2();
}

// Made of numbers and the sizes of axes alone, which are numbers in programs
// that know them: a driver may multiply by the reciprocal of such a divisor.
static bool isNumber(Value value) {
  // Each op once: a polynomial reaches its argument by many ways.
  llvm::SmallSetVector<Value, 16> behind;
  behind.insert(value);
  for (unsigned next = 0; next < behind.size(); ++next) {
    Operation *op = behind[next].getDefiningOp();
    if (!op || op->getNumRegions() > 0)
      return false;
    if (op->hasTrait<OpTrait::ConstantLike>() ||
        isa<arith::UIToFPOp, arith::SIToFPOp>(op))
      continue;
    if (op->getNumOperands() == 0 || !isPure(op))
      return false;
    behind.insert_range(op->getOperands());
  }
  return true;
}

// Whether the divisor is a number, and may be 0: not a size by itself, of which
// there is nothing to divide then.
static bool mayBeZeroNumber(Value value) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValue().isZero();
  return isNumber(value) && !isa_and_nonnull<arith::UIToFPOp, arith::SIToFPOp>(
                                value.getDefiningOp());
}

static bool isQuotientByZero(Operation *op, const MathFeatures &features) {
  return isa<arith::DivFOp>(op) && !features.quotientsByZero &&
         mayBeZeroNumber(op->getOperand(1));
}

// What x / 0 is: x times an infinity.
static Value expandQuotientByZero(ElementMath &m, Value a, Value b,
                                  Value quotient) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  FloatAttr number;
  if (matchPattern(b, m_Constant(&number)))
    return m.mul(a,
                 m.num(number.getValue().isNegative() ? -infinity : infinity));
  return m.select(m.eq(b, m.num(0)), m.mul(a, m.num(infinity)), quotient);
}

// Powers of two divide exactly.
static bool isUnroundedQuotient(Operation *op, const MathFeatures &features) {
  return isa<arith::DivFOp>(op) && !features.roundedQuotients &&
         !features.approximates &&
         getElementTypeOrSelf(op->getResult(0).getType()).isF32() &&
         !isPowerOfTwo(op->getOperand(1)) &&
         (features.alike || isNumber(op->getOperand(1)));
}

static Value expandFunction(OpBuilder &builder, Operation *op,
                            const MathFeatures &features) {
  Value x = op->getOperand(0);
  Type element = getElementTypeOrSelf(x.getType());
  if (!element.isF32() && !element.isF64())
    return {};
  if (isRoundedRoot(op)) {
    ElementMath m(builder, op->getLoc(), x.getType());
    m.fused = true;
    return expandRoundedRoot(m, x);
  }
  if (isa<arith::DivFOp>(op)) {
    ElementMath m(builder, op->getLoc(), x.getType());
    m.fused = true;
    Value divisor = op->getOperand(1);
    Value quotient = isUnroundedQuotient(op, features)
                         ? expandRoundedQuotient(m, x, divisor)
                         : m.div(x, divisor);
    if (isQuotientByZero(op, features))
      quotient = expandQuotientByZero(m, x, divisor, quotient);
    return quotient;
  }
  if (features.vectorBits == 512 && features.fma && !features.alike)
    if (Value result = expandWide(builder, op, features.approximates))
      return result;
  if (isa<math::SinOp, math::CosOp>(op))
    return expandTrig(builder, op, features.fma);
  ElementMath m(builder, op->getLoc(), x.getType());
  m.fused = features.fma;
  bool byMachine =
      features.powerOfTwo && features.fma && !features.alike && !m.isDouble();
  if (auto exp = dyn_cast<math::ExpOp>(op)) {
    bool isWeight =
        bitEnumContainsAny(exp.getFastmath(), arith::FastMathFlags::afn);
    if (isWeight)
      return expandWeight(m, x);
    return byMachine ? expandExpByPower(m, x) : expandExp(m, x);
  }
  if (isa<math::LogOp>(op))
    return expandLog(m, x);
  if (isa<math::TanhOp>(op))
    return expandTanh(m, x, byMachine);
  if (isa<math::ErfOp>(op))
    return m.isDouble() ? expandErf64(m, x) : expandErf32(m, x, byMachine);
  if (isa<math::RsqrtOp>(op))
    return expandRsqrt(m, x);
  return expandPowers(m, op);
}

static Value expand(OpBuilder &builder, Operation *op,
                    const MathFeatures &features) {
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return expandFloat16(builder, op, features);
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    return features.extremum ? Value() : expandExtremum(builder, op, features);
  return expandFunction(builder, op, features);
}

static void replace(Operation *op, Value result) {
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

// Also those that other expansions made.
static void expandRoundings(ModuleOp module, const MathFeatures &features) {
  auto isOfMachine = [&](Operation *op) {
    bool isDouble = getElementTypeOrSelf(op->getResult(0).getType()).isF64();
    return features.rounds && (features.roundsDoubles || !isDouble);
  };
  SmallVector<Operation *> worklist;
  module.walk([&](Operation *op) {
    if (isRounding(op) && !isOfMachine(op))
      worklist.push_back(op);
  });
  for (Operation *op : worklist) {
    OpBuilder builder(op);
    replace(op, expandRounding(builder, op));
  }
}

void expandMath(ModuleOp module, const MathFeatures &features) {
  SmallVector<Operation *> worklist;
  module.walk([&](Operation *op) {
    if (isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp, math::RsqrtOp,
            math::SinOp, math::CosOp, arith::ExtFOp, arith::TruncFOp,
            arith::MaximumFOp, arith::MinimumFOp>(op) ||
        isPower(op) ||
        (features.approximates && isa<math::SqrtOp>(op) &&
         !op->hasAttr(roundedAttr)) ||
        (!features.roundedRoots && isRoundedRoot(op)) ||
        isUnroundedQuotient(op, features) || isQuotientByZero(op, features))
      worklist.push_back(op);
  });
  for (Operation *op : worklist) {
    OpBuilder builder(op);
    Value result = expand(builder, op, features);
    if (!result)
      continue;
    replace(op, result);
  }
  if (!features.rounds || !features.roundsDoubles)
    expandRoundings(module, features);
  holdFloat16AsBits(module);
}

} // namespace sinter::compiler
