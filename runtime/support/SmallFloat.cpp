/// Conversions of floats of a byte and less.
#include "runtime/support/SmallFloat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sinter {

static constexpr uint32_t hiddenBit = 1u << 23;

/// `bits` without the last `shift`, to nearest, of two the even one.
static uint32_t shiftRounded(uint32_t bits, unsigned shift) {
  uint32_t odd = bits >> shift & 1;
  return (bits + (1u << (shift - 1)) - 1 + odd) >> shift;
}

// The code is the power of two that the number is at least.
static uint8_t toPower(float value) {
  constexpr uint8_t nan = 0xff;
  if (!(value > 0))
    return nan;
  auto bits = std::bit_cast<uint32_t>(value);
  // Code 0 is half the least normal f32; what is above it goes up, as in
  // ml_dtypes and PyTorch, though it may be nearer.
  if (bits < hiddenBit)
    return bits > hiddenBit / 2 ? 1 : 0;
  return uint8_t(std::min<uint32_t>((bits + hiddenBit / 2) >> 23, nan));
}

static float fromPower(uint8_t code) {
  return code == 0xff ? std::numeric_limits<float>::quiet_NaN()
                      : std::ldexp(1.0F, int(code) - 127);
}

uint8_t toSmallFloat(DType dtype, float value) {
  if (dtype == DType::f8e8m0fnu)
    return toPower(value);
  SmallFloat format = *smallFloat(dtype);
  if (std::isnan(value))
    return format.nan;
  auto bits = std::bit_cast<uint32_t>(value);
  int exponent = int(bits >> 23 & 0xff);
  uint32_t mantissa = (bits & (hiddenBit - 1)) | hiddenBit;
  // A denormal loses more bits; of 25 nothing is left.
  int below = std::max(format.leastExponent() - exponent, 0);
  unsigned shift = std::min(23 - format.mantissaBits + below, 25);
  int above = std::max(exponent - format.leastExponent(), 0);
  uint32_t code =
      shiftRounded(mantissa, shift) + (uint32_t(above) << format.mantissaBits);
  code = code > format.largest ? format.beyond : code;
  bool isSigned = code < 0x80 && (code != 0 || format.hasMinusZero);
  uint32_t sign = isSigned ? (bits >> 31) << format.signShift() : 0;
  return uint8_t(code | sign);
}

float fromSmallFloat(DType dtype, uint8_t code) {
  if (dtype == DType::f8e8m0fnu)
    return fromPower(code);
  SmallFloat format = *smallFloat(dtype);
  unsigned signBit = 1u << format.signShift();
  unsigned rest = code & (signBit - 1);
  bool isNegative = code & signBit;
  if (!format.hasMinusZero && isNegative && rest == 0)
    return std::numeric_limits<float>::quiet_NaN();
  float magnitude = 0;
  if (rest > format.largest)
    magnitude = format.hasInfinity && rest == format.beyond
                    ? std::numeric_limits<float>::infinity()
                    : std::numeric_limits<float>::quiet_NaN();
  else if (int exponent = int(rest >> format.mantissaBits); exponent == 0)
    magnitude = std::ldexp(float(rest), 1 - format.bias - format.mantissaBits);
  else
    magnitude = std::ldexp(float((rest & ((1u << format.mantissaBits) - 1)) |
                                 (1u << format.mantissaBits)),
                           exponent - format.bias - format.mantissaBits);
  return isNegative ? -magnitude : magnitude;
}

} // namespace sinter
