/// Settings in C++ and in JSON: fields in order, round trips, files.
#include "tests/unit/config/Configs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>

using namespace config_test;
namespace sn = sinter;

namespace {

std::string temporary(const char *name) { return testing::TempDir() + name; }

TEST(ConfigTest, requiredAndDefaultedFieldsWithSettersAndJson) {
  // As Burn's `#[derive(Config)]`: required ones at construction, defaults for
  // the rest, with_*, save and load.
  MlpConfig config = MlpConfig{.inputs = 784}.with_hidden(256).with_activation(
      Activation::gelu);
  EXPECT_EQ(config.inputs, 784);
  EXPECT_EQ(config.hidden, 256);
  EXPECT_EQ(config.dropout, 0.5);
  std::string file = temporary("mlp-config.json");
  config.save(file);
  MlpConfig loaded = MlpConfig::load(file);
  EXPECT_EQ(loaded, config);
  EXPECT_NE(loaded, config.with_inputs(10));
  EXPECT_EQ(config.to_json(), "{\n"
                              "  \"inputs\": 784,\n"
                              "  \"hidden\": 256,\n"
                              "  \"dropout\": 0.5,\n"
                              "  \"activation\": \"gelu\"\n"
                              "}\n");
  EXPECT_EQ(MlpConfig::from_json("{\"inputs\": 3}"), MlpConfig{.inputs = 3});
}

TEST(ConfigTest, settersChangeACopy) {
  const MlpConfig config{.inputs = 4};
  MlpConfig other = config.with_inputs(5).with_dropout(0);
  EXPECT_EQ(config.inputs, 4);
  EXPECT_EQ(other.inputs, 5);
  EXPECT_EQ(other.dropout, 0);
}

TEST(ConfigTest, fieldsStandInTheOrderOfTheirDeclaration) {
  TrainingConfig config{.epochs = 3, .model = {.inputs = 4}};
  std::string text = config.to_json();
  size_t last = 0;
  for (const char *name :
       {"epochs", "batch", "shuffle", "name", "model", "inputs", "hidden",
        "dropout", "activation", "optimizer", "type", "lr", "betas"}) {
    size_t found = text.find("\"" + std::string(name) + "\":");
    ASSERT_NE(found, std::string::npos) << name;
    EXPECT_GE(found, last) << name;
    last = found;
  }
}

TEST(ConfigTest, readingAFieldThatWasNotGivenIsAnError) {
  MlpConfig config;
  EXPECT_FALSE(config.inputs.has_value());
  EXPECT_EQ(messageOf([&] { return int64_t(config.inputs); }),
            "config: a required field was read that was never given");
  EXPECT_EQ(messageOf([&] { config.to_json(); }),
            "config: a field that has no default was not given: inputs");
}

TEST(ConfigTest, missingFieldsAreListedAtOnce) {
  EXPECT_EQ(messageOf([] { TrainingConfig::from_json("{}"); }),
            "config: JSON: fields that have no default were not given: epochs, "
            "model.inputs");
}

TEST(ConfigTest, variantsAreTaggedWithTheirClass) {
  TrainingConfig config{.epochs = 1, .model = {.inputs = 1}};
  config.optimizer = SgdConfig{.lr = 0.5, .momentum = 0.9};
  TrainingConfig read = TrainingConfig::from_json(config.to_json());
  EXPECT_EQ(read, config);
  EXPECT_EQ(std::get<SgdConfig>(read.optimizer).momentum, 0.9);
  read = TrainingConfig::from_json(
      R"({"epochs": 1, "model": {"inputs": 1}, "optimizer": {"lr": 2}})");
  EXPECT_EQ(std::get<AdamConfig>(read.optimizer).lr, 2);
}

TEST(ConfigTest, aStructOfAFunctionIsAConfig) {
  struct Local {
    int64_t size = 3;
    SINTER_DOC(size, "how many")
    SINTER_CONFIG(Local, size)
  };
  EXPECT_EQ(Local::from_json("{\"size\": 4}").size, 4);
}

//===- Random configs -----------------------------------------------------===//

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  uint64_t bits() {
    // Small numbers and the ends of ranges are met, too.
    uint64_t value = engine();
    switch (engine() % 4) {
    case 0:
      return value % 3;
    case 1:
      return ~(value % 3);
    case 2:
      return value >> (engine() % 64);
    default:
      return value;
    }
  }
  double real() {
    using Limits = std::numeric_limits<double>;
    constexpr double special[] = {0.0,
                                  -0.0,
                                  1.0,
                                  0.1,
                                  Limits::max(),
                                  Limits::denorm_min(),
                                  Limits::infinity(),
                                  -Limits::infinity()};
    uint64_t pick = engine() % 16;
    if (pick < std::size(special))
      return special[pick];
    double value = std::bit_cast<double>(engine());
    return std::isnan(value) ? 2.5 : value;
  }
  float single() {
    float value = std::bit_cast<float>(static_cast<uint32_t>(engine()));
    return std::isnan(value) ? 1.5f : value;
  }
  std::string text() {
    constexpr const char *parts[] = {"a", "\"", "\\",  "\n", "\t", "é", "\x01",
                                     "0", "{",  "nan", "日", " ",  "/", "."};
    std::string made;
    for (uint64_t i = engine() % 6; i > 0; --i)
      made += parts[engine() % std::size(parts)];
    return made;
  }
  bool flag() { return engine() % 2; }
  size_t size() { return engine() % 4; }
  AdamConfig adam() { return {.lr = real(), .betas = {real(), real()}}; }
  SgdConfig sgd() { return {.lr = real(), .momentum = real()}; }
  Activation activation() { return static_cast<Activation>(engine() % 3); }

private:
  std::mt19937_64 engine;
};

EveryConfig randomConfig(uint64_t seed) {
  Random random(seed);
  EveryConfig config;
  config.flag = random.flag();
  config.small = static_cast<int8_t>(random.bits());
  config.byte = static_cast<uint8_t>(random.bits());
  config.middle = static_cast<int32_t>(random.bits());
  config.large = static_cast<int64_t>(random.bits());
  config.natural = random.bits();
  config.single = random.single();
  config.real = random.real();
  config.text = random.text();
  config.file = random.text();
  config.choice = random.activation();
  config.dtype = random.flag() ? sn::DType::bf16 : sn::DType::boolean;
  if (random.flag())
    config.maybe = static_cast<int64_t>(random.bits());
  if (random.flag())
    config.part = random.adam();
  for (size_t i = random.size(); i > 0; --i) {
    config.numbers.push_back(static_cast<int64_t>(random.bits()));
    config.flags.push_back(random.flag());
    config.words.push_back(random.text());
    config.stages.push_back(random.sgd());
    config.rows.push_back(std::vector<float>(random.size(), random.single()));
    config.weights[random.text()] = random.real();
    config.named[random.text()] = random.adam();
  }
  if (random.flag())
    config.either = random.sgd();
  config.given = random.text();
  return config;
}

TEST(ConfigTest, randomConfigsSurviveJson) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    EveryConfig config = randomConfig(seed);
    std::string text = config.to_json();
    EveryConfig read;
    ASSERT_EQ(messageOf([&] { read = EveryConfig::from_json(text); }), "")
        << seed << "\n"
        << text;
    ASSERT_EQ(read, config) << seed << "\n" << text;
    ASSERT_EQ(read.to_json(), text) << seed;
  }
}

TEST(ConfigTest, notANumberSurvivesJson) {
  SgdConfig config{.lr = std::nan(""), .momentum = -INFINITY};
  SgdConfig read = SgdConfig::from_json(config.to_json());
  EXPECT_TRUE(std::isnan(read.lr));
  EXPECT_EQ(read.momentum, -INFINITY);
}

} // namespace
