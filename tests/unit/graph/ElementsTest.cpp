/// Single elements as numbers, and random ones.
#include "runtime/graph/Elements.h"

#include <gtest/gtest.h>
#include <limits>

using namespace sinter;

TEST(Elements, KeepWhatTheirTypeHolds) {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16,
                      DType::i8, DType::i16, DType::i32, DType::i64})
    for (double number : {0.0, 1.0, -3.0, 100.0}) {
      std::byte bytes[9];
      storeNumber(bytes + 1, dtype, number); // of no alignment
      EXPECT_EQ(loadNumber(bytes + 1, dtype), number) << name(dtype);
    }
}

TEST(Elements, FloatsAreRounded) {
  std::byte bytes[8];
  storeNumber(bytes, DType::bf16, 1 + 0x1p-9);
  EXPECT_EQ(loadNumber(bytes, DType::bf16), 1);
  storeNumber(bytes, DType::f16, 1 + 0x1p-9);
  EXPECT_EQ(loadNumber(bytes, DType::f16), 1 + 0x1p-9);
  storeNumber(bytes, DType::f16, 1e9);
  EXPECT_EQ(loadNumber(bytes, DType::f16),
            std::numeric_limits<double>::infinity());
}

TEST(Elements, RandomOnesFollowTheSeed) {
  SplitMix random(7), same(7), other(8);
  auto first = randomElements(DType::f32, 100, random);
  EXPECT_EQ(first, randomElements(DType::f32, 100, same));
  EXPECT_NE(first, randomElements(DType::f32, 100, other));
  for (size_t i = 0; i < 100; ++i) {
    double number = loadNumber(first.data() + 4 * i, DType::f32);
    EXPECT_TRUE(number >= -1 && number <= 1);
  }
  for (std::byte each : randomElements(DType::boolean, 100, random))
    EXPECT_TRUE(each == std::byte(0) || each == std::byte(1));
}
