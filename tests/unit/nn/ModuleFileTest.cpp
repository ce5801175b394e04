/// Modules in files: exact round trips, and errors that list every name.
#include "runtime/params/Safetensors.h"

#include <sinter/Basic.h>
#include <sinter/nn/Linear.h>

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace sn = sinter;
using sn::nn::Linear;

namespace {

struct Mlp {
  Linear fc1{4, 8}, fc2{8, 3};
  sn::Tensor table = sn::tensor({1.f, 2.f});
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(sn::relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2, table)
};

struct Other {
  Linear fc1{4, 9}, extra{1, 1, {.bias = false}};
  SINTER_MODULE(Other, fc1, extra)
};

struct Tied {
  sn::Param a{"a", {2}, sn::init::ones()};
  sn::Param b{"b", {2}, sn::init::zeros()};
  SINTER_MODULE(Tied, a, b)
};

class ModuleFile : public testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-module-" + std::to_string(::getpid()));
};

} // namespace

TEST_F(ModuleFile, PredictsTheSameBits) {
  Mlp model;
  model.save(path);
  Mlp loaded;
  loaded.load(path);
  sn::Tensor x = sn::uniform({5, 4});
  std::vector<float> before = model(x).to_vector<float>();
  std::vector<float> after = loaded(x).to_vector<float>();
  ASSERT_EQ(before.size(), after.size());
  EXPECT_EQ(
      std::memcmp(before.data(), after.data(), before.size() * sizeof(float)),
      0);
  EXPECT_EQ(loaded.fc1.weight.record_id(), model.fc1.weight.record_id());
}

TEST_F(ModuleFile, NamesArePaths) {
  Mlp().save(path);
  auto file = sn::runtime::SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  std::vector<std::string> names;
  for (const auto &tensor : file->tensors())
    names.push_back(tensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"fc1.bias", "fc1.weight",
                                             "fc2.bias", "fc2.weight"}));
  EXPECT_EQ(file->find("fc1.weight")->shape, (std::vector<int64_t>{8, 4}));
}

TEST_F(ModuleFile, AConstantIsNotSavedAndReadFromFilesThatHaveIt) {
  Mlp model;
  model.table = sn::tensor({5.f, 6.f});
  model.save(path);
  Mlp loaded;
  loaded.load(path);
  EXPECT_EQ(loaded.table.to_vector<float>(), (std::vector<float>{1, 2}));

  // As files were once written.
  auto file = sn::runtime::SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  auto tensors = file->tensors();
  const float values[] = {7, 8}, other[] = {7, 8, 9};
  std::vector<sn::runtime::NamedTensor> all(tensors.begin(), tensors.end());
  all.push_back(
      {"table", sn::DType::f32, {2}, std::as_bytes(std::span(values))});
  std::string old = path + "-old";
  ASSERT_TRUE(sn::runtime::writeSafetensors(old, all, {}));
  loaded.load(old);
  EXPECT_EQ(loaded.table.to_vector<float>(), (std::vector<float>{7, 8}));
  all.back() = {"table", sn::DType::f32, {3}, std::as_bytes(std::span(other))};
  ASSERT_TRUE(sn::runtime::writeSafetensors(old, all, {}));
  EXPECT_THROW(loaded.load(old), sn::Error);
  std::filesystem::remove(old);
}

TEST_F(ModuleFile, AFileOfAnotherKindIsNamed) {
  Mlp model;
  auto expectKind = [&](std::string_view content, const char *kind) {
    std::ofstream(path, std::ios::binary) << content;
    try {
      model.load(path);
      ADD_FAILURE() << "accepted: " << kind;
    } catch (const sn::Error &error) {
      EXPECT_NE(error.message().find(std::string("; this is ") + kind),
                std::string::npos)
          << error.message();
    }
  };
  using namespace std::string_view_literals;
  expectKind("PK\3\4\24\0\0\0\0\0........................model/data.pkl"sv,
             "a PyTorch checkpoint");
  expectKind("\x80\2}q\0X\6\0\0\0weight"sv, "a Python pickle");
  expectKind("PK\3\4\24\0\0\0\0\0....................a.npy"sv,
             "an archive of NumPy arrays");
  expectKind("\x93NUMPY\1\0"sv, "a NumPy array");
  expectKind("GGUF\3\0\0\0\0\0\0\0"sv, "a GGUF file");
  expectKind("SINTER\0\1\0\0\0\0"sv, "a compiled model");
  expectKind("\x08\7\x12\7pytorch\x1a\0051.0"sv, "an ONNX model");
  expectKind("{\"weight_map\": {}}"sv, "JSON text");
  expectKind(""sv, "an empty file");
  expectKind("\0\0\0\0\0\0\0\0\0\0\0\0"sv, "nothing but zeros");
  expectKind("version https://git-lfs.github.com/spec/v1\n"sv,
             "a Git LFS pointer");
}

TEST_F(ModuleFile, SavingTwiceGivesTheSameBytes) {
  Mlp model;
  model.save(path);
  std::string first = bytes();
  model.save(path);
  EXPECT_EQ(bytes(), first);
  Mlp loaded;
  loaded.load(path);
  loaded.save(path);
  EXPECT_EQ(bytes(), first);
}

TEST_F(ModuleFile, ListsEveryDifference) {
  Mlp model;
  model.save(path);
  Other other;
  std::vector<float> before = other.fc1.weight.tensor().to_vector<float>();
  try {
    other.load(path);
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    for (const char *part :
         {"'fc1.weight' is f32[8,4], the module has f32[9,4]",
          "'fc1.bias' is f32[8], the module has f32[9]",
          "missing 'extra.weight' f32[1,1]", "unexpected 'fc2.weight' f32[3,8]",
          "unexpected 'fc2.bias'"})
      EXPECT_NE(error.message().find(part), std::string::npos)
          << error.message() << " lacks " << part;
    EXPECT_NE(error.message().find(path), std::string::npos);
    EXPECT_NE(error.site().find("ModuleFileTest.cpp"), std::string::npos);
  }
  EXPECT_EQ(other.fc1.weight.tensor().to_vector<float>(), before);
}

TEST_F(ModuleFile, BrokenFileChangesNothing) {
  Mlp model;
  std::vector<float> before = model.fc1.weight.tensor().to_vector<float>();
  model.save(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  try {
    model.load(path);
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::io);
  }
  EXPECT_EQ(model.fc1.weight.tensor().to_vector<float>(), before);
}

TEST_F(ModuleFile, LoadReachesTiedParameters) {
  Tied saved;
  saved.b.tie(saved.a);
  saved.a.set(sn::tensor({3.f, 4.f}));
  saved.save(path);
  Tied loaded;
  loaded.b.tie(loaded.a);
  loaded.load(path);
  EXPECT_EQ(loaded.b.tensor().to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST_F(ModuleFile, SavesThePendingUpdate) {
  Mlp model;
  model.fc1.bias.set(sn::ones({8}) * 7);
  model.save(path);
  Mlp loaded;
  loaded.load(path);
  EXPECT_EQ(loaded.fc1.bias.tensor().to_vector<float>(),
            std::vector<float>(8, 7));
}

TEST_F(ModuleFile, LoadReplacesAPendingUpdate) {
  Mlp model;
  model.save(path);
  std::vector<float> before = model.fc1.bias.tensor().to_vector<float>();
  model.fc1.bias.set(sn::ones({8}) * 7);
  model.load(path);
  EXPECT_EQ(model.fc1.bias.tensor().to_vector<float>(), before);
}

namespace {

/// The network whose state dict PyTorch wrote to Inputs/torch-state.safetensors
/// after 30 batches in training.
struct TorchNet {
  sn::nn::Embedding embed{5, 4};
  sn::nn::GRU rnn{4, 4, {.batch_first = true}};
  sn::nn::TransformerEncoderLayer layer{4, 2, {.dim_feedforward = 8}};
  sn::nn::BatchNorm1d norm{4};
  sn::nn::Sequential<Linear, sn::nn::Tanh, Linear> head{
      Linear(4, 3), sn::nn::Tanh(), Linear(3, 2)};
  sn::Tensor forward(const sn::Tensor &x) const {
    sn::Tensor h = layer(rnn(embed(x)).output);
    return head(norm(sn::squeeze(sn::narrow(h, 1, 2, 1), {1})));
  }
  SINTER_MODULE(TorchNet, embed, rnn, layer, norm, head)
};

} // namespace

TEST(TorchFile, AStateDictLoadsByName) {
  TorchNet net;
  net.load(SINTER_TEST_INPUTS "/torch-state.safetensors");
  net.eval();
  EXPECT_EQ(net.norm.num_batches_tracked.tensor().item<int64_t>(), 30);
  sn::Tensor x = sn::tensor(std::vector<int64_t>{0, 1, 2, 3, 4, 0}, {2, 3});
  std::vector<float> y = net(x).to_vector<float>();
  const float torch[] = {0.1961096f, -0.4238077f, -0.1076633f, -0.5170522f};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(y[i], torch[i], 1e-5) << i;
}
