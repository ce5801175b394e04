/// Blocks of numbers with few values: ternary ones and 4-bit floats.
#include "runtime/params/weights/gguf/BlockBytes.h"
#include "runtime/params/weights/gguf/Blocks.h"

#include <array>
#include <bit>

namespace sinter::runtime::gguf {

namespace {

/// Digit `place` of the five in base 3 that a byte is a fraction of.
int ternaryDigit(uint8_t byte, int place) {
  constexpr std::array<int, 5> powers = {1, 3, 9, 27, 81};
  auto shifted = static_cast<uint8_t>(byte * powers[size_t(place)]);
  return shifted * 3 >> 8;
}

/// The values of E2M1, doubled.
constexpr std::array<int8_t, 16> doubledE2m1 = {0, 1,  2,  3,  4,  6,  8,  12,
                                                0, -1, -2, -3, -4, -6, -8, -12};

float e2m1(int code) { return static_cast<float>(doubledE2m1[size_t(code)]); }

/// Half of the power of two that E8M0 is.
float halfOfE8m0(uint8_t code) {
  return std::bit_cast<float>(code < 2 ? uint32_t(0x00200000) << code
                                       : uint32_t(code - 1) << 23);
}

/// Half of what E4M3 is, without its sign.
float halfOfE4m3(uint8_t code) {
  if (code == 0x7f)
    return 0;
  int exponent = code >> 3 & 15;
  auto mantissa = static_cast<float>(code & 7);
  if (exponent == 0)
    return mantissa / 1024;
  float power = std::bit_cast<float>(uint32_t(exponent - 8 + 127) << 23);
  return (1 + mantissa / 8) * power;
}

} // namespace

/// 48 bytes of five digits, 4 bytes of four, d.
void dequantizeTq10(const uint8_t *block, float *to) {
  float d = halfAt(block + 52);
  auto put = [&](int first, int bytes, int digits, int from) {
    for (int at = 0; at < bytes * digits; ++at) {
      int digit = ternaryDigit(block[from + at % bytes], at / bytes);
      to[first + at] = d * static_cast<float>(digit - 1);
    }
  };
  put(0, 32, 5, 0);
  put(160, 16, 5, 32);
  put(240, 4, 4, 48);
}

/// 2-bit numbers less 1, d.
void dequantizeTq20(const uint8_t *block, float *to) {
  float d = halfAt(block + 64);
  for (int at = 0; at < superBlock; ++at) {
    int number = block[at / 128 * 32 + at % 32] >> (at % 128 / 32 * 2) & 3;
    to[at] = d * static_cast<float>(number - 1);
  }
}

/// A power of two, then 32 nibbles.
void dequantizeMxfp4(const uint8_t *block, float *to) {
  float d = halfOfE8m0(block[0]);
  for (int at = 0; at < 32; ++at)
    to[at] = d * e2m1(nibble(block[1 + at % 16], at / 16));
}

/// Four scales, then four times 16 nibbles.
void dequantizeNvfp4(const uint8_t *block, float *to) {
  for (int at = 0; at < 64; ++at) {
    float d = halfOfE4m3(block[at / 16]);
    uint8_t byte = block[4 + at / 16 * 8 + at % 8];
    to[at] = d * e2m1(nibble(byte, at % 16 / 8));
  }
}

} // namespace sinter::runtime::gguf
