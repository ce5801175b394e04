/// The files of make_files.py: what Python's writers made is read as Python has
/// it.
#include "runtime/params/weights/WeightFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

using namespace sinter;
using namespace sinter::runtime;
namespace fs = std::filesystem;

namespace {

const fs::path folder = SINTER_WEIGHT_FILES;

WeightFileRef open(const std::string &file) {
  auto opened = WeightFile::open(folder / file);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? *opened : nullptr;
}

/// The tensors of expected.safetensors, by file and name.
class Expected : public testing::Test {
protected:
  void SetUp() override {
    auto opened = SafetensorsFile::open(folder / "expected.safetensors");
    ASSERT_TRUE(opened) << opened.error().message;
    file.emplace(std::move(*opened));
    for (const NamedTensor &tensor : file->tensors()) {
      size_t slash = tensor.name.find('/');
      files[tensor.name.substr(0, slash)][tensor.name.substr(slash + 1)] =
          &tensor;
    }
  }

  std::optional<SafetensorsFile> file;
  std::map<std::string, std::map<std::string, const NamedTensor *>> files;
};

void compare(const WeightFile &file, const WeightTensor &tensor,
             const NamedTensor &expected) {
  EXPECT_EQ(tensor.dtype, expected.dtype);
  EXPECT_EQ(tensor.dims, expected.shape);
  auto dense = file.read(tensor);
  ASSERT_TRUE(dense) << dense.error().message;
  EXPECT_TRUE(std::ranges::equal(*dense, expected.data));
  std::span<const std::byte> view = file.view(tensor);
  if (!view.empty()) {
    EXPECT_TRUE(std::ranges::equal(view, *dense));
  }
  EXPECT_TRUE(file.check(tensor));
}

std::string textOf(const WeightFile &file, std::string_view key) {
  auto found = std::ranges::find(file.metadata(), key,
                                 &std::pair<std::string, std::string>::first);
  return found == file.metadata().end() ? "missing" : found->second;
}

} // namespace

TEST_F(Expected, AllFilesAreRead) {
  EXPECT_GE(files.size(), 14u);
  for (const auto &[name, tensors] : files) {
    SCOPED_TRACE(name);
    WeightFileRef opened = open(name);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->tensors().size(), tensors.size());
    for (const auto &[tensor, expected] : tensors) {
      SCOPED_TRACE(tensor);
      const WeightTensor *found = opened->find(tensor);
      ASSERT_TRUE(found);
      compare(*opened, *found, *expected);
    }
  }
}

TEST(WeightFiles, FormatsAreToldByContents) {
  const std::pair<const char *, const char *> formats[] = {
      {"tensors.pt", "torch zip"},
      {"tensors-legacy.pt", "torch legacy"},
      {"blocks.gguf", "GGUF v3"},
      {"flax.msgpack", "Flax msgpack"},
      {"aligned.bpk", "burnpack"},
      {"expected.safetensors", "safetensors"},
      {"model.safetensors.index.json", "index of shards"}};
  for (const auto &[name, format] : formats)
    EXPECT_EQ(open(name)->format(), format) << name;
}

TEST(WeightFiles, ViewsAndTiesAreToldOf) {
  for (const char *name : {"tensors.pt", "tensors-legacy.pt"}) {
    WeightFileRef file = open(name);
    EXPECT_EQ(file->find("same")->tiedTo, "base");
    EXPECT_EQ(file->find("row")->tiedTo, "");
    EXPECT_EQ(file->find("turned")->strides, (std::vector<int64_t>{1, 8}));
    EXPECT_EQ(file->find("repeated")->strides, (std::vector<int64_t>{1, 0}));
    EXPECT_TRUE(file->find("base")->strides.empty());
    EXPECT_EQ(file->find("base")->type, "FloatStorage");
    EXPECT_EQ(file->find("uint16")->type, "uint16");
    EXPECT_TRUE(file->view(*file->find("turned")).empty());
    EXPECT_FALSE(file->view(*file->find("row")).empty());
  }
}

TEST(WeightFiles, WhatIsBesideTensorsIsMetadata) {
  for (const char *name : {"checkpoint.pt", "checkpoint-legacy.pt"}) {
    WeightFileRef file = open(name);
    EXPECT_EQ(textOf(*file, "epoch"), "3");
    EXPECT_EQ(textOf(*file, "loss"), "0.25");
    EXPECT_EQ(textOf(*file, "best"), "0.75");
    EXPECT_EQ(textOf(*file, "count"), "5");
    EXPECT_TRUE(file->notes().empty());
    EXPECT_EQ(textOf(*file, "name"), "small");
    EXPECT_EQ(textOf(*file, "done"), "false");
    EXPECT_TRUE(textOf(*file, "history").ends_with(", ...] of 20"));
    EXPECT_EQ(textOf(*file, "optimizer.param_groups.0.params"), "[0, 1, 2, 3]");
    EXPECT_TRUE(file->find("optimizer.state.0.exp_avg"));
    EXPECT_TRUE(file->find("layers.1.bias"));
  }
  WeightFileRef flax = open("flax.msgpack");
  EXPECT_EQ(textOf(*flax, "step"), "12");
  EXPECT_EQ(textOf(*flax, "on"), "true");
  EXPECT_EQ(textOf(*flax, "name"), "adam");
  EXPECT_EQ(textOf(*open("aligned.bpk"), "producer"), "burn");
}

TEST(WeightFiles, ModulesGiveTheirStateAlone) {
  for (const char *name : {"module.pt", "module-legacy.pt"}) {
    WeightFileRef file = open(name);
    EXPECT_TRUE(file->find("first.linear.weight"));
    EXPECT_TRUE(file->find("norm.running_mean"));
    EXPECT_FALSE(file->find("first.scratch"));
    ASSERT_EQ(file->notes().size(), 1u);
    EXPECT_NE(file->notes()[0].find("__main__.Net"), std::string::npos);
  }
  EXPECT_GE(open("script.pt")->notes().size(), 1u);
}

TEST(WeightFiles, GgufTellsItsKeys) {
  WeightFileRef file = open("blocks.gguf");
  const std::pair<const char *, const char *> keys[] = {
      {"general.architecture", "small"},
      {"small.u8", "200"},
      {"small.i8", "-100"},
      {"small.u16", "60000"},
      {"small.i16", "-30000"},
      {"small.u32", "4000000000"},
      {"small.i32", "-2000000000"},
      {"small.f32", "0.25"},
      {"small.u64", "9223372036854775808"},
      {"small.i64", "-4611686018427387904"},
      {"small.f64", "1e-300"},
      {"small.bool", "true"},
      {"small.text", "two words"},
      {"small.numbers", "[1, 2, 3]"}};
  for (const auto &[key, text] : keys)
    EXPECT_EQ(textOf(*file, key), text);
  EXPECT_TRUE(textOf(*file, "small.tokens").starts_with("[t0, t1, "));
  EXPECT_TRUE(textOf(*file, "small.tokens").ends_with(", ...] of 20"));
  const WeightTensor *blocks = file->find("Q4_1");
  EXPECT_TRUE(blocks->isBlocks);
  EXPECT_EQ(blocks->type, "Q4_1");
  EXPECT_EQ(blocks->data.size(), 3u * 2 * 20);
  EXPECT_TRUE(file->view(*blocks).empty());
  EXPECT_FALSE(file->find("BF16")->isBlocks);
}

TEST(WeightFiles, ShardsAreOneModel) {
  WeightFileRef file = open("model.safetensors.index.json");
  EXPECT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(textOf(*file, "total_size"), "44");
  ASSERT_EQ(file->notes().size(), 1u);
  EXPECT_NE(file->notes()[0].find("1 of 2"), std::string::npos);
}
