/// Sizes as torch.export writes them.
#include "frontend/import/torch/Expressions.h"

#include <gtest/gtest.h>

using namespace sinter::torch;

static const std::map<std::string, int64_t, std::less<>> symbols = {
    {"s0", 5}, {"s77", 7}, {"u1", 3}};

TEST(Expressions, areEvaluated) {
  EXPECT_EQ(evaluate("2*s0 + 1", symbols), 11);
  EXPECT_EQ(evaluate("s77//2", symbols), 3);
  EXPECT_EQ(evaluate("(s0 - 7)//2", symbols), -1);
  EXPECT_EQ(evaluate("(s0 - 7)%4", symbols), 2);
  EXPECT_EQ(evaluate("-s0 + s77*s0**2", symbols), 170);
  EXPECT_EQ(evaluate("Max(1, s0, u1)", symbols), 5);
  EXPECT_EQ(evaluate("FloorDiv(s77, u1) + CeilDiv(s77, u1)", symbols), 5);
  EXPECT_EQ(evaluate("Mod(s77, s0)", symbols), 2);
  EXPECT_EQ(evaluate("--3", symbols), 3);
}

TEST(Expressions, whatIsNotKnownIsEmpty) {
  for (const char *text :
       {"", "s1", "2*", "s0 s0", "(s0", "s0)", "s0/2", "s0//0", "s0 % 0",
        "9223372036854775807 + s0", "99999999999999999999", "2**64", "sin(s0)",
        "s0 == 5"})
    EXPECT_EQ(evaluate(text, symbols), std::nullopt) << text;
  EXPECT_EQ(evaluate(std::string(100'000, '('), symbols), std::nullopt);
  EXPECT_EQ(evaluate(std::string(100'000, '-'), symbols), std::nullopt);
}

TEST(Expressions, formsOfSympyBecomeReadable) {
  EXPECT_EQ(readable("Symbol('s77', positive=True, integer=True)"), "s77");
  EXPECT_EQ(readable("Mul(Integer(2), Symbol('s0', integer=True))"), "2*s0");
  EXPECT_EQ(readable("Add(Mul(Integer(-1), Symbol('s0')), Integer(4))"),
            "-1*s0 + 4");
  EXPECT_EQ(readable("Mul(Integer(2), Add(Symbol('s0'), Integer(1)))"),
            "2*(s0 + 1)");
  EXPECT_EQ(readable("Pow(Symbol('s0'), Integer(2))"), "s0**2");
  EXPECT_EQ(readable("FloorDiv(Symbol('s0'), Integer(2))"), "FloorDiv(s0, 2)");
  for (const char *text : {"2*s0", "Symbol('s0'", "Symbol(s0)", "", "Add()"})
    EXPECT_EQ(readable(text), text);
  std::string deep;
  for (int i = 0; i < 10'000; ++i)
    deep += "Add(";
  EXPECT_EQ(readable(deep), deep);
}

TEST(Expressions, symbolsAreFound) {
  EXPECT_EQ(symbolsOf("Max(1, s0)*u1 + s0"),
            (std::vector<std::string>{"s0", "u1"}));
  EXPECT_TRUE(isSymbol("s0"));
  EXPECT_FALSE(isSymbol("2*s0"));
  EXPECT_FALSE(isSymbol(""));
}
