/// Floats of a byte and less: what their bits mean, and conversions.
#pragma once

#include "sinter/runtime/DType.h"

#include <cstdint>
#include <optional>

namespace sinter {

/// A format of a sign, an exponent and a mantissa in the low bits of a byte.
/// The least exponent is that of denormals. What is not finite has codes above
/// `largest`; formats without -0 have 0x80 alone.
struct SmallFloat {
  uint8_t exponentBits, mantissaBits;
  uint8_t bias;
  uint8_t largest; ///< the code of the greatest number
  uint8_t beyond;  ///< what rounds to more than that, before its sign
  uint8_t nan;     ///< the NaN that conversions make; 0 where there is none
  bool hasInfinity, hasMinusZero;

  unsigned signShift() const { return exponentBits + mantissaBits; }
  /// The exponent bits that the least normal number has in an f32.
  int leastExponent() const { return 128 - bias; }
};

/// The format of a stored float, but for f8e8m0fnu; nothing of other dtypes.
/// As ml_dtypes has them (https://github.com/jax-ml/ml_dtypes).
constexpr std::optional<SmallFloat> smallFloat(DType dtype) {
  switch (dtype) {
  case DType::f8e4m3fn:
    return SmallFloat{4, 3, 7, 0x7e, 0x7f, 0x7f, false, true};
  case DType::f8e5m2:
    return SmallFloat{5, 2, 15, 0x7b, 0x7c, 0x7f, true, true};
  case DType::f8e4m3fnuz:
    return SmallFloat{4, 3, 8, 0x7f, 0x80, 0x80, false, false};
  case DType::f8e5m2fnuz:
    return SmallFloat{5, 2, 16, 0x7f, 0x80, 0x80, false, false};
  case DType::f4e2m1:
    return SmallFloat{2, 1, 1, 0x07, 0x07, 0x00, false, true};
  default:
    return std::nullopt;
  }
}

/// The nearest number's code, of two the even one. What is too large becomes
/// infinity, NaN where there is none, and the largest number where neither is.
/// In f8e8m0fnu ties go up, as does what is between its two least numbers, and
/// what is not a positive number is NaN. `dtype` is a stored float.
uint8_t toSmallFloat(DType dtype, float value);
/// The number of a code: exact.
float fromSmallFloat(DType dtype, uint8_t code);

} // namespace sinter
