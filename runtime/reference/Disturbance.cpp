/// The size of roundings, and drawing them.
#include "runtime/reference/Disturbance.h"

#include "runtime/support/SmallFloat.h"

#include <cmath>

namespace sinter::reference {

Rounding roundingOf(DType dtype) {
  if (auto format = smallFloat(dtype))
    return {std::ldexp(1, -format->mantissaBits - 1),
            std::ldexp(1, 1 - format->mantissaBits - format->bias)};
  switch (dtype) {
  case DType::f64:
    return {0x1p-53, 0x1p-1074};
  case DType::f16:
    return {0x1p-11, 0x1p-24};
  case DType::bf16:
    return {0x1p-8, 0x1p-133};
  case DType::f8e8m0fnu:
    return {0.5, 0x1p-127};
  default:
    return {0x1p-24, 0x1p-149};
  }
}

/// In [-1, 1), by Steele's splitmix64.
static double drawUnit(uint64_t &state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t word = state;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  word ^= word >> 31;
  return static_cast<double>(word >> 11) * 0x1p-52 - 1;
}

void disturb(HostValue &value, double relative, double least, uint64_t &state) {
  for (double &real : value.reals)
    if (real != 0 && std::isfinite(real))
      real += real * relative * drawUnit(state) + least * drawUnit(state);
}

void flushDenormals(HostValue &value, bool ofAll, uint64_t &state) {
  constexpr double leastNormal = 0x1p-126;
  for (double &real : value.reals)
    if (real != 0 && std::abs(real) < leastNormal &&
        (ofAll || drawUnit(state) < 0))
      real = std::copysign(0, real);
}

void moveBy(HostValue &value, const HostValue &by, uint64_t &state) {
  for (size_t i = 0; i < value.reals.size(); ++i) {
    double step = std::copysign(by.reals[i], drawUnit(state));
    if (std::isfinite(step))
      value.reals[i] += step;
  }
}

} // namespace sinter::reference
