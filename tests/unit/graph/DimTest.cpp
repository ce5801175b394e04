/// Dim: arithmetic keeps values and expressions, equal ones get equal ids.
#include "sinter/runtime/Dim.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <thread>

using namespace sinter;

static Dim symbol(uint32_t axis, int64_t value) {
  return Dim(value, dim_exprs::symbol(77, axis, value));
}

static void expectSame(Dim a, Dim b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.expr, b.expr);
}

TEST(Dim, ConstantsFold) {
  expectSame(Dim(6) * Dim(7), Dim(42));
  expectSame(floorDiv(Dim(-7), Dim(2)), Dim(-4));
  expectSame(ceilDiv(Dim(7), Dim(2)), Dim(4));
  expectSame(mod(Dim(-1), Dim(4)), Dim(3));
}

TEST(Dim, SymbolsOfOneOriginAreOne) {
  EXPECT_EQ(dim_exprs::symbol(5, 0, 64), dim_exprs::symbol(5, 0, 64));
  EXPECT_NE(dim_exprs::symbol(5, 0, 64), dim_exprs::symbol(5, 0, 29));
  EXPECT_NE(dim_exprs::symbol(5, 0, 64), dim_exprs::symbol(5, 1, 64));
  Dim s = symbol(0, 9);
  EXPECT_EQ(dim_exprs::symbolValue(
                static_cast<uint32_t>(dim_exprs::get(s.expr).value)),
            9);
}

TEST(Dim, EqualExpressionsInternToEqualIds) {
  Dim a = symbol(0, 12), b = symbol(1, 5);
  expectSame(a + b, b + a);
  expectSame(a * b * Dim(2), Dim(2) * b * a);
  expectSame((a + b) * Dim(3), b * Dim(3) + a * Dim(3));
  expectSame(a - a, Dim(0));
  expectSame(a + Dim(0), a);
  expectSame(a * Dim(1), a);
  expectSame((a + Dim(1)) * (a - Dim(1)), a * a - Dim(1));
}

TEST(Dim, DivisionSimplifies) {
  Dim a = symbol(0, 12), b = symbol(1, 5);
  expectSame(floorDiv(a * Dim(784), Dim(28)), a * Dim(28));
  expectSame(floorDiv(a * b, a), b);
  expectSame(mod(a * Dim(8), Dim(4)), Dim(0));
  expectSame(floorDiv(a * Dim(4) + Dim(6), Dim(4)),
             a + floorDiv(Dim(6), Dim(4)));
  expectSame(ceilDiv(a, Dim(4)), floorDiv(a + Dim(3), Dim(4)));
  expectSame(floorDiv(a, Dim(1)), a);
  EXPECT_EQ(floorDiv(a, Dim(5)).value, 2);
  EXPECT_NE(floorDiv(a, Dim(5)).expr, 0u);
}

TEST(Dim, OverflowAndDivisionByZeroAreInvalid) {
  constexpr int64_t invalid = std::numeric_limits<int64_t>::min();
  Dim huge(std::numeric_limits<int64_t>::max());
  EXPECT_EQ((huge + Dim(1)).value, invalid);
  EXPECT_EQ((huge * Dim(2)).value, invalid);
  EXPECT_EQ(floorDiv(Dim(3), Dim(0)).value, invalid);
  EXPECT_EQ((floorDiv(Dim(3), Dim(0)) + Dim(1)).value, invalid);
}

/// Copies an interned expression behind its operands.
static uint32_t flatten(uint32_t id, std::vector<Expr> &exprs,
                        std::vector<int64_t> &symbols) {
  Expr expr = dim_exprs::get(id);
  if (expr.op == ExprOp::symbol) {
    symbols.push_back(
        dim_exprs::symbolValue(static_cast<uint32_t>(expr.value)));
    expr.value = static_cast<int64_t>(symbols.size() - 1);
  } else if (expr.op != ExprOp::constant) {
    expr.lhs = flatten(expr.lhs, exprs, symbols);
    expr.rhs = flatten(expr.rhs, exprs, symbols);
  }
  exprs.push_back(expr);
  return static_cast<uint32_t>(exprs.size() - 1);
}

TEST(Dim, ExpressionsEvaluateToTheValue) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<Dim> pool = {symbol(0, 12), symbol(1, 5), Dim(3), Dim(1)};
    for (int step = 0; step < 6; ++step) {
      Dim a = pool[random() % pool.size()], b = pool[random() % pool.size()];
      Dim divisor(1 + static_cast<int64_t>(random() % 6));
      switch (random() % 6) {
      case 0:
        pool.push_back(a + b);
        break;
      case 1:
        pool.push_back(a - b);
        break;
      case 2:
        pool.push_back(a * b);
        break;
      case 3:
        pool.push_back(floorDiv(a, divisor));
        break;
      case 4:
        pool.push_back(ceilDiv(a, divisor));
        break;
      default:
        pool.push_back(mod(a, divisor));
      }
    }
    for (Dim dim : pool) {
      if (dim.isConstant())
        continue;
      std::vector<Expr> exprs;
      std::vector<int64_t> symbols;
      uint32_t index = flatten(dim.expr, exprs, symbols);
      EXPECT_EQ(evaluate(exprs, index, symbols), dim.value);
    }
  }
}

TEST(Dim, ManyThreadsInternTheSame) {
  std::vector<std::vector<uint32_t>> found(4);
  std::vector<std::thread> threads;
  for (std::vector<uint32_t> &ids : found)
    threads.emplace_back([&ids] {
      for (int64_t i = 1; i < 500; ++i)
        ids.push_back((symbol(2, i) * Dim(i) + symbol(3, i)).expr);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<uint32_t> &ids : found)
    EXPECT_EQ(ids, found[0]);
}
