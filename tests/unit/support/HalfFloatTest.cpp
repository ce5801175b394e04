/// HalfFloat: every value there and back, and rounding to nearest even.
#include "runtime/support/HalfFloat.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace sinter;

TEST(HalfFloat, EveryHalfSurvives) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float value = fromHalf(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromHalf(toHalf(value))));
    else
      EXPECT_EQ(toHalf(value), half);
  }
}

TEST(HalfFloat, EveryBfloat16Survives) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float value = fromBfloat16(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromBfloat16(toBfloat16(value))));
    else
      EXPECT_EQ(toBfloat16(value), half);
  }
}

TEST(HalfFloat, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float low = fromHalf(half), high = fromHalf(half + 1);
    float middle = (low + high) / 2; // exact in f32
    EXPECT_EQ(toHalf(middle), half % 2 ? half + 1 : half);
    EXPECT_EQ(toHalf(std::nextafter(middle, low)), half);
    EXPECT_EQ(toHalf(std::nextafter(middle, high)), half + 1);
    EXPECT_EQ(toHalf(-middle), (half % 2 ? half + 1 : half) | 0x8000);
  }
}

TEST(HalfFloat, Overflow) {
  EXPECT_EQ(toHalf(65519.0f), 0x7BFF);
  EXPECT_EQ(toHalf(65520.0f), 0x7C00);
  EXPECT_EQ(toHalf(std::numeric_limits<float>::infinity()), 0x7C00);
  EXPECT_EQ(toBfloat16(std::numeric_limits<float>::max()), 0x7F80);
}
