/// config.json and weights that do not go together, or are not understood.
#include "tests/unit/huggingface/GoldenFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <unistd.h>

using namespace sinter;
using namespace sinter::hf_test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

namespace {
namespace fs = std::filesystem;

/// A copy of a folder of this test, to be changed.
class Changed {
public:
  explicit Changed(const std::string &name)
      : path(fs::temp_directory_path() /
             ("sinter-hf-" + std::to_string(getpid()) + "-" + name)) {
    fs::remove_all(path);
    fs::copy(folderOf(name), path);
    std::ostringstream text;
    text << std::ifstream(path / "config.json").rdbuf();
    config = text.str();
  }
  ~Changed() { fs::remove_all(path); }

  const std::string &text() const { return config; }
  /// The folder with one text of config.json replaced.
  std::string with(const std::string &from, const std::string &to) const {
    std::string text = config;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos)
      text.replace(at, from.size(), to);
    return write(text);
  }
  /// The folder with one more key.
  std::string plus(const std::string &member) const {
    return with("{", "{" + member + ",");
  }
  std::string write(const std::string &text) const {
    // A new file is faster than one that is cut.
    fs::remove(path / "config.json");
    std::ofstream(path / "config.json") << text;
    return path;
  }

  fs::path path;

private:
  std::string config;
};

std::string llama(const std::string &folder,
                  const hf::LoadOptions &options = {}) {
  return problemOf([&] { hf::Llama::from_folder(folder, options); });
}
} // namespace

TEST(HuggingFaceConfig, saysWhatIsWrong) {
  Changed folder("llama");
  auto size = [&](const char *value) {
    return llama(folder.with("\"hidden_size\": 8",
                             std::string("\"hidden_size\": ") + value));
  };
  for (const char *value : {"0", "-8", "8.5", "1e99", "\"8\"", "[8]", "{}",
                            "true", "99999999999999999999", "4294967296"})
    EXPECT_THAT(size(value),
                AllOf(StartsWith("io: "), HasSubstr("'hidden_size' is "),
                      HasSubstr("no integer from 1 to 16777216")))
        << value;
  EXPECT_THAT(size("8,,"), StartsWith("io: "));
  EXPECT_THAT(size("8, \"rms_norm_eps\": 1e999"),
              AllOf(StartsWith("io: "), HasSubstr("number that is too large")));
  EXPECT_THAT(llama(folder.write("[]")), HasSubstr("holds a list of 0"));
  EXPECT_THAT(llama(folder.write("")), StartsWith("io: "));
  EXPECT_THAT(llama(folder.write("{}")), HasSubstr("'model_type' is missing"));
  EXPECT_THAT(llama(folder.path / "nothing"), StartsWith("io: "));
}

TEST(HuggingFaceConfig, headsDivide) {
  Changed folder("llama");
  EXPECT_THAT(llama(folder.with("\"num_key_value_heads\": 2",
                                "\"num_key_value_heads\": 3")),
              HasSubstr("'num_key_value_heads' is 3, which does not divide the "
                        "num_attention_heads 4"));
  EXPECT_THAT(llama(folder.with("\"head_dim\": 4", "\"head_dim\": 3")),
              HasSubstr("'head_dim' is 3, no even number"));
  Changed gpt2("gpt2");
  EXPECT_THAT(problemOf([&] {
                hf::Gpt2::from_folder(
                    gpt2.with("\"n_head\": 2", "\"n_head\": 3"));
              }),
              HasSubstr("'n_head' is 3, which does not divide the n_embd 8"));
}

TEST(HuggingFaceConfig, takesNoMemoryByItsNumbers) {
  Changed folder("llama");
  EXPECT_THAT(llama(folder.with("\"num_hidden_layers\": 2",
                                "\"num_hidden_layers\": 60000")),
              HasSubstr("'num_hidden_layers' is 60000, but "));
  EXPECT_THAT(llama(folder.with("\"num_hidden_layers\": 2",
                                "\"num_hidden_layers\": 4")),
              HasSubstr(" tensors, and a layer takes 9"));
  EXPECT_THAT(
      llama(folder.with("\"vocab_size\": 20", "\"vocab_size\": 2000000000")),
      HasSubstr("model.embed_tokens.weight is f32[20,8], the module has "
                "f32[2000000000,8]"));
  EXPECT_THAT(llama(folder.with("\"intermediate_size\": 12",
                                "\"intermediate_size\": 16777216")),
              HasSubstr("model.layers.0.mlp.down_proj.weight is f32[8,12]"));
}

TEST(HuggingFaceConfig, keysThatChangeTheModel) {
  Changed folder("llama");
  EXPECT_THAT(
      llama(folder.plus("\"quantization_config\": {\"bits\": 4}")),
      AllOf(StartsWith("unsupported: "),
            HasSubstr("'quantization_config' is an object of 1, and it is "
                      "not known what that means")));
  EXPECT_THAT(llama(folder.plus("\"logit_scale\": 0.5")),
              HasSubstr("'logit_scale' is 0.5"));
  EXPECT_THAT(llama(folder.plus("\"logit_scale\": 0.5"),
                    {.ignored_keys = {"logit_scale"}}),
              IsEmpty());
  EXPECT_THAT(llama(folder.plus("\"logit_scale\": null, \"clip_qkv\": false")),
              IsEmpty());
  EXPECT_THAT(llama(folder.with("\"silu\"", "\"xielu\"")),
              HasSubstr("'hidden_act' is \"xielu\", which is not supported"));
  EXPECT_THAT(llama(folder.with("\"rope_type\": \"default\"",
                                "\"rope_type\": \"longrope\"")),
              HasSubstr("'rope_parameters.rope_type' is \"longrope\"; default, "
                        "linear, dynamic, llama3 and yarn are supported"));
  Changed bert("bert");
  auto load = [&](const std::string &member) {
    return problemOf([&] { hf::Bert::from_folder(bert.plus(member)); });
  };
  EXPECT_THAT(load("\"position_embedding_type\": \"relative_key\""),
              HasSubstr("'position_embedding_type' is \"relative_key\"; only "
                        "\"absolute\" is supported"));
}

TEST(HuggingFaceConfig, olderRotaryKeys) {
  Changed folder("llama");
  auto rope = [&](const std::string &members) {
    return hf::Llama::from_folder(folder.with("\"rope_parameters\": {",
                                              members +
                                                  ", \"unused\": {}, "
                                                  "\"rope_parameters\": null, "
                                                  "\"_name_or_path\": {"))
        .config.rope;
  };
  hf::RopeParameters plain = rope("\"rope_theta\": 500000.0");
  EXPECT_EQ(plain.theta, 500000);
  EXPECT_EQ(plain.type, hf::RopeType::plain);
  hf::RopeParameters linear =
      rope("\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}");
  EXPECT_EQ(linear.type, hf::RopeType::linear);
  EXPECT_EQ(linear.factor, 2);
  hf::RopeParameters llama3 =
      rope("\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, "
           "\"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, "
           "\"original_max_position_embeddings\": 8192}");
  EXPECT_EQ(llama3.type, hf::RopeType::llama3);
  EXPECT_EQ(llama3.original_max_position_embeddings, 8192);
}

TEST(HuggingFaceConfig, otherKinds) {
  EXPECT_THAT(problemOf([&] { hf::Llama::from_folder(folderOf("gpt2")); }),
              AllOf(StartsWith("unsupported: "),
                    HasSubstr("'model_type' is \"gpt2\"; this module is for "
                              "llama, mistral, qwen2, qwen3")));
  Changed folder("bert");
  EXPECT_THAT(problemOf([&] {
                hf::load(folder.with("BertModel", "BertForQuestionAnswering"));
              }),
              HasSubstr("'architectures' is \"BertForQuestionAnswering\"; "
                        "known are BertModel, "));
}

TEST(HuggingFaceConfig, headsThatAreNotTied) {
  Changed folder("llama");
  std::string tied = folder.with("\"tie_word_embeddings\": false",
                                 "\"tie_word_embeddings\": true");
  // The file has both, and they differ.
  EXPECT_TRUE(hf::Llama::from_folder(tied).lm_head);
  Changed qwen("qwen2");
  EXPECT_FALSE(hf::Llama::from_folder(qwen.path).lm_head);
}

TEST(HuggingFaceConfig, ggufThatIsNot) {
  EXPECT_THAT(problemOf([&] {
                hf::Llama::from_gguf(folderOf("llama") + "/model.safetensors");
              }),
              HasSubstr("is no GGUF file that names an architecture"));
}

namespace {
/// The beginning of a Llama's GGUF file.
class GgufText {
public:
  GgufText &number(auto value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    return *this;
  }
  GgufText &text(const std::string &value) {
    number(uint64_t(value.size()));
    bytes += value;
    return *this;
  }
  GgufText &size(const std::string &key, uint32_t value) {
    return text("llama." + key).number(uint32_t(4)).number(value);
  }
  /// A tensor of one element.
  GgufText &tensor(const std::string &name, uint32_t rank, uint64_t place) {
    text(name).number(rank);
    for (uint32_t axis = 0; axis < rank; ++axis)
      number(uint64_t(1));
    return number(uint32_t(0)).number(place * 32);
  }
  std::string bytes;
};

/// A table of `rank` axes, and as many tensors that no layer has.
std::string strayGguf(uint32_t layers, uint32_t strays, uint32_t rank) {
  GgufText file;
  file.bytes = "GGUF";
  file.number(uint32_t(3)).number(uint64_t(strays) + 1).number(uint64_t(5));
  file.text("general.architecture").number(uint32_t(8)).text("llama");
  file.size("embedding_length", 8).size("feed_forward_length", 8);
  file.size("block_count", layers);
  file.size("attention.head_count", 2);
  file.tensor("token_embd.weight", rank, 0);
  for (uint32_t i = 0; i < strays; ++i)
    file.tensor("blk." + std::to_string(i) + ".x.weight", 1, i + 1);
  file.bytes.resize((file.bytes.size() + 31) / 32 * 32 + 32 * (strays + 1));
  return file.bytes;
}
} // namespace

TEST(HuggingFaceConfig, ggufOfStrayTensors) {
  Changed folder("llama");
  std::string path = folder.path / "stray.gguf";
  auto problem = [&](uint32_t layers, uint32_t strays, uint32_t rank) {
    std::ofstream(path, std::ios::binary) << strayGguf(layers, strays, rank);
    return problemOf([&] { hf::Llama::from_gguf(path); });
  };
  EXPECT_THAT(problem(60'000, 60'000, 2),
              AllOf(StartsWith("io: "),
                    HasSubstr("'llama.block_count' is 60000, but there are "
                              "60001 tensors, 9 a layer")));
  for (uint32_t rank : {0, 1, 3})
    EXPECT_THAT(
        problem(1, 9, rank),
        AllOf(StartsWith("io: "), HasSubstr("token_embd.weight has " +
                                            std::to_string(rank) + " axes")));
}

TEST(HuggingFaceConfig, missingWeightsAreListed) {
  std::string problem = problemOf(
      [&] { hf::BertClassifier::from_folder(folderOf("bert-masked-lm")); });
  EXPECT_THAT(problem, AllOf(StartsWith("invalid_argument: "),
                             HasSubstr("bert.pooler.dense.weight"),
                             HasSubstr("classifier.bias")));
  Changed folder("gpt2");
  fs::remove(folder.path / "model.safetensors.index.json");
  EXPECT_THAT(problemOf([&] { hf::load(folder.path); }),
              HasSubstr("has none of model.safetensors, "
                        "model.safetensors.index.json, pytorch_model.bin"));
}

/// A number that a random text has in the place of another.
static std::string otherNumber(std::mt19937 &random) {
  const char *numbers[] = {"0",     "1",         "-1",
                           "3",     "1e308",     "2147483647",
                           "7",     "16777216",  "18446744073709551615",
                           "0.5",   "\"\"",      "null",
                           "[]",    "{}",        "true",
                           "[1,2]", "\"linear\""};
  return numbers[random() % std::size(numbers)];
}

/// Values, keys and bytes of config.json changed at random: each folder loads,
/// or there is an Error.
TEST(HuggingFaceConfig, survivesChanges) {
  std::mt19937 random(7);
  for (const char *name :
       {"bert", "gpt2", "llama", "qwen2", "vit", "whisper"}) {
    Changed folder(name);
    for (int i = 0; i < 150; ++i) {
      std::string text = folder.text();
      for (int change = 0; change < 2; ++change) {
        size_t at = text.find(':', random() % text.size());
        size_t end = text.find_first_of(",}\n", at);
        if (at == std::string::npos || end == std::string::npos)
          continue;
        if (random() % 4)
          text.replace(at + 1, end - at - 1, otherNumber(random));
        else
          text[random() % text.size()] = static_cast<char>(random());
      }
      std::string problem = problemOf([&] { hf::load(folder.write(text)); });
      EXPECT_THAT(problem, Not(HasSubstr("internal"))) << text;
    }
  }
}

TEST(HuggingFaceConfig, ggufSurvivesChanges) {
  std::ostringstream read;
  read << std::ifstream(folderOf("llama") + "/model.gguf", std::ios::binary)
              .rdbuf();
  std::string bytes = read.str();
  // Metadata and what is said of tensors.
  size_t header = bytes.find("output_norm.weight");
  ASSERT_LT(header, bytes.size());
  std::mt19937 random(5);
  Changed folder("llama");
  std::string file = folder.path / "changed.gguf";
  for (int i = 0; i < 200; ++i) {
    std::string changed = bytes;
    for (int change = 0; change < 2; ++change)
      changed[random() % header] = static_cast<char>(random());
    std::ofstream(file, std::ios::binary) << changed;
    EXPECT_THAT(problemOf([&] { hf::Llama::from_gguf(file); }),
                Not(HasSubstr("internal")));
  }
}
