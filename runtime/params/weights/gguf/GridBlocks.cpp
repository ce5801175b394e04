/// Blocks of 256 elements whose parts are points of a grid: IQ1, IQ2, IQ3; and
/// those of a table of 16 values: IQ4.
#include "runtime/params/weights/gguf/BlockBytes.h"
#include "runtime/params/weights/gguf/Blocks.h"
#include "runtime/params/weights/gguf/Grids.h"

#include <array>
#include <bit>

namespace sinter::runtime::gguf {

namespace {

constexpr std::array<float, 3> iq2Values = {8, 25, 43};
constexpr std::array<float, 8> iq3xxsValues = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr std::array<float, 16> iq4Values = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr float iq1Delta = 0.125F;

/// Seven signs and an eighth that makes their number even.
uint32_t evenSigns(uint32_t seven) {
  return seven | uint32_t(std::popcount(seven) & 1) << 7;
}
/// Multiplied, so that zeros and NaN are as elsewhere.
float signOf(uint32_t signs, int at) { return signs >> at & 1 ? -1.F : 1.F; }

/// The eight coordinates of a point of IQ2, scaled.
void putIq2(uint16_t point, float scale, uint32_t signs, float *to) {
  for (int at = 0; at < 8; ++at)
    to[at] = scale * iq2Values[point >> 2 * at & 3] * signOf(signs, at);
}

/// d (0.5 + scale) factor, where the scale has four bits.
float halved(float d, int scale, float factor) {
  return d * (0.5F + static_cast<float>(scale)) * factor;
}

} // namespace

/// d; for each 32 elements four indices, four times seven signs, a scale.
void dequantizeIq2Xxs(const uint8_t *block, float *to) {
  float d = halfAt(block);
  for (int part = 0; part < 8; ++part) {
    const uint8_t *bytes = block + 2 + 8 * part;
    uint32_t packed = u32At(bytes + 4);
    float scale = halved(d, static_cast<int>(packed >> 28), 0.25F);
    for (int i = 0; i < 4; ++i)
      putIq2(iq2xxsGrid[bytes[i]], scale, evenSigns(packed >> 7 * i & 127),
             to + 32 * part + 8 * i);
  }
}

/// d; 32 indices of 9 bits with seven signs each; 16 scales.
void dequantizeIq2Xs(const uint8_t *block, float *to) {
  float d = halfAt(block);
  const uint8_t *scales = block + 66;
  for (int i = 0; i < 32; ++i) {
    uint16_t packed = u16At(block + 2 + 2 * i);
    float scale = halved(d, nibble(scales[i / 4], i / 2 % 2), 0.25F);
    putIq2(iq2xsGrid[packed & 511], scale, evenSigns(packed >> 9), to + 8 * i);
  }
}

/// d; 32 bytes of indices, 32 of signs, upper bits of indices, 16 scales.
void dequantizeIq2S(const uint8_t *block, float *to) {
  float d = halfAt(block);
  const uint8_t *indices = block + 2, *signs = block + 34;
  const uint8_t *high = block + 66, *scales = block + 74;
  for (int i = 0; i < 32; ++i) {
    int index = indices[i] | (high[i / 4] >> (2 * (i % 4)) & 3) << 8;
    float scale = halved(d, nibble(scales[i / 4], i / 2 % 2), 0.25F);
    putIq2(iq2sGrid[size_t(index)], scale, signs[i], to + 8 * i);
  }
}

/// d; 64 indices; for each 32 elements four times seven signs and a scale.
void dequantizeIq3Xxs(const uint8_t *block, float *to) {
  float d = halfAt(block);
  const uint8_t *indices = block + 2;
  for (int at = 0; at < superBlock; ++at) {
    uint32_t packed = u32At(block + 66 + at / 32 * 4);
    float scale = halved(d, static_cast<int>(packed >> 28), 0.5F);
    uint32_t signs = evenSigns(packed >> (at % 32 / 8 * 7) & 127);
    uint16_t point = iq3xxsGrid[indices[at / 4]];
    float value = iq3xxsValues[point >> (at % 4 * 4) & 7];
    to[at] = scale * value * signOf(signs, at % 8);
  }
}

/// d; 64 bytes of indices and their ninth bits; 32 bytes of signs; 8 scales.
void dequantizeIq3S(const uint8_t *block, float *to) {
  float d = halfAt(block);
  const uint8_t *indices = block + 2, *high = block + 66;
  const uint8_t *signs = block + 74, *scales = block + 106;
  for (int at = 0; at < superBlock; ++at) {
    int part = at / 32, i = at / 4;
    int odd = 1 + 2 * nibble(scales[part / 2], part % 2);
    int index = indices[i] | (high[i / 8] >> (i % 8) & 1) << 8;
    int coordinate = iq3sGrid[size_t(index)] >> (at % 4 * 4) & 7;
    float scale = d * static_cast<float>(odd);
    to[at] = scale * static_cast<float>(2 * coordinate + 1) *
             signOf(signs[at / 8], at % 8);
  }
}

/// d; 32 bytes of indices; for each 32 elements the upper bits of its four, a
/// scale and the sign of delta.
void dequantizeIq1S(const uint8_t *block, float *to) {
  float d = halfAt(block);
  const uint8_t *indices = block + 2;
  for (int at = 0; at < superBlock; ++at) {
    uint16_t packed = u16At(block + 34 + at / 32 * 2);
    int i = at / 8;
    float scale = d * static_cast<float>(2 * (packed >> 12 & 7) + 1);
    float delta = packed & 0x8000 ? -iq1Delta : iq1Delta;
    int index = indices[i] | (packed >> (i % 4 * 3) & 7) << 8;
    int coordinate = (iq1sGrid[size_t(index)] >> (at % 8 * 2) & 3) - 1;
    to[at] = scale * (static_cast<float>(coordinate) + delta);
  }
}

/// 32 bytes of indices; their upper bits with the sign of delta; 16 scales of
/// three bits in four words, whose upper bits are d.
void dequantizeIq1M(const uint8_t *block, float *to) {
  const uint8_t *high = block + 32, *words = block + 48;
  uint32_t bits = 0;
  for (int word = 0; word < 4; ++word)
    bits |= uint32_t(u16At(words + 2 * word) >> 12) << 4 * word;
  float d = fromHalf(static_cast<uint16_t>(bits));
  for (int at = 0; at < superBlock; ++at) {
    int i = at / 8, part = at / 16;
    int three = u16At(words + part / 4 * 2) >> (part % 4 * 3) & 7;
    float scale = d * static_cast<float>(2 * three + 1);
    int upper = nibble(high[i / 2], i % 2);
    float delta = upper & 8 ? -iq1Delta : iq1Delta;
    int index = block[i] | (upper & 7) << 8;
    int coordinate = (iq1sGrid[size_t(index)] >> (at % 8 * 2) & 3) - 1;
    to[at] = scale * (static_cast<float>(coordinate) + delta);
  }
}

/// d; 32 nibbles.
void dequantizeIq4Nl(const uint8_t *block, float *to) {
  float d = halfAt(block);
  for (int at = 0; at < 32; ++at)
    to[at] = d * iq4Values[size_t(nibble(block[2 + at % 16], at / 16))];
}

/// d; upper bits of eight scales; their lower bits; for each 32 elements 16
/// bytes of nibbles.
void dequantizeIq4Xs(const uint8_t *block, float *to) {
  float d = halfAt(block);
  uint16_t high = u16At(block + 2);
  for (int at = 0; at < superBlock; ++at) {
    int part = at / 32;
    int scale = nibble(block[4 + part / 2], part % 2) | (high >> 2 * part & 3)
                                                            << 4;
    float dl = d * static_cast<float>(scale - 32);
    uint8_t byte = block[8 + part * 16 + at % 16];
    to[at] = dl * iq4Values[size_t(nibble(byte, at % 32 / 16))];
  }
}

} // namespace sinter::runtime::gguf
