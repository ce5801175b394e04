/// Blocks of 256 elements whose parts have scales of few bits: Q2_K to Q6_K.
#include "runtime/params/weights/gguf/BlockBytes.h"
#include "runtime/params/weights/gguf/Blocks.h"

namespace sinter::runtime::gguf {

namespace {

/// Element `at` of 2-bit numbers: each 32 bytes hold 128 of them, 32 by 32.
int twoBits(const uint8_t *bytes, int at) {
  return bytes[at / 128 * 32 + at % 32] >> (at % 128 / 32 * 2) & 3;
}
/// Of nibbles, of which 32 bytes hold 64, 32 by 32.
int fourBits(const uint8_t *bytes, int at) {
  return nibble(bytes[at / 64 * 32 + at % 32], at % 64 / 32);
}
/// Of single bits, of which 32 bytes hold 256, 32 by 32.
int oneBit(const uint8_t *bytes, int at) {
  return bytes[at % 32] >> (at / 32) & 1;
}

/// Eight scales and eight minima of 6 bits in 12 bytes: four of each whole, of
/// the others four bits in the last bytes and two above the whole ones.
struct SixBits {
  int scale = 0, min = 0;
};
SixBits sixBits(const uint8_t *bytes, int which) {
  if (which < 4)
    return {bytes[which] & 63, bytes[4 + which] & 63};
  int low = which - 4;
  return {(bytes[8 + low] & 15) | (bytes[low] >> 2 & 48),
          bytes[8 + low] >> 4 | (bytes[4 + low] >> 2 & 48)};
}

} // namespace

/// 16 bytes of scales and minima, 2-bit numbers, d, dmin.
void dequantizeQ2K(const uint8_t *block, float *to) {
  const uint8_t *scales = block, *numbers = block + 16;
  float d = halfAt(block + 80), dmin = halfAt(block + 82);
  for (int at = 0; at < superBlock; ++at) {
    float dl = d * static_cast<float>(scales[at / 16] & 15);
    float ml = dmin * static_cast<float>(scales[at / 16] >> 4);
    to[at] = dl * static_cast<float>(twoBits(numbers, at)) - ml;
  }
}

/// Third bits, 2-bit numbers, 12 bytes of sixteen 6-bit scales, d.
void dequantizeQ3K(const uint8_t *block, float *to) {
  const uint8_t *numbers = block + 32, *scales = block + 96;
  float d = halfAt(block + 108);
  for (int at = 0; at < superBlock; ++at) {
    int part = at / 16;
    int scale = nibble(scales[part % 8], part / 8) |
                (scales[8 + part % 4] >> (part / 4 * 2) & 3) << 4;
    float dl = d * static_cast<float>(scale - 32);
    // Where the bit is set nothing is taken away.
    int number = twoBits(numbers, at) - (oneBit(block, at) ? 0 : 4);
    to[at] = dl * static_cast<float>(number);
  }
}

/// d, dmin, scales, nibbles.
void dequantizeQ4K(const uint8_t *block, float *to) {
  float d = halfAt(block), dmin = halfAt(block + 2);
  for (int at = 0; at < superBlock; ++at) {
    SixBits part = sixBits(block + 4, at / 32);
    float dl = d * static_cast<float>(part.scale);
    float ml = dmin * static_cast<float>(part.min);
    to[at] = dl * static_cast<float>(fourBits(block + 16, at)) - ml;
  }
}

/// d, dmin, scales, fifth bits, nibbles.
void dequantizeQ5K(const uint8_t *block, float *to) {
  float d = halfAt(block), dmin = halfAt(block + 2);
  for (int at = 0; at < superBlock; ++at) {
    SixBits part = sixBits(block + 4, at / 32);
    float dl = d * static_cast<float>(part.scale);
    float ml = dmin * static_cast<float>(part.min);
    int number = fourBits(block + 48, at) | oneBit(block + 16, at) << 4;
    to[at] = dl * static_cast<float>(number) - ml;
  }
}

/// Nibbles, of which 64 bytes hold 128, the upper two bits, signed scales, d.
void dequantizeQ6K(const uint8_t *block, float *to) {
  const uint8_t *scales = block + 192;
  float d = halfAt(block + 208);
  for (int at = 0; at < superBlock; ++at) {
    float dl = d * static_cast<float>(static_cast<int8_t>(scales[at / 16]));
    int low = nibble(block[at / 128 * 64 + at % 64], at % 128 / 64);
    int number = (low | twoBits(block + 128, at) << 4) - 32;
    to[at] = dl * static_cast<float>(number);
  }
}

} // namespace sinter::runtime::gguf
