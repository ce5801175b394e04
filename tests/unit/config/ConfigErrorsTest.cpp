/// What is said of settings that are wrong.
#include "tests/unit/config/Configs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

using namespace config_test;
namespace sn = sinter;

namespace {

std::string write(const std::string &text) {
  std::string file = testing::TempDir() + "config-errors.json";
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

template <typename T = EveryConfig> std::string errorOf(std::string_view text) {
  return messageOf([&] { T::from_json(text); });
}

TEST(ConfigErrorsTest, namesFieldLineExpectedAndFound) {
  std::string file = write("{\n  \"epochs\": 3,\n  \"model\": {\n"
                           "    \"inputs\": 4,\n    \"hidden\": \"many\"\n"
                           "  }\n}\n");
  EXPECT_EQ(messageOf([&] { TrainingConfig::load(file); }),
            "config: " + file +
                ":5: model.hidden: expected an integer, there is \"many\"");
}

TEST(ConfigErrorsTest, aNumberBeforeTheEndOfALineIsOfThatLine) {
  EXPECT_EQ(errorOf("{\"small\":\n1000\n}"),
            "config: 2 problems:\n"
            "  JSON:2: small: expected an integer from -128 to 127, there is "
            "1000\n"
            "  JSON: a field that has no default was not given: given");
}

TEST(ConfigErrorsTest, unknownFieldsAreErrorsWithTheNameMeant) {
  EXPECT_EQ(errorOf<MlpConfig>("{\"inputs\": 1,\n\"hiden\": 3}"),
            "config: JSON:2: hiden: there is no such field; did you mean "
            "'hidden'?");
  EXPECT_EQ(errorOf<MlpConfig>("{\"inputs\": 1, \"zzzzzzzz\": 3}"),
            "config: JSON:1: zzzzzzzz: there is no such field");
}

TEST(ConfigErrorsTest, everyProblemIsToldAtOnce) {
  EXPECT_EQ(errorOf<MlpConfig>("{\"hidden\": 1.5, \"dropout\": true,\n"
                               "\"activation\": \"relo\"}"),
            "config: 4 problems:\n"
            "  JSON:1: hidden: expected an integer from -9223372036854775808 "
            "to 9223372036854775807, there is 1.5\n"
            "  JSON:1: dropout: expected a number, there is true\n"
            "  JSON:2: activation: expected one of relu, gelu, tanh, there is "
            "\"relo\"; did you mean 'relu'?\n"
            "  JSON: a field that has no default was not given: inputs");
}

TEST(ConfigErrorsTest, aRequiredFieldThatIsWrongIsNotAlsoMissing) {
  EXPECT_EQ(errorOf<MlpConfig>("{\"inputs\": null}"),
            "config: JSON:1: inputs: expected an integer, there is null");
}

TEST(ConfigErrorsTest, numbersKeepToTheRangeOfTheirField) {
  auto with = [](const std::string &field) {
    return errorOf("{\"given\": \"\", " + field + "}");
  };
  EXPECT_EQ(with("\"byte\": 255"), "");
  EXPECT_NE(with("\"byte\": 256"), "");
  EXPECT_NE(with("\"byte\": -1"), "");
  EXPECT_EQ(with("\"large\": 9223372036854775807"), "");
  EXPECT_NE(with("\"large\": 9223372036854775808"), "");
  EXPECT_EQ(with("\"natural\": 18446744073709551615"), "");
  EXPECT_NE(with("\"natural\": 18446744073709551616"), "");
  EXPECT_EQ(with("\"single\": 3.4e38"), "");
  EXPECT_EQ(with("\"single\": 3.5e38"),
            "config: JSON:1: single: expected a number that a float holds, "
            "there is 3.5e38");
  EXPECT_NE(with("\"real\": 1e400"), "");
  EXPECT_NE(with("\"middle\": 1e3"), "");
}

TEST(ConfigErrorsTest, fieldsGivenTwiceAreErrors) {
  EXPECT_EQ(errorOf<MlpConfig>("{\"inputs\": 1,\n\"inputs\": 2}"),
            "config: JSON:2: 'inputs' stands there twice");
}

TEST(ConfigErrorsTest, wrongKindsAreNamed) {
  EXPECT_EQ(errorOf<MlpConfig>("[]"),
            "config: 2 problems:\n"
            "  JSON:1: expected an object, there is a list of 0\n"
            "  JSON: a field that has no default was not given: inputs");
  auto with = [](const std::string &field) {
    return errorOf("{\"given\": \"\", " + field + "}");
  };
  EXPECT_EQ(with("\"numbers\": [1, \"2\"]"),
            "config: JSON:1: numbers.1: expected an integer, there is \"2\"");
  EXPECT_EQ(with("\"part\": {\"betas\": [1]}"),
            "config: JSON:1: part.betas: expected a list of 2, there is a list "
            "of 1");
  EXPECT_EQ(with("\"either\": {\"type\": \"Adam\"}"),
            "config: JSON:1: either.type: expected one of AdamConfig, "
            "SgdConfig, there is \"Adam\"");
  EXPECT_EQ(with("\"either\": {\"type\": \"AdamConfig\", \"momentum\": 1}"),
            "config: JSON:1: either.momentum: there is no such field");
  EXPECT_EQ(with("\"named\": {\"a\": {\"lr\": \"x\"}}"),
            "config: JSON:1: named.a.lr: expected a number, there is \"x\"");
}

TEST(ConfigErrorsTest, brokenTextNamesTheLine) {
  std::string message = errorOf("{\n\"flag\": tru\n}");
  EXPECT_TRUE(message.starts_with("config: JSON:2: ")) << message;
  EXPECT_NE(errorOf("{\"real\": NaN}"), "");
  EXPECT_NE(errorOf(""), "");
  EXPECT_NE(errorOf("{} {}"), "");
  EXPECT_NE(errorOf("{\"text\": \"\xff\"}"), "");
}

TEST(ConfigErrorsTest, deepNestingIsRefused) {
  std::string deep(1 << 20, '[');
  EXPECT_EQ(errorOf(deep), "config: JSON:1: more than 64 levels of brackets");
  EXPECT_EQ(errorOf(std::string((16 << 20) + 1, ' ')),
            "config: JSON:0: it has more than 16 MiB");
}

TEST(ConfigErrorsTest, filesThatCannotBeReadAreErrorsOfIo) {
  for (const std::string &path :
       {testing::TempDir() + "no-such-config.json", testing::TempDir()}) {
    try {
      MlpConfig::load(path);
      FAIL();
    } catch (const sn::Error &error) {
      EXPECT_EQ(error.kind(), sn::ErrorKind::io);
      EXPECT_NE(error.message().find(path), std::string::npos);
      EXPECT_NE(error.site().find("ConfigErrorsTest.cpp"), std::string::npos);
    }
  }
}

TEST(ConfigErrorsTest, textThatIsNotUtf8IsNotWritten) {
  EveryConfig config;
  config.given = "\xff";
  EXPECT_EQ(messageOf([&] { config.to_json(); }),
            "config: a text is not UTF-8, which JSON is");
}

/// Whatever the bytes are, there is a config or an Error.
TEST(ConfigErrorsTest, damagedTextIsReadOrRefused) {
  EveryConfig config;
  config.given = "x";
  config.numbers = {1, -2};
  config.part.emplace();
  config.weights = {{"a", 0.5}};
  const std::string whole = config.to_json();
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (int changes = 1 + int(random() % 3); changes > 0; --changes)
      text[random() % text.size()] = "{}[]\",:0-9.eEtfn \n\xff"[random() % 19];
    if (random() % 4 == 0)
      text.resize(random() % text.size());
    messageOf([&] { EveryConfig::from_json(text); });
  }
}

} // namespace
