/// Result: values, errors, and the macros that pass errors upward.
#include "sinter/runtime/Result.h"

#include <gtest/gtest.h>
#include <memory>

using namespace sinter;

static Result<int> half(int value) {
  if (value % 2)
    return makeError(ErrorKind::invalid_argument, "half: odd", "half");
  return value / 2;
}

static Result<std::unique_ptr<int>> quarter(int value) {
  SINTER_TRY(half(value));
  SINTER_TRY_ASSIGN(int first, half(value));
  SINTER_TRY_ASSIGN(int second, half(first));
  return std::make_unique<int>(second);
}

TEST(Result, PassesValuesAndErrors) {
  auto good = quarter(8);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(**good, 2);
  auto bad = quarter(6);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(bad.error().op, "half");
}

TEST(Result, KindsHaveNames) {
  EXPECT_EQ(toString(ErrorKind::out_of_memory), "out_of_memory");
  EXPECT_EQ(toString(ErrorKind::unsupported), "unsupported");
}
