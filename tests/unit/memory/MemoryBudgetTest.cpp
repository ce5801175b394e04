#include "runtime/memory/MemoryBudget.h"

#include <gtest/gtest.h>

using namespace sinter::runtime;

TEST(MemoryBudget, describesThisMachine) {
  MemoryBudget budget = MemoryBudget::detect();
  EXPECT_GT(budget.total, size_t(64) << 20);
  EXPECT_LE(budget.inUse, budget.total);
  EXPECT_LT(budget.reserve, budget.total);
  EXPECT_LE(budget.available(), budget.total);
}

TEST(MemoryBudget, neverPromisesTheReserve) {
  MemoryBudget budget{1000, 600, 300};
  EXPECT_EQ(budget.available(), 100u);
  budget.inUse = 900;
  EXPECT_EQ(budget.available(), 0u);
}
