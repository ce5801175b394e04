/// Approximations of f32 functions on vectors of 16. What is special (zeros,
/// infinities, NaN, signs) comes out as it does by the rules of IEEE 754.
#include "compiler/math/ExpandFast.h"

using namespace mlir;

namespace sinter::compiler {

// Of erf(i / 8 + d) the coefficients of d^0, of d^1 and so on.
static constexpr double erfTable[4][32] = {
    {0,           0.14031608,  0.27632615,  0.404116593, 0.520499529,
     0.623240546, 0.711155346, 0.784074847, 0.842700661, 0.888388178,
     0.922900139, 0.948170131, 0.966105231, 0.978443828, 0.986671763,
     0.991990138, 0.995322331, 0.997346021, 0.99853732,  0.999217087,
     0.999593064, 0.999794635, 0.999899384, 0.999952149, 0.999977912,
     0.999990104, 0.999995698, 0.999998185, 0.999999257, 0.999999705,
     0.999999886, 0.999999957},
    {1.128378949,    1.11088775,     1.06001634,     0.980354788,
     0.878784298,    0.763500985,    0.642932256,    0.524745989,
     0.415108221,    0.318274483,    0.236521463,    0.170359976,
     0.118930371,    0.0804722521,   0.0527749309,   0.0335457329,
     0.0206668815,   0.0123407234,   0.00714223692,  0.00400641376,
     0.0021782374,   0.00114784286,  0.00058625617,  0.000290215177,
     0.000139245273, 6.47542663e-05, 2.91866219e-05, 1.27504858e-05,
     5.39879717e-06, 2.21561655e-06, 8.81291176e-07, 3.39759335e-07},
    {0,
     -0.138595494,
     -0.264509078,
     -0.366982675,
     -0.438676935,
     -0.476498468,
     -0.481610001,
     -0.45871298,
     -0.414837202,
     -0.357948824,
     -0.295674855,
     -0.234363513,
     -0.178569404,
     -0.130961469,
     -0.092544052,
     -0.0630634794,
     -0.0414685401,
     -0.0263272605,
     -0.0161448169,
     -0.00956673984,
     -0.00547943736,
     -0.00303435736,
     -0.00162501515,
     -0.000841774377,
     -0.000421850007,
     -0.000204555696,
     -9.59876725e-05,
     -4.35935463e-05,
     -1.91636639e-05,
     -8.15504462e-06,
     -3.35972045e-06,
     -1.34011744e-06},
    {-0.375685999,   -0.359229211,   -0.309664018,   -0.235402992,
     -0.147026241,   -0.0562553763,  0.0262105082,   0.0923828029,
     0.13789727,     0.162073634,    0.167265125,    0.157769046,
     0.138675497,    0.114835952,    0.0902009901,   0.067510943,
     0.0483009902,   0.0331112275,   0.021787265,    0.0137796204,
     0.00838599309,  0.00491517681,  0.00277656109,  0.0015125925,
     0.000795069325, 0.000403408594, 0.000197653492, 9.35456087e-05,
     4.27783784e-05, 1.89066532e-05, 8.07773287e-06, 3.33682116e-06}};

Value fastErf(WideMath &m, Value x) {
  // Beyond the table the result is 1.
  Value t = m.atMost(3.93, m.abs(x));
  // Adding 1.5 * 2^20 leaves the number of the nearest eighth in the low bits.
  Value magic = m.num(1572864.0);
  Value shifted = m.add(t, magic);
  Value d = m.sub(t, m.sub(shifted, magic));
  Value positions = m.toBits(shifted), sum;
  for (const auto &coefficients : llvm::reverse(ArrayRef(erfTable))) {
    Value c = m.lookUp(coefficients, positions);
    sum = sum ? m.mulAdd(sum, d, c) : c;
  }
  return m.withSign(sum, x);
}

// A quotient of polynomials of x^2, times x.
Value fastTanh(WideMath &m, Value x) {
  // Beyond, the result is 1.
  Value t = m.atMost(9.0, m.abs(x));
  Value z = m.mul(t, t);
  Value top = m.polynomial(
      z, {1.0, 1.338030994e-1, 3.494738368e-3, 2.059507460e-5, 1.333518274e-8});
  Value bottom = m.polynomial(
      z, {1.0, 4.671362638e-1, 2.587375045e-2, 3.284244158e-4, 7.768602472e-7});
  return m.withSign(m.atMost(1.0, m.div(m.mul(t, top), bottom)), x);
}

Value fastRoot(WideMath &m, Value x) {
  Value y = m.reciprocalRoot14(x);
  Value root = m.mul(x, y);
  Value error = m.mulAdd(m.negated(root), root, x);
  Value result = m.mulAdd(m.mul(y, m.num(0.5)), error, root);
  using Special = WideMath::Special;
  return m.fixed(result, x, Special::operand, Special::infinity);
}

} // namespace sinter::compiler
