/// Exported models compute, from their files, the bits that they compute here.
#include "tests/e2e/export/ExportFixture.h"
#include "tests/e2e/export/FileRunner.h"
#include "tests/e2e/export/SmallNet.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>
#include <sinter/train/Lora.h>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace sn = sinter;
namespace fs = std::filesystem;
using sn::runtime::SlotKind;
using sn::test::FileRunner;
using sn::test::SmallNet;
using sn::test::valueOf;

namespace {

class ExportTest : public sn::test::ExportFixture {
protected:
  std::string path(const char *name) const { return folder / name; }
};

sn::Tensor images(int64_t count) {
  return sn::uniform({count, 64}, sn::default_generator(), -1, 1).eval();
}

void train(SmallNet &model, int steps) {
  sn::optim::Sgd sgd({.lr = 0.05});
  for (int step = 0; step < steps; ++step) {
    sn::Tensor x = images(16);
    sn::Tensor loss = sn::mean(sn::square(model(x)));
    sgd.step(model, loss.backward());
  }
}

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_F(ExportTest, ATrainedModelServesEveryBatch) {
  SmallNet model(64, 32);
  train(model, 5);
  model.eval();
  sn::export_model(path("net.sinter"), model, images(8),
                   {.inputs = {"x"},
                    .outputs = {"logits"},
                    .dynamic = {"x:0=batch"},
                    .targets = {target},
                    .metadata = {{"author", "somebody"}}});
  FileRunner file(path("net.sinter"));
  const auto &entry = file.info().entries.at(0);
  EXPECT_EQ(entry.name, "main");
  ASSERT_EQ(entry.dims.size(), 1u);
  EXPECT_EQ(entry.dims[0].name, "batch");
  EXPECT_TRUE(file.info().states.empty()) << "nothing changes";
  EXPECT_EQ(file.stored("fc1.weight"), valueOf(model.fc1.weight.tensor()));
  EXPECT_EQ(file.stored("norm.running_var"),
            valueOf(model.norm.running_var.tensor()));
  EXPECT_EQ(file.info().metadata.at(0).second, "somebody");
  for (int64_t batch : {29, 64, 1, 8}) {
    sn::Tensor x = images(batch);
    auto outputs = file.run("main", {{"x", valueOf(x)}});
    EXPECT_EQ(outputs.at("logits"), valueOf(model(x))) << batch;
  }
}

TEST_F(ExportTest, ScalarsAreConstantsWithTheirBits) {
  sn::nn::BatchNorm1d norm{4, {.eps = 0.125}};
  norm.eval();
  sn::Tensor x = sn::uniform({3, 4}).eval();
  sn::export_model(path("norm.sinter"), norm, x, {.targets = {target}});
  FileRunner file(path("norm.sinter"));
  int constants = 0;
  for (const auto &input : file.info().entries[0].inputs)
    if (input.kind == SlotKind::constant) {
      ++constants;
      EXPECT_EQ(input.scalarBits, std::bit_cast<uint32_t>(0.125f));
    }
  EXPECT_EQ(constants, 1);
  EXPECT_EQ(file.run("main", {{"input0", valueOf(x)}}).at("output0"),
            valueOf(norm(x)));
}

TEST_F(ExportTest, AModelWithAdaptersBecomesAFile) {
  sn::nn::Linear model(4, 3);
  sn::train::add_lora(model, "weight", {.rank = 2, .alpha = 2});
  sn::Tensor x = sn::uniform({3, 4}).eval();
  sn::export_model(path("lora.sinter"), model, x, {.targets = {target}});
  FileRunner file(path("lora.sinter"));
  EXPECT_EQ(file.run("main", {{"input0", valueOf(x)}}).at("output0"),
            valueOf(model(x)));
}

TEST_F(ExportTest, TheSameModelGivesTheSameBytes) {
  SmallNet model(64, 32);
  model.eval();
  sn::Tensor x = images(8);
  for (const char *name : {"one.sinter", "two.sinter"})
    sn::export_model(path(name), model, x, {.dynamic = {"input0:0=n"}});
  EXPECT_EQ(contents(path("one.sinter")), contents(path("two.sinter")));
}

TEST_F(ExportTest, WeightsMayLieBeside) {
  SmallNet model(64, 32);
  model.eval();
  sn::Tensor x = images(8);
  sn::export_model(path("net.sinter"), model, x,
                   {.targets = {target}, .weights = sn::WeightPlace::beside});
  ASSERT_TRUE(fs::exists(path("net.safetensors")));
  EXPECT_LT(fs::file_size(path("net.sinter")), 200'000u);
  FileRunner file(path("net.sinter"));
  EXPECT_EQ(file.run("main", {{"input0", valueOf(x)}}).at("output0"),
            valueOf(model(x)));
  // Others read them, too.
  SmallNet other(64, 32);
  EXPECT_EQ(file.info().externals.at(0).name, "net.safetensors");
  EXPECT_EQ(file.info().tensors.at(0).externalName, "fc1.weight");
}

TEST_F(ExportTest, SeveralTargetsAreOneFile) {
  SmallNet model(64, 32);
  model.eval();
  sn::export_model(path("net.sinter"), model, images(8),
                   {.targets = {target, "cuda:sm_90"}});
  FileRunner file(path("net.sinter"));
  EXPECT_EQ(file.info().entries[0].programs, (std::vector<uint32_t>{0, 1}));
}

TEST_F(ExportTest, FunctionsHaveStructsAndTablesOfTheirOwn) {
  sn::Tensor table =
      sn::arange(0, 12).to(sn::DType::f32).reshape({3, 4}).eval();
  auto function = [&](const sn::Tensor &x, const sn::Tensor &y) {
    return std::pair(x + table, y * 2);
  };
  sn::Tensor x = sn::uniform({3, 4}).eval(), y = sn::uniform({5}).eval();
  sn::ModelExport exported;
  exported.add("both", function, std::tuple{x, y},
               {.inputs = {"x", "y"}, .outputs = {"sum", "twice"}});
  exported.add("sum", [&](const sn::Tensor &in) { return in + table; }, x);
  exported.write(path("f.sinter"), {.targets = {target}});
  FileRunner file(path("f.sinter"));
  EXPECT_EQ(file.info().tensors.size(), 1u) << "the table, once";
  auto outputs = file.run("both", {{"x", valueOf(x)}, {"y", valueOf(y)}});
  EXPECT_EQ(outputs.at("sum"), valueOf(x + table));
  EXPECT_EQ(outputs.at("twice"), valueOf(y * 2));
  EXPECT_EQ(file.run("sum", {{"input0", valueOf(x)}}).at("output0"),
            valueOf(x + table));
}

TEST_F(ExportTest, WhatIsGivenMayBeReturnedOrStored) {
  sn::Param last(sn::zeros({3}), "last", false);
  auto function = [&](const sn::Tensor &x) {
    sn::Tensor before = last.tensor();
    last.set(x);
    return std::tuple{x, before, x + before, x, sn::full({2}, 7)};
  };
  sn::export_model(path("f.sinter"), function, sn::zeros({3}),
                   {.inputs = {"x"},
                    .outputs = {"same", "before", "sum", "again", "sevens"},
                    .targets = {target}});
  FileRunner file(path("f.sinter"));
  sn::Tensor previous = sn::zeros({3}).eval();
  for (int run = 0; run < 3; ++run) {
    sn::Tensor x = sn::uniform({3}).eval();
    auto outputs = file.run("main", {{"x", valueOf(x)}});
    EXPECT_EQ(outputs.at("same"), valueOf(x));
    EXPECT_EQ(outputs.at("again"), valueOf(x));
    EXPECT_EQ(outputs.at("before"), valueOf(previous));
    EXPECT_EQ(outputs.at("sum"), valueOf(x + previous));
    EXPECT_EQ(outputs.at("sevens"), valueOf(sn::full({2}, 7)));
    EXPECT_EQ(file.stored("last"), valueOf(x));
    previous = x;
  }
}

namespace {

struct Scaled {
  sn::Param factor{sn::full({4}, 3.0f), "factor"};
  sn::Tensor shift = sn::arange(0, 4).to(sn::DType::f32);
  sn::Tensor forward(const sn::Tensor &x) const { return x * factor + shift; }
  SINTER_MODULE(Scaled, factor, shift)
};

} // namespace

TEST_F(ExportTest, ModulesMayBeArguments) {
  SmallNet model(64, 32);
  model.eval();
  sn::Tensor x = images(3);
  sn::ModelExport exported;
  exported.add(
      "run", [](const SmallNet &net, const sn::Tensor &in) { return net(in); },
      std::tuple{model, x}, {.inputs = {"x"}});
  Scaled scaled;
  exported.add("scale", scaled, sn::zeros({2, 4}), {.inputs = {"x"}});
  exported.write(path("f.sinter"), {.targets = {target}});
  FileRunner file(path("f.sinter"));
  EXPECT_EQ(file.stored("fc2.bias"), valueOf(model.fc2.bias.tensor()));
  EXPECT_EQ(file.stored("shift"), valueOf(scaled.shift));
  EXPECT_EQ(file.run("run", {{"x", valueOf(x)}}).at("output0"),
            valueOf(model(x)));
  sn::Tensor two = sn::uniform({2, 4}).eval();
  EXPECT_EQ(file.run("scale", {{"x", valueOf(two)}}).at("output0"),
            valueOf(scaled(two)));
}

TEST_F(ExportTest, JittedFunctionsAreExported) {
  SmallNet model(64, 32);
  model.eval();
  auto jitted = sn::jit([&](const sn::Tensor &in) { return model(in); });
  sn::Tensor x = images(4);
  sn::Tensor expected = jitted(x).eval();
  sn::ModelExport exported;
  exported.name(model);
  exported.add("main", [&](const sn::Tensor &in) { return jitted(in) * 2; }, x,
               {.inputs = {"x"}});
  exported.write(path("f.sinter"), {.targets = {target}});
  FileRunner file(path("f.sinter"));
  EXPECT_EQ(file.stored("fc1.weight"), valueOf(model.fc1.weight.tensor()));
  EXPECT_EQ(file.run("main", {{"x", valueOf(x)}}).at("output0"),
            valueOf(expected * 2));
}

TEST_F(ExportTest, SixteenBitsAndIntegersAreExported) {
  SmallNet model = SmallNet(64, 32).cast(sn::DType::bf16);
  model.eval();
  sn::Tensor x = images(3).to(sn::DType::bf16).eval();
  sn::export_model(path("half.sinter"), model, x, {.targets = {target}});
  EXPECT_EQ(FileRunner(path("half.sinter"))
                .run("main", {{"input0", valueOf(x)}})
                .at("output0"),
            valueOf(model(x)));
  sn::nn::Embedding table(5, 3);
  sn::Tensor ids = sn::randint(0, 5, {4}).eval();
  sn::export_model(path("ids.sinter"), table, ids,
                   {.dynamic = {"input0:0=length"}, .targets = {target}});
  EXPECT_EQ(FileRunner(path("ids.sinter"))
                .run("main", {{"input0", valueOf(ids)}})
                .at("output0"),
            valueOf(table(ids)));
}

//===- State --------------------------------------------------------------===//

namespace {

/// Attention over what was decoded so far: a cache of eight places.
struct Decoder {
  sn::nn::Linear project{4, 12};
  sn::Param keys{sn::zeros({8, 4}), "keys", false};
  sn::Param values{sn::zeros({8, 4}), "values", false};
  sn::Param length{sn::zeros({}, {.dtype = sn::DType::i64}), "length", false};

  /// One token [4]; what it attends to [4].
  sn::Tensor decode(const sn::Tensor &token) const {
    sn::Tensor all = project(token.reshape({1, 4}));
    sn::Tensor query = sn::narrow(all, 1, 0, 4), key = sn::narrow(all, 1, 4, 4);
    sn::Tensor value = sn::narrow(all, 1, 8, 4);
    sn::Tensor place = length.tensor();
    sn::Tensor here = sn::arange(0, 8).reshape({8, 1}) == place.reshape({1, 1});
    sn::Tensor newKeys = sn::where(here, key, keys.tensor());
    sn::Tensor newValues = sn::where(here, value, values.tensor());
    const_cast<sn::Param &>(keys).set(newKeys);
    const_cast<sn::Param &>(values).set(newValues);
    const_cast<sn::Param &>(length).set(place + 1);
    sn::Tensor scores = sn::matmul(query, sn::swapaxes(newKeys, 0, 1));
    sn::Tensor seen = sn::arange(0, 8).reshape({1, 8}) <= place.reshape({1, 1});
    sn::Tensor weights = sn::softmax(sn::where(seen, scores, -1e9f), -1);
    return sn::matmul(weights, newValues).reshape({4});
  }
  SINTER_MODULE(Decoder, project, keys, values, length)
};

} // namespace

TEST_F(ExportTest, ADecoderKeepsItsCache) {
  Decoder model;
  sn::ModelExport exported;
  exported.name(model);
  exported.add("decode",
               [&](const sn::Tensor &token) { return model.decode(token); },
               sn::zeros({4}), {.inputs = {"token"}, .outputs = {"context"}});
  exported.write(path("decoder.sinter"), {.targets = {target}});
  FileRunner file(path("decoder.sinter"));
  ASSERT_EQ(file.info().states.size(), 3u);
  EXPECT_EQ(file.info().states[0].name, "keys");
  EXPECT_TRUE(file.info().tensors[file.info().states[0].initial].zeros);
  sn::no_grad guard;
  for (int step = 0; step < 8; ++step) {
    sn::Tensor token = sn::uniform({4}).eval();
    auto outputs = file.run("decode", {{"token", valueOf(token)}});
    EXPECT_EQ(outputs.at("context"), valueOf(model.decode(token))) << step;
    EXPECT_EQ(file.stored("keys"), valueOf(model.keys.tensor())) << step;
  }
}

TEST_F(ExportTest, StateIsWhatTheLastUpdateMakes) {
  sn::Param count(sn::zeros({2}), "count", false);
  auto twice = [&](const sn::Tensor &x) {
    count.set(count.tensor() + x);
    count.set(count.tensor() * 2);
    return count.tensor() + 1;
  };
  sn::export_model(path("f.sinter"), twice, sn::zeros({2}),
                   {.inputs = {"x"}, .targets = {target}});
  FileRunner file(path("f.sinter"));
  sn::Tensor x = sn::full({2}, 3.0f).eval();
  for (int run = 0; run < 3; ++run) {
    sn::Tensor expected = twice(x);
    EXPECT_EQ(file.run("main", {{"x", valueOf(x)}}).at("output0"),
              valueOf(expected));
    EXPECT_EQ(file.stored("count"), valueOf(count.tensor()));
  }
}

TEST_F(ExportTest, RandomNumbersGoOnFromRunToRun) {
  SmallNet model(64, 32);
  auto noisy = [&](const sn::Tensor &x) {
    return sn::dropout(sn::dropout(x, 0.5), 0.25);
  };
  sn::export_model(
      path("noise.sinter"), noisy, images(8),
      {.inputs = {"x"}, .dynamic = {"x:0=batch"}, .targets = {target}});
  FileRunner file(path("noise.sinter"));
  sn::Tensor x29 = images(29), x6 = images(6);
  file.setGenerator(sn::default_generator());
  for (const sn::Tensor &x : {x29, x6, x29}) {
    sn::Tensor expected = noisy(x);
    EXPECT_EQ(file.run("main", {{"x", valueOf(x)}}).at("output0"),
              valueOf(expected));
  }
}

TEST_F(ExportTest, InputsAreInTheOrderOfTheArguments) {
  sn::Tensor x = sn::tensor({1.0F, 2.0F}), y = sn::tensor({5.0F, 9.0F});
  auto names = [&](auto function) {
    sn::export_model(path("order.sinter"), function, std::tuple{x, y},
                     {.inputs = {"x", "y"}, .targets = {target}});
    FileRunner file(path("order.sinter"));
    EXPECT_EQ(
        file.run("main", {{"x", valueOf(x)}, {"y", valueOf(y)}}).at("output0"),
        valueOf(function(x, y)));
    std::string text;
    for (const auto &input : file.info().entries[0].inputs)
      if (input.kind == SlotKind::given)
        text += input.name;
    return text;
  };
  using T = const sn::Tensor &;
  EXPECT_EQ(names([](T a, T b) { return a - b; }), "xy");
  EXPECT_EQ(names([](T a, T b) { return b - a; }), "xy");
  EXPECT_EQ(names([](T a, T b) { return sn::exp(b) * 2.0 - a * b; }), "xy");
}

TEST_F(ExportTest, WhatGoesAroundAnAxisFixesIt) {
  auto far = [](const sn::Tensor &x) { return sn::roll(x, {5}, {0}); };
  auto near = [](const sn::Tensor &x) { return sn::roll(x, {2}, {0}); };
  sn::Tensor x = sn::arange(4).to(sn::DType::f32).eval();
  sn::ExportOptions options{
      .inputs = {"x"}, .dynamic = {"x:0=n"}, .targets = {target}};
  EXPECT_THROW(sn::export_model(path("far.sinter"), far, x, options),
               sn::Error);
  sn::export_model(path("near.sinter"), near, x, options);
  FileRunner file(path("near.sinter"));
  for (int64_t n : {3, 4, 9}) {
    sn::Tensor longer = sn::arange(n).to(sn::DType::f32).eval();
    EXPECT_EQ(file.run("main", {{"x", valueOf(longer)}}).at("output0"),
              valueOf(near(longer)))
        << n;
  }
}

TEST_F(ExportTest, AFailureLeavesWhatWasThere) {
  SmallNet model(64, 32);
  model.eval();
  sn::Tensor x = images(2);
  sn::ModelExport file;
  file.add("good", model, x);
  sn::Param other(sn::ones({2, 64}), "other", false);
  EXPECT_THROW(file.add(
                   "bad",
                   [&](const sn::Tensor &first, const sn::Tensor &) {
                     other.set(other.tensor() + 1.0);
                     return first + 1.0;
                   },
                   std::tuple{x, x}),
               sn::Error);
  sn::FileOptions beside{.targets = {target},
                         .weights = sn::WeightPlace::beside};
  file.write(path("net.v1"), beside);
  EXPECT_TRUE(fs::exists(path("net.v1.safetensors")));
  EXPECT_TRUE(FileRunner(path("net.v1")).info().states.empty());

  std::string weights = contents(path("net.v1.safetensors"));
  SmallNet trained(64, 32);
  trained.eval();
  EXPECT_THROW(sn::export_model(path("net.v1"), trained, x,
                                {.inputs = {"x\ny"},
                                 .targets = {target},
                                 .weights = sn::WeightPlace::beside}),
               sn::Error);
  EXPECT_EQ(contents(path("net.v1.safetensors")), weights);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}
