/// Weights of files in modules.
#include "tests/unit/weights/WeightFiles.h"

#include <sinter/Basic.h>
#include <sinter/Memory.h>
#include <sinter/Weights.h>
#include <sinter/nn/Linear.h>
#include <sinter/optim/Sgd.h>

#include <gmock/gmock.h>

#include <numeric>

using namespace sinter;
using namespace sinter::weights_test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Net {
  nn::Linear fc{3, 2};
  Param steps{tensor(std::vector<int64_t>{0}, {}), "steps", false};
  Tensor table = tensor({1.f, 2.f});
  SINTER_MODULE(Net, fc, steps, table)
};

struct Tied {
  Param wte{"wte", {2}, init::zeros()};
  Param head{"head", {2}, init::zeros()};
  Tied() { head.tie(wte); }
  SINTER_MODULE(Tied, wte, head)
};

struct Conv {
  Param weight{"weight", {4, 3, 2, 1}, init::zeros()};
  SINTER_MODULE(Conv, weight)
};

/// Everything that Net has, before each name `prefix`.
StoredTensors netTensors(const std::string &prefix = "") {
  StoredTensors stored;
  stored.floats(prefix + "fc.weight", {2, 3}, {1, 2, 3, 4, 5, 6})
      .floats(prefix + "fc.bias", {2}, {7, 8})
      .add<int64_t>(prefix + "steps", DType::i64, {}, {9});
  return stored;
}

std::vector<float> valuesOf(const Param &param) {
  return param.tensor().to_vector<float>();
}

class LoadState : public WeightFiles {};

} // namespace

TEST_F(LoadState, GivesAModuleItsValues) {
  Net net;
  LoadReport report = load_state(net, write(netTensors()));
  EXPECT_THAT(report.loaded, ElementsAre("fc.weight", "fc.bias", "steps"));
  EXPECT_TRUE(report.complete());
  EXPECT_TRUE(report.converted.empty());
  EXPECT_THAT(valuesOf(net.fc.weight), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(valuesOf(net.fc.bias), ElementsAre(7, 8));
  EXPECT_EQ(net.steps.tensor().item<int64_t>(), 9);
  EXPECT_THAT(net.table.to_vector<float>(), ElementsAre(1, 2));
  EXPECT_EQ(report.text(), "3 loaded\n");
}

TEST_F(LoadState, ReadsAConstantThatTheFileHas) {
  Net net;
  StoredTensors stored = netTensors();
  stored.floats("table", {2}, {3, 4});
  load_state(net, write(stored));
  EXPECT_THAT(net.table.to_vector<float>(), ElementsAre(3, 4));
}

TEST_F(LoadState, ListsEverythingThatDoesNotFit) {
  Net net;
  std::vector<float> before = valuesOf(net.fc.bias);
  StoredTensors stored;
  stored.floats("fc.weight", {3, 2}, {1, 2, 3, 4, 5, 6})
      .floats("steps", {}, {1})
      .floats("fc.scale", {2}, {1, 2});
  std::string path = write(stored);
  EXPECT_THAT(
      problem([&] { load_state(net, path); }),
      AllOf(HasSubstr("invalid_argument: load_state: " + path),
            HasSubstr("missing 'fc.bias' f32[2]"),
            HasSubstr("'fc.weight' is f32[3,2], the module has f32[2,3]"),
            HasSubstr("'steps' is f32[], the module has i64[]"),
            HasSubstr("unexpected 'fc.scale' f32[2]")));
  LoadReport report = load_state(net, path, {.strict = false});
  EXPECT_THAT(report.missing, ElementsAre("fc.bias"));
  EXPECT_THAT(report.unused, ElementsAre("fc.scale"));
  ASSERT_EQ(report.mismatched.size(), 2u);
  EXPECT_EQ(report.mismatched[0].path, "fc.weight");
  EXPECT_EQ(report.mismatched[0].why, "shapes differ");
  EXPECT_EQ(report.mismatched[1].why, "dtypes differ");
  EXPECT_FALSE(report.complete());
  EXPECT_TRUE(report.loaded.empty());
  EXPECT_EQ(valuesOf(net.fc.bias), before);
  EXPECT_THAT(report.text(), AllOf(HasSubstr("1 missing:\n  fc.bias"),
                                   HasSubstr("2 mismatched:\n  fc.weight is "
                                             "f32[3,2], the module has")));
}

TEST_F(LoadState, LoadsWhatFitsWhenAsked) {
  Net net;
  std::vector<float> before = valuesOf(net.fc.bias);
  StoredTensors stored;
  stored.floats("fc.weight", {2, 3}, {1, 2, 3, 4, 5, 6});
  LoadReport report = load_state(net, write(stored), {.strict = false});
  EXPECT_THAT(report.loaded, ElementsAre("fc.weight"));
  EXPECT_EQ(valuesOf(net.fc.weight)[5], 6);
  EXPECT_EQ(valuesOf(net.fc.bias), before);
}

TEST_F(LoadState, CountsProblemsOfWhichThereAreMany) {
  Net net;
  StoredTensors stored = netTensors();
  for (int i = 0; i < 50; ++i)
    stored.floats("extra." + std::to_string(i), {1}, {0});
  std::string path = write(stored);
  EXPECT_THAT(problem([&] { load_state(net, path); }),
              HasSubstr("30 more are unexpected"));
  EXPECT_THAT(load_state(net, path, {.strict = false}).text(3),
              HasSubstr("\n50 unused:\n  extra.0\n  extra.1\n  extra.10\n  and "
                        "47 more\n"));
}

TEST_F(LoadState, NamesArePrefixedRenamedAndMapped) {
  Net net;
  StoredTensors stored = netTensors("state_dict.module.");
  stored.floats("optimizer.lr", {1}, {1});
  std::string path = write(stored);
  LoadReport report = load_state(
      net, path, {.top_level_key = "state_dict", .prefix = "module."});
  EXPECT_TRUE(report.complete());
  EXPECT_THAT(report.notes,
              ElementsAre("1 tensors are not below 'state_dict'"));
  EXPECT_THAT(problem([&] { load_state(net, path); }),
              HasSubstr("names of the file begin with 'state_dict.module.'"));
  EXPECT_THAT(problem([&] { load_state(net, path, {.top_level_key = "ema"}); }),
              HasSubstr("has no tensor below 'ema'"));
  // Both lead to one parameter.
  EXPECT_THAT(problem([&] {
                load_state(net, path, {.map_key = [](const std::string &) {
                             return std::optional<std::string>("fc.bias");
                           }});
              }),
              HasSubstr("are both 'fc.bias'"));
}

TEST_F(LoadState, OnlySomeAreTouched) {
  Net net;
  std::vector<float> before = valuesOf(net.fc.weight);
  LoadReport report = load_state(net, write(netTensors()), {.only = "bias$"});
  EXPECT_TRUE(report.complete());
  EXPECT_THAT(report.loaded, ElementsAre("fc.bias"));
  EXPECT_EQ(valuesOf(net.fc.weight), before);
}

TEST_F(LoadState, FloatsBecomeTheParameters) {
  Net net = Net().cast(DType::bf16);
  StoredTensors stored;
  stored.floats("fc.weight", {2, 3}, {1, 2, 3, 4, 5, 1.00390625f})
      .add<double>("fc.bias", DType::f64, {2}, {7, 8})
      .add<int64_t>("steps", DType::i64, {}, {9});
  std::string path = write(stored);
  LoadReport report = load_state(net, path);
  ASSERT_EQ(report.converted.size(), 2u);
  EXPECT_EQ(report.converted[0].path, "fc.weight");
  EXPECT_EQ(report.converted[0].from, "F32");
  EXPECT_EQ(report.converted[0].to, DType::bf16);
  // Half way, to the even one.
  EXPECT_THAT(valuesOf(net.fc.weight), ElementsAre(1, 2, 3, 4, 5, 1));
  EXPECT_THAT(valuesOf(net.fc.bias), ElementsAre(7, 8));
  EXPECT_THAT(problem([&] { load_state(net, path, {.convert = false}); }),
              HasSubstr("'fc.bias' is f64[2], the module has bf16[2]"));
}

TEST_F(LoadState, KernelsOfFlaxAreTurned) {
  Net net;
  StoredTensors stored;
  stored.floats("fc/kernel", {3, 2}, {1, 4, 2, 5, 3, 6})
      .floats("fc/bias", {2}, {7, 8})
      .add<int64_t>("steps", DType::i64, {}, {9});
  LoadStateOptions options{.rename = {{"/", "."}, {"kernel$", "weight"}},
                           .layout = WeightLayout::flax};
  load_state(net, write(stored), options);
  EXPECT_THAT(valuesOf(net.fc.weight), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(LoadState, KernelsOfConvolutionsAreTurned) {
  Conv conv;
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.f);
  StoredTensors stored; // [height, width, in, out]
  stored.floats("kernel", {2, 1, 3, 4}, values);
  load_state(conv, write(stored),
             {.rename = {{"kernel", "weight"}}, .layout = WeightLayout::flax});
  std::vector<float> weight = valuesOf(conv.weight);
  for (int out = 0; out < 4; ++out)
    for (int in = 0; in < 3; ++in)
      for (int row = 0; row < 2; ++row)
        EXPECT_EQ(weight[(out * 3 + in) * 2 + row],
                  values[(row * 3 + in) * 4 + out]);
}

TEST_F(LoadState, AxesAreTheCallers) {
  Net net;
  StoredTensors stored = netTensors();
  stored.tensors[0].shape = {3, 2};
  std::string path = write(stored);
  auto turned = [](const std::string &name, const WeightInfo &tensor) {
    EXPECT_EQ(tensor.name, name);
    return name == "fc.weight" ? std::vector<int64_t>{1, 0}
                               : std::vector<int64_t>();
  };
  load_state(net, path, {.axes = turned});
  EXPECT_THAT(valuesOf(net.fc.weight), ElementsAre(1, 3, 5, 2, 4, 6));
  auto wrong = [](const std::string &, const WeightInfo &) {
    return std::vector<int64_t>{0, 0};
  };
  EXPECT_THAT(problem([&] { load_state(net, path, {.axes = wrong}); }),
              HasSubstr("axes [0,0] are no order of those of"));
}

TEST_F(LoadState, TiedParametersAreOne) {
  StoredTensors one, both, different;
  one.floats("head", {2}, {1, 2});
  both.floats("head", {2}, {3, 4}).floats("wte", {2}, {3, 4});
  different.floats("head", {2}, {5, 6}).floats("wte", {2}, {7, 8});
  Tied net;
  LoadReport report = load_state(net, write(one));
  EXPECT_THAT(report.loaded, ElementsAre("wte", "head"));
  EXPECT_THAT(valuesOf(net.wte), ElementsAre(1, 2));
  load_state(net, write(both));
  EXPECT_THAT(valuesOf(net.head), ElementsAre(3, 4));
  std::string path = write(different);
  EXPECT_THAT(problem([&] { load_state(net, path); }),
              HasSubstr("'head' f32[2]: it is tied to 'wte', which has other "
                        "values in the file"));
  EXPECT_THAT(valuesOf(net.head), ElementsAre(3, 4));
  EXPECT_EQ(load_state(net, path, {.strict = false}).mismatched.size(), 1u);
  EXPECT_THAT(valuesOf(net.head), ElementsAre(7, 8));
}

TEST_F(LoadState, TakesAStateThatWasChanged) {
  StateDict state = read_state(write(netTensors()));
  state.set("fc.bias", tensor({1.5f, 2.5f}) * 2);
  state.set("fc.weight", ones({3, 2}, {.dtype = DType::f16}));
  Net net;
  auto turned = [](const std::string &name, const WeightInfo &) {
    return name == "fc.weight" ? std::vector<int64_t>{1, 0}
                               : std::vector<int64_t>();
  };
  LoadReport report = load_state(net, state, {.axes = turned});
  EXPECT_EQ(report.converted.size(), 1u);
  EXPECT_THAT(valuesOf(net.fc.bias), ElementsAre(3, 5));
  EXPECT_EQ(valuesOf(net.fc.weight), std::vector<float>(6, 1));
  // The state's tensor and the parameter are apart.
  net.fc.bias.set(net.fc.bias.tensor() + 1);
  EXPECT_THAT(valuesOf(net.fc.bias), ElementsAre(4, 6));
  EXPECT_THAT(state.at("fc.bias").to_vector<float>(), ElementsAre(3, 5));
}

TEST_F(LoadState, MapsFilesAndTrains) {
  std::string path = write(netTensors());
  auto bytes = [&] {
    auto file = runtime::SafetensorsFile::open(path);
    auto all = file->bytes();
    return std::vector<std::byte>(all.begin(), all.end());
  };
  std::vector<std::byte> before = bytes();
  Net net = Net().to("cpu");
  load_state(net, path); // first values are no more
  size_t used = memory(device("cpu")).in_use;
  load_state(net, path, {.mmap = true});
  EXPECT_LT(memory(device("cpu")).in_use, used);
  optim::Sgd sgd({.lr = 0.5});
  for (int step = 0; step < 2; ++step)
    sgd.step(net, sum(net.fc.bias.tensor()).backward());
  EXPECT_THAT(valuesOf(net.fc.bias), ElementsAre(6, 7));
  EXPECT_EQ(bytes(), before);
}

TEST_F(LoadState, APendingUpdateIsReplaced) {
  Net net;
  net.fc.bias.set(net.fc.bias.tensor() * 0);
  load_state(net, write(netTensors()));
  EXPECT_THAT(valuesOf(net.fc.bias), ElementsAre(7, 8));
}

TEST_F(LoadState, RecordIdsGoWithTheirTensors) {
  Net saved, net;
  std::string path = folder / "saved.safetensors";
  saved.save(path);
  load_state(net, path);
  EXPECT_EQ(net.fc.weight.record_id(), saved.fc.weight.record_id());
}
