/// The gamma function's logarithm, its derivatives, and the inverse of erf.
///
/// Polynomials were fitted to the functions at Chebyshev nodes in 40 digits.
#include "dialects/sinter/ScalarRules.h"

#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

using namespace mlir;

namespace sinter::ir {

namespace {

/// Arithmetic on floats of the type that an op is computed in.
class Reals {
public:
  Reals(OpBuilder &builder, Location loc, Operation *op, ValueRange operands)
      : builder(builder), loc(loc), scalars(builder, loc, op, operands),
        x(scalars.operand(0)),
        isDouble(getElementTypeOrSelf(x.getType()).isF64()) {}

  Value num(double value) { return scalars.constant(value); }
  Value add(Value a, Value b) { return make<arith::AddFOp>(a, b); }
  Value add(Value a, double b) { return add(a, num(b)); }
  Value sub(Value a, Value b) { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<arith::MulFOp>(a, b); }
  Value mul(Value a, double b) { return mul(a, num(b)); }
  Value div(Value a, Value b) { return make<arith::DivFOp>(a, b); }
  Value smaller(Value a, Value b) { return make<arith::MinimumFOp>(a, b); }
  Value log(Value a) { return make<math::LogOp>(a); }
  Value abs(Value a) { return make<math::AbsFOp>(a); }
  Value less(Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
  }
  Value less(Value a, double b) { return less(a, num(b)); }
  Value equal(Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// The coefficients stand in ascending order of powers.
  Value polynomial(Value at, ArrayRef<double> coefficients) {
    Value sum = num(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = add(mul(sum, at), coefficient);
    return sum;
  }
  template <typename Op, typename... Args> Value make(Args... args) {
    return Op::create(builder, loc, args...);
  }

private:
  OpBuilder &builder;
  Location loc;

public:
  ScalarOperands scalars;
  Value x;
  bool isDouble;
};

/// B(2k) for k = 1, 2, ...: Bernoulli's numbers.
constexpr double bernoulli[] = {
    1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,     5.0 / 66,
    -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

} // namespace

//===----------------------------------------------------------------------===//
// lgamma
//===----------------------------------------------------------------------===//

// lgamma(2 + t) / t for t in [-1/2, 1/2].
static constexpr double gammaSingle[] = {
    0.42278433500045831,    0.32246703346894251,    -0.067352281472100595,
    0.020580799471518252,   -0.007386174155633413,  0.0028907953215596958,
    -0.0011858600344983208, 0.00050651714295181613, -0.00025381709567278262,
    0.00011347281994554691};
static constexpr double gammaDouble[] = {
    0.42278433509846713,    0.32246703342411326,    -0.067352301053198102,
    0.02058080842778038,    -0.0073855510286719986, 0.0028905103310342671,
    -0.0011927539118428156, 0.00050966951541154583, -0.00022315475400520507,
    9.9457673558194984e-5,  -4.4926313379155697e-5, 2.0505590755833454e-5,
    -9.4387150992115318e-6, 4.3847044045983602e-6,  -2.0439048107029907e-6,
    9.2005278949681006e-7,  -4.3252393445604814e-7, 2.7874080521135899e-7,
    -1.3219945666117874e-7};

/// From here on, Stirling's series.
static constexpr double manySteps = 8.5;

// (x - 1/2) (log x - 1) + log(2 pi) / 2 - 1/2 + sum B(2k) / (2k (2k - 1)
// x^(2k - 1)).
static Value stirling(Reals &m, Value x, Value log) {
  SmallVector<double> series;
  for (unsigned k = 1, terms = m.isDouble ? 8 : 4; k <= terms; ++k)
    series.push_back(bernoulli[k - 1] / (2.0 * k * (2.0 * k - 1)));
  Value inverse = m.div(m.num(1), x);
  Value rest = m.mul(inverse, m.polynomial(m.mul(inverse, inverse), series));
  Value main = m.mul(m.add(x, -0.5), m.add(log, -1));
  double constant = 0.5 * std::log(2 * std::numbers::pi) - 0.5;
  return m.add(main, m.add(rest, constant));
}

// Above -1/2: near 2 by a polynomial that is exact at its zero, elsewhere by
// gamma(x + 1) = x gamma(x) from there, for which one logarithm is enough.
static Value logGammaAbove(Reals &m, Value x) {
  Value one = m.num(1);
  Value isNearZero = m.less(x, 0.5), isNearOne = m.less(x, 1.5);
  Value offset = m.select(isNearZero, x, m.add(x, -1));
  Value factor = m.select(isNearZero, m.mul(x, m.add(x, 1)), x);
  offset = m.select(isNearOne, offset, m.add(x, -2));
  Value product = one;
  for (int step = 1; step + 1.5 < manySteps; ++step) {
    Value isAbove = m.less(m.num(step + 1.5), x);
    offset = m.select(isAbove, m.add(x, -2.0 - step), offset);
    product =
        m.select(isAbove, m.mul(product, m.add(x, -double(step))), product);
  }
  factor = m.select(isNearOne, m.abs(factor), product);
  Value isLarge = m.less(m.num(manySteps), x);
  Value log = m.log(m.select(isLarge, x, factor));
  Value near = m.mul(offset, m.isDouble ? m.polynomial(offset, gammaDouble)
                                        : m.polynomial(offset, gammaSingle));
  Value small = m.select(isNearOne, m.sub(near, log), m.add(near, log));
  return m.select(isLarge, stirling(m, x, log), small);
}

// Below -1/2, gamma(x) gamma(-x) = -pi / (x sin(pi x)).
Value emitLogGamma(LgammaOp op, OpBuilder &builder, Location loc,
                   ValueRange operands) {
  Reals m(builder, loc, op, operands);
  Value isBelow = m.less(m.x, -0.5);
  Value magnitude = m.abs(m.x);
  Value above = logGammaAbove(m, m.select(isBelow, magnitude, m.x));
  Value whole = m.make<math::FloorOp>(magnitude);
  Value fraction = m.sub(magnitude, whole);
  fraction = m.smaller(fraction, m.sub(m.num(1), fraction));
  Value sine = m.make<math::SinOp>(m.mul(fraction, std::numbers::pi));
  Value reflected = m.sub(
      m.log(m.div(m.num(std::numbers::pi), m.mul(magnitude, sine))), above);
  Value isPole = m.equal(magnitude, whole);
  reflected = m.select(isPole, m.num(std::numeric_limits<double>::infinity()),
                       reflected);
  return m.scalars.result(m.select(isBelow, reflected, above));
}

//===----------------------------------------------------------------------===//
// digamma and its derivatives
//===----------------------------------------------------------------------===//

namespace {
/// x below -1/2 as 1 - x, and the cotangent of pi x.
struct Reflection {
  Value isBelow, x, cotangent, isPole;
};
} // namespace

static Reflection reflect(Reals &m) {
  Value isBelow = m.less(m.x, -0.5);
  Value x = m.select(isBelow, m.sub(m.num(1), m.x), m.x);
  Value offset = m.sub(m.x, m.make<math::RoundEvenOp>(m.x));
  Value angle = m.mul(offset, std::numbers::pi);
  Value cotangent =
      m.div(m.make<math::CosOp>(angle), m.make<math::SinOp>(angle));
  return {isBelow, x, cotangent, m.equal(offset, m.num(0))};
}

/// How far the argument of an asymptotic series is moved up.
static int stepsUp(const Reals &m) { return m.isDouble ? 10 : 6; }

// From x + n down: 1 / x + ... + 1 / (x + n - 1) as one fraction.
static Value digammaAbove(Reals &m, Value x) {
  int steps = stepsUp(m);
  Value isSmall = m.less(x, steps);
  Value numerator = m.num(1), denominator = x;
  for (int k = 1; k < steps; ++k) {
    Value next = m.add(x, k);
    numerator = m.add(m.mul(numerator, next), denominator);
    denominator = m.mul(denominator, next);
  }
  Value below = m.div(numerator, denominator);
  Value y = m.select(isSmall, m.add(x, steps), x);
  SmallVector<double> series;
  for (unsigned k = 1, terms = m.isDouble ? 8 : 4; k <= terms; ++k)
    series.push_back(-bernoulli[k - 1] / (2.0 * k));
  Value inverse = m.div(m.num(1), y), square = m.mul(inverse, inverse);
  Value rest =
      m.sub(m.mul(square, m.polynomial(square, series)), m.mul(inverse, 0.5));
  Value result = m.add(m.log(y), rest);
  return m.select(isSmall, m.sub(result, below), result);
}

// digamma(x) = digamma(1 - x) - pi cot(pi x).
static Value digamma(Reals &m) {
  Reflection to = reflect(m);
  Value above = digammaAbove(m, to.x);
  Value below = m.sub(above, m.mul(to.cotangent, std::numbers::pi));
  below = m.select(to.isPole, m.num(std::numeric_limits<double>::quiet_NaN()),
                   below);
  return m.scalars.result(m.select(to.isBelow, below, above));
}

Value emitDigamma(DigammaOp op, OpBuilder &builder, Location loc,
                  ValueRange operands) {
  Reals m(builder, loc, op, operands);
  return digamma(m);
}

static Value power(Reals &m, Value base, int64_t exponent) {
  Value result = base;
  for (int64_t i = 1; i < exponent; ++i)
    result = m.mul(result, base);
  return result;
}

// (-1)^(n + 1) n! sum 1 / (x + k)^s, where s = n + 1: some terms, then Euler's
// and Maclaurin's sum of the others.
static Value polygammaAbove(Reals &m, Value x, int64_t order) {
  int64_t exponent = order + 1, steps = stepsUp(m) + order;
  Value sum = power(m, m.div(m.num(1), x), exponent);
  for (int64_t k = 1; k < steps; ++k)
    sum = m.add(sum, power(m, m.div(m.num(1), m.add(x, double(k))), exponent));
  Value inverse = m.div(m.num(1), m.add(x, double(steps)));
  // y^(1 - s) / (s - 1) + y^-s / 2 + sum B(2k) / (2k)! s ... (s + 2k - 2)
  // y^(1 - s - 2k).
  SmallVector<double> series;
  double rising = double(exponent) / 2;
  for (int64_t k = 1, terms = m.isDouble ? 9 : 5; k <= terms; ++k) {
    series.push_back(bernoulli[k - 1] * rising);
    double next = double(exponent + 2 * k);
    rising *= (next - 1) * next / double((2 * k + 1) * (2 * k + 2));
  }
  Value square = m.mul(inverse, inverse);
  Value bracket = m.add(m.mul(square, m.polynomial(square, series)),
                        m.add(m.mul(inverse, 0.5), 1.0 / double(order)));
  sum = m.add(sum, m.mul(power(m, inverse, order), bracket));
  return m.mul(sum, (order % 2 ? 1 : -1) * std::tgamma(double(exponent)));
}

// d^n cot(pi x) / dx^n = pi^n P(cot(pi x)), where P' (-1 - c^2) follows P.
static SmallVector<double> cotangentDerivative(int64_t order) {
  SmallVector<double> p = {0, 1};
  for (int64_t n = 0; n < order; ++n) {
    SmallVector<double> next(p.size() + 1, 0);
    for (size_t i = 1; i < p.size(); ++i) {
      next[i - 1] -= double(i) * p[i];
      next[i + 1] -= double(i) * p[i];
    }
    p = std::move(next);
  }
  return p;
}

// (-1)^n f(1 - x) - pi d^n cot(pi x) / dx^n.
Value emitPolygamma(PolygammaOp op, OpBuilder &builder, Location loc,
                    ValueRange operands) {
  Reals m(builder, loc, op, operands);
  int64_t order = op.getOrder();
  if (order == 0)
    return digamma(m);
  Reflection to = reflect(m);
  Value above = polygammaAbove(m, to.x, order);
  SmallVector<double> derivative = cotangentDerivative(order);
  for (double &coefficient : derivative)
    coefficient *= -std::pow(std::numbers::pi, double(order + 1));
  Value below = m.add(m.mul(above, order % 2 ? -1 : 1),
                      m.polynomial(to.cotangent, derivative));
  return m.scalars.result(m.select(to.isBelow, below, above));
}

//===----------------------------------------------------------------------===//
// erfinv
//===----------------------------------------------------------------------===//

// erfinv(x) / x, where w = -log(1 - x^2): by w - 2.5 below 5, beyond by
// sqrt(w) - 3, and by sqrt(w) - 4 as far as numbers of f64 go.
static constexpr double inverseErfCentre[] = {
    1.5014093604503289,     0.24664027905463662,    -0.0041773928752031489,
    -0.0012527263917732291, 0.00021834938623976644, -4.9724196894547514e-6,
    -3.4639852676333717e-6, 4.6813134805534123e-7,  2.3335967195708108e-8,
    -8.931925970244222e-9};
static constexpr double inverseErfTail[] = {
    2.8329767950137947,    1.0016750504281349,     0.0094457053867365356,
    -0.007638863183241678, 0.0056830476065825863,  -0.0035891717480470292,
    0.0014961719449032782, -7.3509804203560249e-5, -0.00031903245657074363,
    0.0001276056792802329};
static constexpr double inverseErfFarTail[] = {
    3.8397832090114283,      1.0094975205930095,     0.0012676519486529885,
    -0.00089618425438503795, 0.00030794433119722843, -7.1084453664526653e-5,
    5.6476522709428671e-5,   -6.3211972375125868e-5, 2.6226406799856635e-5,
    -1.9673455538572865e-6,  -6.3264401624105519e-7};

// Halley's step toward erf(y) = x for x in [0, 1): of erfc where that is
// closer to 0.
static Value refine(Reals &m, Value y, Value x) {
  Value low = m.sub(m.make<math::ErfOp>(y), x);
  Value high = m.sub(m.sub(m.num(1), x), m.make<math::ErfcOp>(y));
  Value residue = m.select(m.less(x, 0.5), low, high);
  Value slope = m.mul(m.make<math::ExpOp>(m.mul(m.mul(y, y), -1)),
                      2 * std::numbers::inv_sqrtpi);
  Value step = m.div(residue, slope);
  return m.sub(y, m.div(step, m.add(m.mul(y, step), 1)));
}

Value emitInverseErf(ErfinvOp op, OpBuilder &builder, Location loc,
                     ValueRange operands) {
  Reals m(builder, loc, op, operands);
  Value x = m.abs(m.x), one = m.num(1);
  Value w = m.mul(m.log(m.mul(m.sub(one, x), m.add(x, one))), -1);
  Value root = m.make<math::SqrtOp>(w);
  Value tail = m.isDouble ? m.polynomial(m.add(root, -4), inverseErfFarTail)
                          : m.polynomial(m.add(root, -3), inverseErfTail);
  Value ratio = m.select(m.less(w, 5),
                         m.polynomial(m.add(w, -2.5), inverseErfCentre), tail);
  Value y = m.mul(x, ratio);
  if (m.isDouble)
    y = refine(m, y, x);
  y = m.select(m.equal(x, one), m.num(std::numeric_limits<double>::infinity()),
               y);
  return m.scalars.result(m.make<math::CopySignOp>(y, m.x));
}

} // namespace sinter::ir
