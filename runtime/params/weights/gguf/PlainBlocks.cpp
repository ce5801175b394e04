/// Blocks of 32 elements with one scale: Q4_0 to Q8_0.
#include "runtime/params/weights/gguf/BlockBytes.h"
#include "runtime/params/weights/gguf/Blocks.h"

namespace sinter::runtime::gguf {

static constexpr int half = 16; ///< of a block: low nibbles, then high ones

/// Element `at` of nibbles, and its fifth bit.
static int fourBits(const uint8_t *nibbles, int at) {
  return nibble(nibbles[at % half], at / half);
}
static int fiveBits(const uint8_t *nibbles, uint32_t high, int at) {
  return fourBits(nibbles, at) | static_cast<int>(high >> at & 1) << 4;
}

/// d, nibbles less 8.
void dequantizeQ40(const uint8_t *block, float *to) {
  float d = halfAt(block);
  for (int at = 0; at < 2 * half; ++at)
    to[at] = d * static_cast<float>(fourBits(block + 2, at) - 8);
}

/// d, m, nibbles.
void dequantizeQ41(const uint8_t *block, float *to) {
  float d = halfAt(block), m = halfAt(block + 2);
  for (int at = 0; at < 2 * half; ++at)
    to[at] = d * static_cast<float>(fourBits(block + 4, at)) + m;
}

/// d, high bits, nibbles; less 16.
void dequantizeQ50(const uint8_t *block, float *to) {
  float d = halfAt(block);
  uint32_t high = u32At(block + 2);
  for (int at = 0; at < 2 * half; ++at)
    to[at] = d * static_cast<float>(fiveBits(block + 6, high, at) - 16);
}

/// d, m, high bits, nibbles.
void dequantizeQ51(const uint8_t *block, float *to) {
  float d = halfAt(block), m = halfAt(block + 2);
  uint32_t high = u32At(block + 4);
  for (int at = 0; at < 2 * half; ++at)
    to[at] = d * static_cast<float>(fiveBits(block + 8, high, at)) + m;
}

/// d, signed bytes.
void dequantizeQ80(const uint8_t *block, float *to) {
  float d = halfAt(block);
  for (int at = 0; at < 2 * half; ++at)
    to[at] = static_cast<float>(static_cast<int8_t>(block[2 + at])) * d;
}

} // namespace sinter::runtime::gguf
