/// Texts that would end the parser's stack, or be read for ever.
#include "compiler/Compiler.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace sinter;

namespace {

std::string repeat(std::string_view part, size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (size_t i = 0; i < count; ++i)
    text += part;
  return text;
}

/// The error of a text, which comes at once.
std::string failure(const std::string &text) {
  auto begin = std::chrono::steady_clock::now();
  auto graph = compiler::readGraph(text);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  return graph ? "" : graph.error().message;
}

constexpr std::string_view tooDeep = "brackets in more than 256 others";
constexpr std::string_view body =
    "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
    "  %0 = sinter.exp %x : (tensor<2xf32>) -> tensor<2xf32>\n"
    "  return %0 : tensor<2xf32>\n}\n";

void expectTooDeep(std::string_view what, const std::string &text) {
  std::string error = failure(text);
  EXPECT_NE(error.find(tooDeep), std::string::npos) << what << ": " << error;
}

} // namespace

TEST(HostileText, nestingIsBounded) {
  constexpr size_t depth = 100'000;
  for (auto [open, close] : {std::pair("tuple<", ">"),
                             {"(", ")"},
                             {"[", "]"},
                             {"{a = ", "}"},
                             {"loc(callsite(\"f\" at ", "))"},
                             {"dense<[", "]>"},
                             {"vector<4x", ">"}}) {
    std::string nested = repeat(open, depth) + "1" + repeat(close, depth);
    expectTooDeep(open, "#a = " + nested + "\n" + std::string(body));
    expectTooDeep(open, "module attributes {a = " + nested + "} {}");
    expectTooDeep(open, nested);
    expectTooDeep(open, repeat(open, depth));
  }
  expectTooDeep("affine", "#a = affine_map<()[s0] -> (" + repeat("(", depth) +
                              "s0" + repeat(")", depth) + ")>");
  expectTooDeep("regions", repeat("module {", depth) + repeat("}", depth));
}

TEST(HostileText, affineExpressionsAreBounded) {
  std::string error =
      failure("#a = affine_map<()[s0] -> (s0" + repeat(" + s0", 100'000) +
              ")>\n" + std::string(body));
  EXPECT_NE(error.find("operators in an affine expression"), std::string::npos)
      << error;
  error = failure("#a = affine_map<()[s0] -> (" + repeat("-", 100'000) +
                  "s0)>\n" + std::string(body));
  EXPECT_NE(error.find("signs in a row"), std::string::npos) << error;
  error = failure("#a = affine_map<()[s0] -> (" + repeat("- ", 100'000) +
                  "s0)>\n" + std::string(body));
  EXPECT_NE(error.find("signs in a row"), std::string::npos) << error;
  // Many expressions are not a long one.
  EXPECT_EQ(failure("#a = affine_map<()[s0] -> (s0" +
                    repeat(", s0 * 2 + 1", 5'000) + ")>\n" + std::string(body)),
            "");
}

TEST(HostileText, aliasesOfAliasesAreBounded) {
  std::string lists = "#a0 = []\n", types = "!t0 = tuple<i1>\n";
  for (int i = 1; i < 100; ++i) {
    std::string own = std::to_string(i), before = std::to_string(i - 1);
    lists += "#a" + own + " = [#a" + before + ", #a" + before + "]\n";
    types += "!t" + own + " = tuple<!t" + before + ", !t" + before + ">\n";
  }
  for (const std::string &text : {lists, types}) {
    std::string error = failure(text + std::string(body));
    EXPECT_NE(error.find("aliases of aliases"), std::string::npos) << error;
  }
  std::string chain = "#a0 = []\n";
  for (int i = 1; i < 100'000; ++i)
    chain +=
        "#a" + std::to_string(i) + " =\n [#a" + std::to_string(i - 1) + "]\n";
  expectTooDeep("a chain", chain);
}

TEST(HostileText, whatStandsInStringsAndCommentsDoesNotNest) {
  EXPECT_EQ(failure("// " + repeat("(", 1000) + "\n" + std::string(body)), "");
  std::string named(body);
  named.insert(named.find(")"), " {sinter.name = \"" + repeat("<", 1000) +
                                    "\\\"" + repeat("[", 1000) + "\"}");
  EXPECT_EQ(failure(named), "");
}

TEST(HostileText, argumentsHaveSizes) {
  for (const char *type :
       {"2147483648xf32", "9223372036854775807xf32", "4294967296x0xf32",
        "2147483647x2147483647x0xf32", "1048576x1048576x1048576xf32"}) {
    std::string text = "func.func @main(%x: tensor<" + std::string(type) +
                       ">) -> tensor<" + type + "> {\n  return %x : tensor<" +
                       type + ">\n}\n";
    EXPECT_NE(failure(text).find("an axis of 2^31 elements or more"),
              std::string::npos)
        << type << ": " << failure(text);
  }
}
