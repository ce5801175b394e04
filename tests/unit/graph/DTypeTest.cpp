/// DType: names, and the promotion table of docs/semantics.md.
#include "sinter/runtime/Complex.h"

#include <gtest/gtest.h>

using namespace sinter;

TEST(DType, NamesParse) {
  for (unsigned code = 0; code < numDTypes; ++code) {
    auto type = static_cast<DType>(code);
    EXPECT_EQ(parseDType(name(type)), type);
  }
  EXPECT_EQ(parseDType("f128"), std::nullopt);
  EXPECT_EQ(name(DType::boolean), "bool");
}

TEST(DType, Sizes) {
  EXPECT_EQ(byteWidth(DType::f64), 8u);
  EXPECT_EQ(byteWidth(DType::bf16), 2u);
  EXPECT_EQ(byteWidth(DType::boolean), 1u);
  EXPECT_EQ(byteWidth(DType::u64), 8u);
  // Parts of a byte have one each.
  for (DType type : {DType::i4, DType::u4, DType::f4e2m1}) {
    EXPECT_EQ(byteWidth(type), 1u);
    EXPECT_EQ(valueBits(type), 4u);
  }
  EXPECT_EQ(valueBits(DType::u2), 2u);
  EXPECT_EQ(valueBits(DType::u16), 16u);
}

TEST(DType, Uses) {
  for (DType type : {DType::f64, DType::boolean, DType::u16, DType::u64})
    EXPECT_TRUE(isComputable(type) && isStorable(type)) << name(type);
  for (DType type : {DType::f8e4m3fn, DType::f8e5m2fnuz, DType::i4, DType::u2})
    EXPECT_TRUE(!isComputable(type) && isStorable(type)) << name(type);
  for (DType type : {DType::c64, DType::c128})
    EXPECT_TRUE(!isComputable(type) && isStorable(type) && isComplex(type));
  EXPECT_EQ(partOf(DType::c128), DType::f64);
  EXPECT_EQ(partOf(DType::i8), DType::i8);
  EXPECT_EQ(complexOf(DType::f32), DType::c64);
  EXPECT_TRUE(hasGradients(DType::c64) && !hasGradients(DType::i64));
}

TEST(DType, Promotion) {
  struct Row {
    DType a, b, common;
  };
  const Row rows[] = {
      {DType::i64, DType::f16, DType::f16},
      {DType::boolean, DType::u8, DType::u8},
      {DType::boolean, DType::bf16, DType::bf16},
      {DType::i8, DType::i32, DType::i32},
      {DType::u8, DType::i8, DType::i16},
      {DType::u8, DType::i32, DType::i32},
      {DType::u8, DType::i16, DType::i16},
      {DType::f16, DType::bf16, DType::f32},
      {DType::f16, DType::f32, DType::f32},
      {DType::bf16, DType::f64, DType::f64},
      {DType::u64, DType::i8, DType::i64},
      {DType::u16, DType::u8, DType::u16},
      {DType::u16, DType::i16, DType::i32},
      {DType::u32, DType::i8, DType::i64},
      {DType::u32, DType::f16, DType::f16},
      {DType::u64, DType::u32, DType::u64},
  };
  for (const Row &row : rows) {
    EXPECT_EQ(promote(row.a, row.b), row.common);
    EXPECT_EQ(promote(row.b, row.a), row.common);
  }
}

TEST(DType, PromotionIsCommutativeAndIdempotent) {
  for (unsigned a = 0; a < numDTypes; ++a)
    for (unsigned b = 0; b < numDTypes; ++b) {
      auto x = static_cast<DType>(a), y = static_cast<DType>(b);
      EXPECT_EQ(promote(x, y), promote(y, x));
      EXPECT_EQ(promote(x, x), x);
    }
}

TEST(DType, WeakNumbers) {
  EXPECT_EQ(promoteWeak(DType::f16, WeakKind::floating), DType::f16);
  EXPECT_EQ(promoteWeak(DType::i32, WeakKind::integer), DType::i32);
  EXPECT_EQ(promoteWeak(DType::i32, WeakKind::floating), DType::f32);
  EXPECT_EQ(promoteWeak(DType::boolean, WeakKind::integer), DType::i64);
  EXPECT_EQ(promoteWeak(DType::boolean, WeakKind::boolean), DType::boolean);
}
