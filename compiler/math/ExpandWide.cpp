/// exp, log, erf and rsqrt on vectors of 16 floats. Registers hold tables: a
/// permutation looks up 16 of their elements at once, so that the polynomials
/// are short.
#include "compiler/math/ExpandWide.h"

#include "compiler/math/ExpandFast.h"
#include "compiler/math/WideMath.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

constexpr unsigned tableSize = 16;

// 2^(i / 32).
constexpr double roots[2 * tableSize] = {
    1,          1.02189720, 1.04427373, 1.06714040, 1.09050775, 1.11438680,
    1.13878858, 1.16372490, 1.18920708, 1.21524739, 1.24185777, 1.26905096,
    1.29683959, 1.32523668, 1.35425556, 1.38390994, 1.41421354, 1.44518077,
    1.47682619, 1.50916445, 1.54221082, 1.57598090, 1.61049032, 1.64575553,
    1.68179286, 1.71861935, 1.75625217, 1.79470909, 1.83400810, 1.87416768,
    1.91520655, 1.95714414};

// About 1 / c, c in the middle of each sixteenth of [1, 3/2) and then each
// 32nd of [3/4, 1), but 1 beside 1; and -log of that. They are numbers whose
// logarithms are close to an f32.
constexpr double inverses[tableSize] = {1.0,
                                        0.914179265499,
                                        0.864982545376,
                                        0.820661067963,
                                        0.780449151993,
                                        0.744031608105,
                                        0.711086273193,
                                        0.681020498276,
                                        1.306144595146,
                                        1.255162835121,
                                        1.20758950711,
                                        1.163626194,
                                        1.12307631969,
                                        1.08439147472,
                                        1.04952692986,
                                        1.0};
constexpr double logarithms[tableSize] = {0.0,
                                          0.0897285938263,
                                          0.145045951009,
                                          0.197645083070,
                                          0.247885689139,
                                          0.295671761036,
                                          0.340961515903,
                                          0.384162873030,
                                          -0.267079740763,
                                          -0.227265313268,
                                          -0.188626229763,
                                          -0.151541158557,
                                          -0.116071633995,
                                          -0.081018976867,
                                          -0.048339519650,
                                          0.0};

// Of erf(i * erfStep + d), less d itself where i is 0, the coefficients of d^0,
// of d^1 and so on. The error is 2.2e-8 of the result at most, and twice that
// in the last row, which ends at 1.
constexpr double erfStep = 33.0 / 128;
constexpr double erfTable[6][tableSize] = {
    {0, 0.284591423, 0.534123028, 0.725959838, 0.855271812, 0.931698077,
     0.971302097, 0.989295912, 0.996463751, 0.998967132, 0.999733666,
     0.999939441, 0.999987869, 0.999997861, 0.999999668, 1},
    {0.128379163, 1.05581719, 0.864947187, 0.62037988, 0.389576783, 0.214188267,
     0.103101629, 0.0434512851, 0.016032712, 0.00517939053, 0.00146493282,
     0.000362764058, 7.8649949e-05, 1.49293366e-05, 2.48113696e-06,
     3.61018543e-07},
    {0, -0.272196569, -0.445980738, -0.479821349, -0.401752236, -0.276105478,
     -0.159488081, -0.078417049, -0.0330673497, -0.0120173247, -0.0037763951,
     -0.00102857352, -0.00024324208, -5.00105121e-05, -8.94845062e-06,
     -1.39459973e-06},
    {-0.376122226, -0.305177145, -0.135023398, 0.0406067964, 0.146340992,
     0.165879367, 0.130104164, 0.0798623891, 0.0401243754, 0.0168636363,
     0.00600281339, 0.00182391919, 0.000475538829, 0.000106786062,
     2.07102043e-05, 3.4761777e-06},
    {0, 0.129050233, 0.182243361, 0.143641591, 0.0586495994, -0.0143324569,
     -0.0470247052, -0.0457548906, -0.0303751446, -0.0156355821, -0.00654083934,
     -0.00227585313, -0.000667515612, -0.000166455221, -3.54969311e-05,
     -6.50079861e-06},
    {0.112169953, 0.0789652719, 0.00355512984, -0.0560136378, -0.0675860029,
     -0.0420693757, -0.00985959401, 0.00900246533, 0.0129198831, 0.00937518565,
     0.00490259149, 0.00201678856, 0.000677267709, 0.000189355428,
     4.46075507e-05, 8.92470594e-06}};

} // namespace

// e^x = 2^n * 2^(i / 32) * e^r with |r| <= ln(2) / 64. Coarse leaves out what
// the nearest f32 to ln 2 is off by.
static Value expOf(WideMath &m, Value x, bool coarse) {
  // Adding 1.5 * 2^18 leaves 32nds in the low bits.
  Value magic = m.num(393216.0);
  Value shifted = m.mulAdd(x, m.num(1.4426950408889634), magic);
  Value count = m.sub(shifted, magic), r;
  if (coarse) {
    r = m.mulAdd(count, m.num(-6.931471806e-1), x);
  } else {
    r = m.mulAdd(count, m.num(-0.693359375), x);
    r = m.mulAdd(count, m.num(2.12194440e-4), r);
  }
  // Of infinities and of what is far out of range, `count` decides alone.
  r = m.bounded(r, 0.015625);
  Value power = m.mul(r, m.mulAdd(r, m.num(5.00004590e-1), m.num(1.00001466)));
  Value root = m.lookUp(roots, m.toBits(shifted));
  return m.scale(m.mulAdd(root, power, root), count);
}

static Value wideExp(WideMath &m, Value x) {
  return expOf(m, x, /*coarse=*/false);
}

static Value fastExp(WideMath &m, Value x) {
  return expOf(m, x, /*coarse=*/true);
}

// log x = k ln 2 + log c + log(1 + r) with x = 2^k m and m = c (1 + r). Zero
// has the exponent -inf and the mantissa 1, and infinity inf and 1.
static Value wideLog(WideMath &m, Value x) {
  Value mantissa = m.positiveMantissa(x);
  Value k = m.sub(m.exponentOf(x), m.exponentOf(mantissa));
  // The first four bits of the mantissa's fraction.
  Value positions = m.shr(m.toBits(mantissa), 19);
  Value r = m.mulAdd(mantissa, m.lookUp(inverses, positions), m.num(-1.0));
  Value tail =
      m.polynomial(r, {-0.5, 3.333454430e-1, -2.501197755e-1, 1.889939457e-1});
  Value rest = m.mulAdd(tail, m.mul(r, r), r);
  Value whole =
      m.mulAdd(k, m.num(6.931471806e-1), m.lookUp(logarithms, positions));
  return m.add(whole, rest);
}

// One step of Newton's from 14 bits, of which nothing is lost: x times the
// square of the root is near 1.
static Value wideReciprocalRoot(WideMath &m, Value x) {
  Value y = m.reciprocalRoot14(x);
  Value error = m.mulAdd(m.negated(m.mul(x, y)), y, m.num(1.0));
  Value result = m.mulAdd(m.mul(y, m.num(0.5)), error, y);
  using Special = WideMath::Special;
  return m.fixed(result, x, Special::signedInfinity, Special::zero);
}

static Value wideErf(WideMath &m, Value x) {
  // Beyond, the result is 1. NaN stays.
  Value most = m.num(3.99), magnitude = m.abs(x);
  Value t = m.select(m.lt(most, magnitude), most, magnitude);
  // Adding 1.5 * 2^23 leaves the number of the nearest step in the low bits.
  Value magic = m.num(12582912.0);
  Value shifted = m.mulAdd(t, m.num(1 / erfStep), magic);
  Value step = m.sub(shifted, magic);
  Value d = m.mulAdd(step, m.num(-erfStep), t);
  Value positions = m.toBits(shifted), sum;
  for (const auto &coefficients :
       llvm::reverse(ArrayRef(erfTable).drop_front())) {
    Value c = m.lookUp(coefficients, positions);
    sum = sum ? m.mulAdd(sum, d, c) : c;
  }
  // At 0 what is beside x itself is small, and so is what it is off by.
  Value start =
      m.select(m.lt(m.num(0.0), step), m.lookUp(erfTable[0], positions), t);
  return m.withSign(m.mulAdd(sum, d, start), x);
}

Value expandWide(OpBuilder &builder, Operation *op, bool approximates) {
  Value x = op->getOperand(0);
  if (!getElementTypeOrSelf(x.getType()).isF32())
    return {};
  auto emit = [&](Value (*function)(WideMath &, Value)) {
    return byWholeVectors(
        builder, op->getLoc(), 512, x, [&](ArrayRef<Value> parts) {
          WideMath m(builder, op->getLoc(), parts[0].getType());
          return function(m, parts[0]);
        });
  };
  if (isa<math::ExpOp>(op))
    return emit(approximates ? fastExp : wideExp);
  if (isa<math::LogOp>(op))
    return emit(wideLog);
  if (isa<math::ErfOp>(op))
    return emit(approximates ? fastErf : wideErf);
  if (isa<math::RsqrtOp>(op))
    return emit(wideReciprocalRoot);
  if (isa<math::TanhOp>(op) && approximates)
    return emit(fastTanh);
  if (isa<math::SqrtOp>(op) && approximates)
    return emit(fastRoot);
  return {};
}

} // namespace sinter::compiler
