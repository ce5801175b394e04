/// Casts of arrays are those of single elements.
#include "runtime/params/FloatCasts.h"

#include "runtime/graph/Elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

using namespace sinter;

TEST(FloatCasts, AreThoseOfElements) {
  constexpr DType types[] = {DType::f64,       DType::f32,      DType::f16,
                             DType::bf16,      DType::f8e4m3fn, DType::f8e5m2,
                             DType::f8e8m0fnu, DType::f4e2m1};
  SplitMix random(5);
  for (DType from : types)
    for (DType to : types) {
      if (from == to) // copied, with what NaN carries
        continue;
      size_t count = 3000;
      std::vector<std::byte> bytes(count * byteWidth(from));
      for (size_t i = 0; i < count; ++i)
        storeNumber(bytes.data() + i * byteWidth(from), from,
                    std::ldexp(random.real(), int(random.next() % 60) - 40));
      std::vector<std::byte> got(count * byteWidth(to)), want(got.size());
      runtime::castFloats(bytes, from, got, to);
      for (size_t i = 0; i < count; ++i)
        storeNumber(want.data() + i * byteWidth(to), to,
                    loadNumber(bytes.data() + i * byteWidth(from), from));
      EXPECT_EQ(got, want) << name(from) << " to " << name(to);
    }
}

TEST(FloatCasts, SpecialNumbersStay) {
  std::vector<float> special{INFINITY, -INFINITY, -0.f, 1e-40f};
  std::vector<double> wide(special.size());
  std::vector<float> back(special.size());
  runtime::castFloats(std::as_bytes(std::span(special)), DType::f32,
                      std::as_writable_bytes(std::span(wide)), DType::f64);
  runtime::castFloats(std::as_bytes(std::span(wide)), DType::f64,
                      std::as_writable_bytes(std::span(back)), DType::f32);
  auto isSame = [](float a, float b) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
  };
  EXPECT_TRUE(std::ranges::equal(special, back, isSame));
  float nan = NAN;
  uint16_t half = 0;
  runtime::castFloats(std::as_bytes(std::span(&nan, 1)), DType::f32,
                      std::as_writable_bytes(std::span(&half, 1)), DType::f16);
  EXPECT_GT(half & 0x7fff, 0x7c00);
}
