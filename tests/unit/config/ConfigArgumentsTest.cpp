/// Settings on the command line.
#include "tests/unit/config/Configs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

using namespace config_test;
namespace sn = sinter;

namespace {

template <typename T = TrainingConfig>
T parse(const std::vector<std::string> &arguments, T defaults = {}) {
  return sn::parse_config<T>(arguments, std::move(defaults));
}

template <typename T = TrainingConfig>
std::string errorOf(const std::vector<std::string> &arguments) {
  return messageOf([&] { parse<T>(arguments); });
}

TEST(ConfigArgumentsTest, pathsAreOptions) {
  TrainingConfig config =
      parse({"--epochs", "20", "--model.inputs", "784", "--model.hidden=256",
             "--model.activation", "gelu", "--name", "--odd"});
  EXPECT_EQ(config.epochs, 20);
  EXPECT_EQ(config.model.inputs, 784);
  EXPECT_EQ(config.model.hidden, 256);
  EXPECT_EQ(config.model.activation, Activation::gelu);
  EXPECT_EQ(config.model.dropout, 0.5);
  EXPECT_EQ(config.name, "--odd");
}

TEST(ConfigArgumentsTest, defaultsThenFileThenCommandLine) {
  std::string file = testing::TempDir() + "config-order.json";
  std::ofstream(file) << "{\"batch\": 2, \"epochs\": 2,\n"
                         " \"model\": {\"inputs\": 2, \"hidden\": 2}}";
  TrainingConfig defaults;
  defaults.batch = defaults.model.hidden = 1;
  defaults.name = "own";
  defaults.model.dropout = 0.1;
  TrainingConfig config = parse<TrainingConfig>(
      {"--epochs", "3", "--config", file, "--model.hidden", "3"}, defaults);
  EXPECT_EQ(config.name, "own");
  EXPECT_EQ(config.model.dropout, 0.1);
  EXPECT_EQ(config.batch, 2);
  EXPECT_EQ(config.model.inputs, 2);
  EXPECT_EQ(config.epochs, 3);
  EXPECT_EQ(config.model.hidden, 3);
}

TEST(ConfigArgumentsTest, flags) {
  auto shuffles = [](const std::vector<std::string> &flags) {
    std::vector<std::string> all = {"--epochs", "1", "--model.inputs", "1"};
    all.insert(all.end(), flags.begin(), flags.end());
    return parse(all).shuffle;
  };
  EXPECT_TRUE(shuffles({}));
  EXPECT_TRUE(shuffles({"--shuffle"}));
  EXPECT_FALSE(shuffles({"--no-shuffle"}));
  EXPECT_FALSE(shuffles({"--shuffle=false"}));
  EXPECT_TRUE(shuffles({"--shuffle=true"}));
}

TEST(ConfigArgumentsTest, everyKindOfField) {
  EveryConfig config = parse<EveryConfig>({"--given",
                                           "a b",
                                           "--small",
                                           "-3",
                                           "--single",
                                           "0.1",
                                           "--real",
                                           "-inf",
                                           "--maybe",
                                           "7",
                                           "--numbers",
                                           "1,2,-3",
                                           "--flags",
                                           "[true,false]",
                                           "--words",
                                           "x,,y",
                                           "--stages",
                                           "[{\"lr\": 3}]",
                                           "--rows",
                                           "[[1],[]]",
                                           "--weights",
                                           "{\"a\": 2}",
                                           "--dtype",
                                           "bf16",
                                           "--part.lr",
                                           "9",
                                           "--either.type",
                                           "SgdConfig",
                                           "--either.momentum",
                                           "0.5",
                                           "--file",
                                           "a/b"});
  EXPECT_EQ(config.given, "a b");
  EXPECT_EQ(config.small, -3);
  EXPECT_EQ(config.single, 0.1f);
  EXPECT_EQ(config.real, -INFINITY);
  EXPECT_EQ(config.maybe, 7);
  EXPECT_EQ(config.numbers, (std::vector<int64_t>{1, 2, -3}));
  EXPECT_EQ(config.flags, (std::vector<bool>{true, false}));
  EXPECT_EQ(config.words, (std::vector<std::string>{"x", "", "y"}));
  ASSERT_EQ(config.stages.size(), 1u);
  EXPECT_EQ(config.stages[0].lr, 3);
  EXPECT_EQ(config.rows, (std::vector<std::vector<float>>{{1}, {}}));
  EXPECT_EQ(config.weights.at("a"), 2);
  EXPECT_EQ(config.dtype, sn::DType::bf16);
  ASSERT_TRUE(config.part);
  EXPECT_EQ(config.part->lr, 9);
  EXPECT_EQ(config.part->betas[1], 0.999);
  EXPECT_EQ(std::get<SgdConfig>(config.either).momentum, 0.5);
  EXPECT_EQ(config.file, "a/b");
  EveryConfig defaults;
  defaults.maybe = 3;
  EXPECT_FALSE(
      parse<EveryConfig>({"--given", "", "--maybe", "null"}, defaults).maybe);
}

TEST(ConfigArgumentsTest, errorsNameTheOption) {
  EXPECT_EQ(errorOf({"--epochs", "1", "--model.inputs", "many"}),
            "config: --model.inputs: expected an integer, there is \"many\"");
  EXPECT_EQ(errorOf({"--model.hiden", "3"}),
            "config: --model.hiden: there is no such option; did you mean "
            "--model.hidden?");
  EXPECT_EQ(errorOf({"--epochs", "1", "--model.inputs", "1", "stray"}),
            "config: the argument 'stray' belongs to no option");
  EXPECT_EQ(errorOf({"--epochs", "1", "--epochs", "2"}),
            "config: --epochs is given 2 times");
  EXPECT_EQ(errorOf({}), "config: fields that have no default were not given: "
                         "epochs, model.inputs");
  std::string message = errorOf({"--epochs"});
  EXPECT_NE(message.find("--epochs"), std::string::npos) << message;
  EXPECT_EQ(errorOf<EveryConfig>({"--given", "", "--numbers", "[1,"})
                .find("config: --numbers: "),
            0u);
  EXPECT_EQ(errorOf<EveryConfig>({"--given", "", "--rows", "[[1],[\"x\"]]"}),
            "config: --rows: rows.1.0: expected a number, there is \"x\"");
  EXPECT_NE(errorOf<EveryConfig>({"--given", "", "--flag=maybe"}), "");
  EXPECT_EQ(errorOf<EveryConfig>({"--given", "", "--either.momentum", "1"}),
            "config: --either.momentum: there is no such field");
}

TEST(ConfigArgumentsTest, errorsOfAFileNameItsLine) {
  std::string file = testing::TempDir() + "config-file-error.json";
  std::ofstream(file) << "{\n\"batch\": {}}";
  EXPECT_EQ(errorOf({"--config", file, "--epochs", "1", "--model.inputs", "1"}),
            "config: " + file +
                ":2: batch: expected an integer, there is an object");
}

TEST(ConfigArgumentsTest, helpListsFieldsDefaultsAndTexts) {
  std::string help = sn::config_help<TrainingConfig>({}, "train");
  for (const char *part : {"--epochs INT",
                           "passes over the data [required]",
                           "--batch INT",
                           "[64]",
                           "--shuffle,--no-shuffle",
                           "another order in each epoch [true]",
                           "--name TEXT",
                           "[run]",
                           "--model.inputs INT",
                           "--model.hidden INT",
                           "units of the hidden layer [128]",
                           "--model.activation relu|gelu|tanh",
                           "[relu]",
                           "--optimizer.type AdamConfig|SgdConfig",
                           "[AdamConfig]",
                           "--optimizer.momentum FLOAT",
                           "--optimizer.betas FLOAT,...",
                           "[[0.9, 0.999]]",
                           "--config FILE",
                           "--help"})
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
}

TEST(ConfigArgumentsTest, helpOfAProgramEndsIt) {
  const char *arguments[] = {"/usr/bin/train", "--help"};
  EXPECT_EXIT(sn::parse_config<TrainingConfig>(2, arguments),
              testing::ExitedWithCode(0), "");
}

TEST(ConfigArgumentsTest, aFieldNamedAsAnOptionOfOursIsRefused) {
  struct Clash {
    int64_t config = 1;
    SINTER_CONFIG(Clash, config)
  };
  EXPECT_EQ(messageOf([] {
              parse<Clash>({});
            }).find("config: the field 'config' can be no option"),
            0u);
}

} // namespace
