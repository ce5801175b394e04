/// Settings that tests read and write.
#pragma once

#include <sinter/Config.h>
#include <sinter/Error.h>

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace config_test {

enum class Activation : uint8_t { relu, gelu, tanh };
SINTER_ENUM(Activation, relu, gelu, tanh)

/// One required field and one with a default, as the Burn Book's guide has.
struct MlpConfig {
  sinter::Required<int64_t> inputs;
  int64_t hidden = 128;
  double dropout = 0.5;
  Activation activation = Activation::relu;
  SINTER_DOC(hidden, "units of the hidden layer")
  SINTER_CONFIG(MlpConfig, inputs, hidden, dropout, activation)
};

struct AdamConfig {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  SINTER_CONFIG(AdamConfig, lr, betas)
};
struct SgdConfig {
  double lr = 0.1;
  double momentum = 0;
  SINTER_CONFIG(SgdConfig, lr, momentum)
};

struct TrainingConfig {
  sinter::Required<int64_t> epochs;
  int64_t batch = 64;
  bool shuffle = true;
  std::string name = "run";
  MlpConfig model = {};
  std::variant<AdamConfig, SgdConfig> optimizer = {};
  SINTER_DOC(epochs, "passes over the data")
  SINTER_DOC(shuffle, "another order in each epoch")
  SINTER_CONFIG(TrainingConfig, epochs, batch, shuffle, name, model, optimizer)
};

/// A field of each kind.
struct EveryConfig {
  bool flag = false;
  int8_t small = 0;
  uint8_t byte = 0;
  int32_t middle = 0;
  int64_t large = 0;
  uint64_t natural = 0;
  float single = 0;
  double real = 0;
  std::string text;
  std::filesystem::path file;
  Activation choice = Activation::relu;
  sinter::DType dtype = sinter::DType::f32;
  std::optional<int64_t> maybe;
  std::optional<AdamConfig> part;
  std::vector<int64_t> numbers;
  std::vector<bool> flags;
  std::vector<std::string> words;
  std::vector<SgdConfig> stages;
  std::vector<std::vector<float>> rows;
  std::map<std::string, double> weights;
  std::map<std::string, AdamConfig> named;
  std::variant<AdamConfig, SgdConfig> either;
  sinter::Required<std::string> given;
  SINTER_CONFIG(EveryConfig, flag, small, byte, middle, large, natural, single,
                real, text, file, choice, dtype, maybe, part, numbers, flags,
                words, stages, rows, weights, named, either, given)
};

/// The message of the Error that a call throws; empty if it throws none.
template <typename F> std::string messageOf(F &&call) {
  try {
    call();
  } catch (const sinter::Error &error) {
    return error.message();
  }
  return {};
}

} // namespace config_test
