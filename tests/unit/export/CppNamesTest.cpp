/// Identifiers, literals and lines of modules that are written in C++.
#include "frontend/export/cpp/GraphCode.h"
#include "frontend/export/cpp/Names.h"
#include "frontend/export/cpp/Text.h"

#include <sinter/Error.h>

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

using namespace sinter;
using namespace sinter::cpp;

TEST(CppNames, AreIdentifiers) {
  Names names;
  EXPECT_EQ(names.unique("layer1.0.Conv/weight", "w"), "layer1_0_conv_weight");
  EXPECT_EQ(names.unique("/a//b_", "w"), "a_b");
  EXPECT_EQ(names.unique("", "w"), "w");
  EXPECT_EQ(names.unique("123", "w"), "w_123");
  EXPECT_EQ(names.unique("3d", "w"), "w_3d");
  EXPECT_EQ(names.unique("\xc3\xa4\n*/", "w"), "w_2");
  EXPECT_EQ(names.unique(std::string(1000, 'q'), "w"), std::string(60, 'q'));
}

TEST(CppNames, AreGivenOnce) {
  Names names;
  EXPECT_EQ(names.unique("Conv", "w"), "conv");
  EXPECT_EQ(names.unique("conv", "w"), "conv_2");
  EXPECT_EQ(names.unique("conv_2", "w"), "conv_2_2");
  EXPECT_EQ(names.unique("conv", "w"), "conv_3");
}

TEST(CppNames, AreNoWordsOfCpp) {
  Names names;
  EXPECT_EQ(names.unique("class", "w"), "class_");
  EXPECT_EQ(names.unique("class", "w"), "class_2");
  EXPECT_EQ(names.unique("forward", "w"), "forward_");
  EXPECT_EQ(names.unique("NOT", "w"), "not_");
  EXPECT_EQ(names.unique("sn", "w"), "sn_");
  for (std::string word : {"char8_t", "char16_t", "char32_t", "wchar_t",
                           "static_assert", "thread_local"})
    EXPECT_EQ(names.unique(word, "w"), word + "_");
}

TEST(CppNames, OfClasses) {
  EXPECT_EQ(className("res-net18"), "ResNet18");
  EXPECT_EQ(className("net"), "Net");
  EXPECT_EQ(className("18"), "Model18");
  EXPECT_EQ(className(""), "Model");
  EXPECT_EQ(className("outputs"), "OutputsModel");
  EXPECT_EQ(className("FILE"), "FILEModel");
  EXPECT_EQ(className("n-a-n"), "NANModel");
}

TEST(CppText, LiteralsAreTheSameNumbers) {
  EXPECT_EQ(literal(DType::f32, double(0.1f)), "0.1");
  EXPECT_EQ(literal(DType::f32, 2.0), "2.0");
  EXPECT_EQ(literal(DType::f32, 0.1), "0.1"); // of more digits than an f32 has
  EXPECT_EQ(literal(DType::f64, double(0.1f)), "0.10000000149011612");
  EXPECT_EQ(literal(DType::f32, -1e-7), "-1e-07");
  EXPECT_EQ(literal(DType::i64, int64_t(-7)), "-7");
  EXPECT_EQ(literal(DType::i64, std::numeric_limits<int64_t>::min()),
            "std::numeric_limits<int64_t>::min()");
  EXPECT_EQ(literal(DType::u64, int64_t(-1)), "18446744073709551615u");
  EXPECT_EQ(literal(DType::boolean, 1), "true");
  EXPECT_EQ(literal(DType::f32, -std::numeric_limits<double>::infinity()),
            "-std::numeric_limits<double>::infinity()");
  EXPECT_EQ(literalOfBits(DType::f32, std::bit_cast<uint32_t>(1.5f)), "1.5");
  EXPECT_EQ(literalOfBits(DType::f16, 0x3c00), "1.0");
  EXPECT_EQ(literalOfBits(DType::bf16, 0xbf80), "-1.0");
  EXPECT_EQ(literalOfBits(DType::f8e5m2, 0x3c), "1.0");
  EXPECT_EQ(literalOfBits(DType::i8, 0xff), "-1");
  EXPECT_EQ(literalOfBits(DType::u8, 0xff), "255");
  EXPECT_EQ(list(std::vector<int64_t>{2, 2}, true), "2");
  EXPECT_EQ(list(std::vector<int64_t>{2, 2}), "{2, 2}");
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
}

/// A compiler reads a literal as a double, and rounds that.
TEST(CppText, LiteralsAreNotRoundedTwice) {
  auto wanted = std::bit_cast<float>(0x15ae43fdu);
  std::string text = literalOfBits(DType::f32, 0x15ae43fd);
  EXPECT_EQ(float(std::strtod(text.c_str(), nullptr)), wanted) << text;
}

TEST(CppText, IntegersAreNotMadeOfWhatIsNone) {
  EXPECT_EQ(literal(DType::i64, 7.0), "7");
  EXPECT_EQ(literal(DType::i64, -0x1p63),
            "std::numeric_limits<int64_t>::min()");
  EXPECT_THROW(literal(DType::i64, 0x1p63), Error);
  EXPECT_THROW(literal(DType::i32, std::numeric_limits<double>::infinity()),
               Error);
  EXPECT_THROW(literal(DType::u8, std::numeric_limits<double>::quiet_NaN()),
               Error);
}

TEST(CppText, LinesAreShort) {
  std::string text = "sn::Tensor y = sn::concat({" + std::string(30, 'a') +
                     ", " + std::string(30, 'b') + ", " + std::string(30, 'c') +
                     "}, 1);";
  std::string wrapped = lines(text, 4), all;
  for (size_t at = 0; at < wrapped.size();) {
    size_t end = wrapped.find('\n', at);
    EXPECT_LE(end - at, 80u);
    all += wrapped.substr(at + 4, end - at - 4);
    at = end + 1;
  }
  std::erase(all, ' ');
  std::erase(text, ' ');
  EXPECT_EQ(all, text);
  EXPECT_EQ(comment("a\nb\\", 2), "  // a\\x0ab\n");
}

/// An op without a rule is a call of the function that has its name.
TEST(CppRules, EveryOpHasAFunctionOrARule) {
  std::string headers;
  for (const char *folder : {SINTER_GENERATED "/functions", SINTER_HEADERS})
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".h") {
        std::ifstream file(entry.path());
        headers.append(std::istreambuf_iterator<char>(file), {});
      }
  size_t written = 0;
  for (size_t code = 1; code < graph::opCount(); ++code) {
    auto id = graph::OpId(code);
    std::string name(graph::info(id).name);
    if (!isWritten(name) || findCodeRule(name))
      continue;
    ++written;
    bool isFunction =
        headers.find("Tensor " + name + "(const Arg &") != headers.npos ||
        headers.find("Tensor " + name + "(std::span<const Arg>") !=
            headers.npos;
    EXPECT_TRUE(isFunction) << name;
  }
  EXPECT_GT(written, 100u);
  EXPECT_FALSE(isWritten("scan_end"));
  EXPECT_FALSE(isWritten("random_uniform"));
  EXPECT_FALSE(isWritten("custom_op"));
  EXPECT_FALSE(isWritten("no_such_op"));
}
