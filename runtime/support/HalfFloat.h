/// Conversions between f32 and the 16-bit floats, to nearest even.
#pragma once

#include <cstdint>

namespace sinter {

/// IEEE binary16, with denormals, infinities and NaN kept.
uint16_t toHalf(float value);
float fromHalf(uint16_t bits);

/// bfloat16: the upper half of an f32.
uint16_t toBfloat16(float value);
float fromBfloat16(uint16_t bits);

} // namespace sinter
