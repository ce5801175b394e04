/// erf and erfc of f64: the rational approximations of FreeBSD's msun.
#include "compiler/math/Elementary.h"

using namespace mlir;

namespace sinter::compiler {

// 1 - erf(t), for t above 1.25.
static Value erfTail64(ElementMath &m, Value t) {
  static constexpr double top[2][8] = {
      {-9.86494403484714822705e-03, -6.93858572707181764372e-01,
       -1.05586262253232909814e+01, -6.23753324503260060396e+01,
       -1.62396669462573470355e+02, -1.84605092906711035994e+02,
       -8.12874355063065934246e+01, -9.81432934416914548592e+00},
      {-9.86494292470009928597e-03, -7.99283237680523006574e-01,
       -1.77579549177547519889e+01, -1.60636384855821916062e+02,
       -6.37566443368389627722e+02, -1.02509513161107724954e+03,
       -4.83519191608651397019e+02, 0}};
  static constexpr double bottom[2][9] = {
      {1, 1.96512716674392571292e+01, 1.37657754143519042600e+02,
       4.34565877475229228821e+02, 6.45387271733267880336e+02,
       4.29008140027567833386e+02, 1.08635005541779435134e+02,
       6.57024977031928170135e+00, -6.04244152148580987438e-02},
      {1, 3.03380607434824582924e+01, 3.25792512996573918826e+02,
       1.53672958608443695994e+03, 3.19985821950859553908e+03,
       2.55305040643316442583e+03, 4.74528541206955367215e+02,
       -2.24409524465858183362e+01, 0}};
  Value isMiddle = m.lt(t, m.num(1 / 0.35));
  Value s = m.div(m.num(1.0), m.mul(t, t));
  auto evaluate = [&](ArrayRef<double> middle, ArrayRef<double> far) {
    Value sum;
    for (size_t i = middle.size(); i-- > 0;) {
      Value c = m.select(isMiddle, m.num(middle[i]), m.num(far[i]));
      sum = sum ? m.add(m.mul(sum, s), c) : c;
    }
    return sum;
  };
  Value quotient =
      m.div(evaluate(top[0], top[1]), evaluate(bottom[0], bottom[1]));
  Value z = m.fromBits(m.andBits(m.toBits(t), m.bit(0xffffffff00000000)));
  Value zero = m.num(0.0);
  Value first = m.sub(m.sub(zero, m.mul(z, z)), m.num(0.5625));
  Value second = m.add(m.mul(m.sub(z, t), m.add(z, t)), quotient);
  Value product = m.mul(expandExp(m, first), expandExp(m, second));
  return m.div(product, t);
}

namespace {
/// erf(x) is x + x * slope near 0, the base and `offset` with the sign of x
/// around 1, and 1 - rest with the sign of x beyond.
struct Erf {
  Value magnitude, slope, offset, rest;
};
} // namespace

static constexpr double erfBase = 8.45062911510467529297e-01;

static Erf splitErf(ElementMath &m, Value x) {
  Value t = m.abs(x);
  Value z = m.mul(x, x);
  Value nearTop =
      m.polynomial(z, {1.28379167095512558561e-01, -3.25042107247001499370e-01,
                       -2.84817495755985104766e-02, -5.77027029648944159157e-03,
                       -2.37630166566501626084e-05});
  Value nearBottom = m.polynomial(
      z, {1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02,
          5.08130628187576562776e-03, 1.32494738004321644526e-04,
          -3.96022827877536812320e-06});
  Value s = m.sub(t, m.num(1.0));
  Value midTop =
      m.polynomial(s, {-2.36211856075265944077e-03, 4.14856118683748331666e-01,
                       -3.72207876035701323847e-01, 3.18346619901161753674e-01,
                       -1.10894694282396677476e-01, 3.54783043256182359371e-02,
                       -2.16637559486879084300e-03});
  Value midBottom = m.polynomial(
      s, {1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01,
          7.18286544141962662868e-02, 1.26171219808761642112e-01,
          1.36370839120290507362e-02, 1.19844998467991074170e-02});
  return {t, m.div(nearTop, nearBottom), m.div(midTop, midBottom),
          erfTail64(m, t)};
}

Value expandErf64(ElementMath &m, Value x) {
  Erf erf = splitErf(m, x);
  Value t = erf.magnitude;
  Value near = m.add(x, m.mul(x, erf.slope));
  Value middle = m.add(m.num(erfBase), erf.offset);
  Value far = m.sub(m.num(1.0), erf.rest);
  far = m.select(m.lt(t, m.num(6.0)), far, m.num(1.0));
  Value outer = m.select(m.lt(t, m.num(1.25)), middle, far);
  Value result = m.select(m.lt(t, m.num(0.84375)), near, m.withSign(outer, x));
  return m.select(m.eq(x, x), result, x);
}

// What is small is never the difference of what is not.
Value expandErfc64(ElementMath &m, Value x) {
  Erf erf = splitErf(m, x);
  Value t = erf.magnitude, one = m.num(1.0), half = m.num(0.5);
  Value bend = m.mul(x, erf.slope);
  Value near = m.select(m.lt(x, m.num(0.25)), m.sub(one, m.add(x, bend)),
                        m.sub(half, m.add(m.sub(x, half), bend)));
  Value isNegative = m.lt(x, m.num(0.0));
  Value middle = m.select(isNegative, m.add(m.num(1 + erfBase), erf.offset),
                          m.sub(m.num(1 - erfBase), erf.offset));
  // Beyond, the square in the tail would overflow.
  Value rest = m.select(m.lt(t, m.num(28.0)), erf.rest, m.num(0.0));
  Value far = m.select(isNegative, m.sub(m.num(2.0), rest), rest);
  Value outer = m.select(m.lt(t, m.num(1.25)), middle, far);
  Value result = m.select(m.lt(t, m.num(0.84375)), near, outer);
  return m.select(m.eq(x, x), result, x);
}

} // namespace sinter::compiler
