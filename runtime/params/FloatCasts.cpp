/// Casts of arrays, a block at a time by way of f32 or f64.
#include "runtime/params/FloatCasts.h"

#include "runtime/support/FloatingPoint.h"
#include "runtime/support/HalfFloat.h"
#include "runtime/support/SmallFloat.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace sinter::runtime {

namespace {

constexpr size_t blockElements = 1024;

/// Elements of any alignment by a function of their bits.
template <typename From, typename To, typename F>
void convert(const std::byte *from, std::byte *to, size_t count, F &&function) {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    To result = function(value);
    std::memcpy(to + i * sizeof(To), &result, sizeof(To));
  }
}

void widen(const std::byte *from, DType type, float *to, size_t count) {
  auto *out = reinterpret_cast<std::byte *>(to);
  switch (type) {
  case DType::f64:
    return convert<double, float>(from, out, count,
                                  [](double x) { return float(x); });
  case DType::f32:
    std::memcpy(to, from, count * sizeof(float));
    return;
  case DType::f16:
    return convert<uint16_t, float>(from, out, count, fromHalf);
  case DType::bf16:
    return convert<uint16_t, uint32_t>(from, out, count, [](uint16_t x) {
      return uint32_t(x) << 16; // the upper half of an f32
    });
  default:
    return convert<uint8_t, float>(from, out, count, [type](uint8_t x) {
      return fromSmallFloat(type, x);
    });
  }
}

void narrow(const float *from, std::byte *to, DType type, size_t count) {
  const auto *in = reinterpret_cast<const std::byte *>(from);
  switch (type) {
  case DType::f64:
    return convert<float, double>(in, to, count,
                                  [](float x) { return double(x); });
  case DType::f32:
    std::memcpy(to, from, count * sizeof(float));
    return;
  case DType::f16:
    return convert<float, uint16_t>(in, to, count, toHalf);
  case DType::bf16:
    return convert<float, uint16_t>(in, to, count, toBfloat16);
  default:
    return convert<float, uint8_t>(
        in, to, count, [type](float x) { return toSmallFloat(type, x); });
  }
}

} // namespace

void castFloats(std::span<const std::byte> from, DType fromType,
                std::span<std::byte> to, DType toType) {
  DefaultFloats floats;
  size_t count = from.size() / byteWidth(fromType);
  if (fromType == toType) {
    std::ranges::copy(from, to.begin());
    return;
  }
  std::array<float, blockElements> block;
  for (size_t at = 0; at < count; at += blockElements) {
    size_t size = std::min(blockElements, count - at);
    widen(from.data() + at * byteWidth(fromType), fromType, block.data(), size);
    narrow(block.data(), to.data() + at * byteWidth(toType), toType, size);
  }
}

} // namespace sinter::runtime
