/// Bit-exact conversions of 16-bit floats.
#include "runtime/support/HalfFloat.h"

#include <bit>

namespace sinter {

uint16_t toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) // NaN stays one, quiet
    return sign | 0x7E00 | static_cast<uint16_t>(magnitude >> 13 & 0x3FF);
  if (magnitude >= 0x477FF000) // rounds to 65536 or more
    return sign | 0x7C00;
  if (magnitude < 0x38800000) { // denormal: the adder rounds in place
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign |
           static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3F000000);
  }
  uint32_t odd = magnitude >> 13 & 1;
  uint32_t rounded = magnitude - 0x38000000 + 0xFFF + odd;
  return sign | static_cast<uint16_t>(rounded >> 13);
}

float fromHalf(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7FFF;
  if (magnitude >= 0x7C00)
    return std::bit_cast<float>(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
  // The scale brings denormals to their place without a special case.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

uint16_t toBfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  bits += 0x7FFF + (bits >> 16 & 1);
  return static_cast<uint16_t>(bits >> 16);
}

float fromBfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

} // namespace sinter
