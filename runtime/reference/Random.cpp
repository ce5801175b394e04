/// Reference random numbers: Philox4x32-10, uniform and normal, to the bit.
#include "runtime/reference/Random.h"

#include "runtime/reference/Primitives.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sinter::reference {

std::array<uint32_t, 4> philox(uint64_t keyLow, uint64_t keyHigh,
                               uint64_t block) {
  uint32_t k0 = static_cast<uint32_t>(keyLow);
  uint32_t k1 = static_cast<uint32_t>(keyLow >> 32);
  uint32_t c0 = static_cast<uint32_t>(block);
  uint32_t c1 = static_cast<uint32_t>(block >> 32);
  uint32_t c2 = static_cast<uint32_t>(keyHigh);
  uint32_t c3 = static_cast<uint32_t>(keyHigh >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * c0;
    uint64_t second = uint64_t(0xCD9E8D57) * c2;
    c0 = static_cast<uint32_t>(second >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(first >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(second);
    c3 = static_cast<uint32_t>(first);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

static float bits(uint32_t value) { return std::bit_cast<float>(value); }

// Every operation below is rounded by itself: this file is compiled without
// contraction, and on x86-64 and aarch64 float arithmetic has no excess.

/// sqrt(-2 ln u), u = ((x >> 8) + 1) * 2^-24.
static float radius(uint32_t x) {
  auto f = static_cast<float>((x >> 8) + 1);
  uint32_t raw = std::bit_cast<uint32_t>(f);
  int32_t e = static_cast<int32_t>(raw >> 23) - 127;
  float t = bits((raw & 0x007FFFFF) | 0x3F800000);
  if (t > bits(0x3FB504F3)) {
    t = t * 0.5f;
    e = e + 1;
  }
  auto g = static_cast<float>(e - 24);
  float z = t - 1.0f;
  float w = z * z;
  float p = bits(0x3D9021BB);
  for (uint32_t coefficient :
       {0xBDEBD1B8u, 0x3DEF251Au, 0xBDFE5D4Fu, 0x3E11E9BFu, 0xBE2AAE50u,
        0x3E4CCEACu, 0xBE7FFFFCu, 0x3EAAAAAAu}) {
    p = p * z;
    p = p + bits(coefficient);
  }
  p = p * z;
  p = p * w;
  float low = g * bits(0xB95E8083);
  p = low + p;
  float half = w * -0.5f;
  p = half + p;
  float n = z + p;
  float high = g * bits(0x3F318000);
  n = high + n;
  return std::sqrt(std::max(n * -2.0f, 0.0f));
}

/// (cos, sin) of 2 pi y / 2^32.
static std::pair<float, float> direction(uint32_t y) {
  uint32_t q = (y + 0x20000000u) >> 30;
  auto d = static_cast<int32_t>(y - (q << 30));
  float a = static_cast<float>(d) * bits(0x30C90FDB);
  float v = a * a;
  float s = bits(0xB94CA1F9);
  s = s * v;
  s = s + bits(0x3C08839E);
  s = s * v;
  s = s + bits(0xBE2AAAA3);
  s = s * v;
  s = s * a;
  s = s + a;
  float c = bits(0x37CCF5CE);
  c = c * v;
  c = c + bits(0xBAB6061A);
  c = c * v;
  c = c + bits(0x3D2AAAA5);
  c = c * v;
  c = c * v;
  float half = v * -0.5f;
  c = half + c;
  c = c + 1.0f;
  switch (q) {
  case 0:
    return {c, s};
  case 1:
    return {-s, c};
  case 2:
    return {-c, -s};
  default:
    return {s, -c};
  }
}

float normalOf(const std::array<uint32_t, 4> &lanes, unsigned lane) {
  unsigned pair = lane / 2 * 2;
  float length = radius(lanes[pair]);
  auto [cosine, sine] = direction(lanes[pair + 1]);
  return length * (lane % 2 ? sine : cosine);
}

static double uniformOf(DType dtype, uint32_t x, uint32_t y) {
  switch (dtype) {
  case DType::f16:
    return static_cast<double>(x >> 21) * 0x1p-11;
  case DType::bf16:
    return static_cast<double>(x >> 24) * 0x1p-8;
  case DType::f64:
    return static_cast<double>((uint64_t(x) << 32 | y) >> 11) * 0x1p-53;
  default:
    return static_cast<double>(x >> 8) * 0x1p-24;
  }
}

namespace {
struct Stream {
  uint64_t keyLow, keyHigh, counter;

  explicit Stream(const Call &call)
      : keyLow(call[0].ints[0]), keyHigh(call[1].ints[0]),
        counter(call[2].ints[0]) {}
};
} // namespace

static Result<HostValue> randomUniform(const Call &call) {
  Stream stream(call);
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    uint64_t block = stream.counter + uint64_t(i / 4);
    auto lanes = philox(stream.keyLow, stream.keyHigh, block);
    auto more =
        philox(stream.keyLow, stream.keyHigh ^ uint64_t(1) << 63, block);
    result.reals[i] = uniformOf(call.dtype, lanes[i % 4], more[i % 4]);
  }
  return result;
}

static Result<HostValue> randomNormal(const Call &call) {
  Stream stream(call);
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    auto lanes =
        philox(stream.keyLow, stream.keyHigh, stream.counter + uint64_t(i / 4));
    result.set(i, double(normalOf(lanes, static_cast<unsigned>(i % 4))));
  }
  return result;
}

std::span<const PrimitiveRow> randomPrimitives() {
  static const PrimitiveRow rows[] = {
      {"random_uniform", randomUniform},
      {"random_normal", randomNormal},
  };
  return rows;
}

} // namespace sinter::reference
