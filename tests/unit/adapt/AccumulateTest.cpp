/// Gradients of small batches as those of a big one.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/Record.h>
#include <sinter/nn/Losses.h>
#include <sinter/optim/Adam.h>
#include <sinter/optim/Sgd.h>
#include <sinter/train/Accumulate.h>
#include <sinter/train/Freeze.h>

#include <cmath>

namespace sn = sinter;

namespace {

const sn::Tensor &inputs() {
  static auto *all = new sn::Tensor(waves({12, 4}, 0.37));
  return *all;
}
sn::Tensor lossOf(const Mlp &model, const sn::Tensor &x) {
  sn::Tensor y = model(x);
  return sn::mean(y * y);
}
sn::Tensor part(int64_t from, int64_t size) {
  return sn::narrow(inputs(), 0, from, size);
}

} // namespace

TEST(GradientsAccumulator, SmallBatchesAreAsOneBig) {
  Mlp model;
  sn::Gradients whole = lossOf(model, inputs()).backward();
  sn::train::GradientsAccumulator sums;
  for (int64_t i = 0; i < 3; ++i)
    sums.accumulate(model, lossOf(model, part(4 * i, 4)).backward());
  EXPECT_EQ(sums.count(), 3);
  sn::Gradients mean = sums.take_mean();
  EXPECT_EQ(sums.count(), 0);
  model.visit([&](const std::string &, const sn::Param &param) {
    expectNear(mean(param), whole(param), 1e-6);
  });
}

TEST(GradientsAccumulator, RowsOfUnevenBatchesWeigh) {
  Mlp model;
  sn::Gradients whole = lossOf(model, inputs()).backward();
  sn::train::GradientsAccumulator sums;
  for (auto [from, size] : {std::pair{0, 5}, {5, 5}, {10, 2}})
    sums.accumulate(model, lossOf(model, part(from, size)).backward(), size);
  sn::Gradients mean = sums.take_mean();
  expectNear(mean(model.fc1.weight), whole(model.fc1.weight), 1e-6);
  sums.accumulate(model, whole, 2);
  expectNear(sums.take()(model.fc2.bias), whole(model.fc2.bias) * 2, 1e-6);
}

TEST(GradientsAccumulator, TrainsAsTheBigBatchDoes) {
  Mlp model, other = model;
  sn::optim::Adam adam({.lr = 0.01}), second({.lr = 0.01});
  sn::train::GradientsAccumulator sums;
  for (int step = 0; step < 4; ++step) {
    adam.step(model, lossOf(model, inputs()).backward());
    for (int64_t i = 0; i < 3; ++i)
      sums.accumulate(other, lossOf(other, part(4 * i, 4)).backward());
    second.step(other, sums.take_mean());
  }
  expectValues(valuesOf(other), valuesOf(model), 1e-5);
}

TEST(GradientsAccumulator, EverySmallBatchIsTheSameProgramInPlace) {
  Mlp model;
  sn::optim::Sgd sgd({.lr = 0.1});
  sn::train::GradientsAccumulator sums;
  auto micro = [&](int i) {
    sn::Tensor loss = lossOf(model, waves({4, 4}, 0.1 * (i + 1)));
    sums.accumulate(model, loss.backward());
    loss.item<float>();
  };
  auto step = [&] {
    sn::Tensor loss = lossOf(model, waves({4, 4}, 0.9));
    sums.accumulate(model, loss.backward());
    sgd.step(model, sums.take_mean());
    loss.item<float>();
  };
  for (int i = 0; i < 3; ++i)
    micro(i);
  step();
  micro(0);
  for (int i = 1; i < 6; ++i) {
    Counts counts = countsOf([&] { micro(i); });
    EXPECT_EQ(counts.runs, 1u) << i;
    EXPECT_EQ(counts.programs, 0u) << i;
    EXPECT_EQ(counts.refused, 0u) << i;
  }
  Counts counts = countsOf([&] { step(); });
  EXPECT_EQ(counts.runs, 1u);
  EXPECT_EQ(counts.programs, 0u);
}

TEST(GradientsAccumulator, NobodyNeedsToReadBetween) {
  Mlp model;
  sn::train::GradientsAccumulator sums;
  auto micro = [&](int i) {
    sums.accumulate(model,
                    lossOf(model, waves({4, 4}, 0.1 * (i + 1))).backward());
  };
  micro(0);
  micro(1);
  micro(2);
  Counts counts = countsOf([&] {
    for (int i = 3; i < 8; ++i)
      micro(i);
  });
  EXPECT_EQ(counts.programs, 0u);
  EXPECT_EQ(counts.runs, 5u);
}

TEST(GradientsAccumulator, NotTheSumOfAnOverflow) {
  Mlp model;
  sn::train::GradientsAccumulator sums;
  sums.accumulate(model, (lossOf(model, inputs()) * INFINITY).backward());
  sums.take();
  sn::Gradients good = lossOf(model, inputs()).backward();
  sums.accumulate(model, good);
  expectNear(sums.take()(model.fc1.bias), good(model.fc1.bias), 1e-7);
}

TEST(GradientsAccumulator, LeavesOutWhatHasNone) {
  Mlp model;
  sn::train::freeze(model, "fc1.weight");
  sn::train::GradientsAccumulator sums;
  sums.accumulate(model, lossOf(model, inputs()).backward());
  sn::Gradients gradients = sums.take();
  EXPECT_FALSE(gradients.contains(model.fc1.weight));
  EXPECT_EQ(gradients.size(), 3u);
}

TEST(GradientsAccumulator, SumsOfHalvesAreWide) {
  sn::nn::Linear model = sn::nn::Linear(2, 2).cast(sn::DType::bf16);
  sn::train::GradientsAccumulator sums;
  for (int i = 0; i < 300; ++i) // in bf16 it would stop at 256
    sums.accumulate(model,
                    sn::sum(model(sn::ones({1, 2}, {.dtype = sn::DType::bf16})))
                        .backward());
  sn::Gradients gradients = sums.take();
  EXPECT_EQ(gradients(model.bias).dtype(), sn::DType::f32);
  EXPECT_EQ(gradients(model.bias).to_vector<float>()[0], 300);
}

TEST(GradientsAccumulator, FilesHoldTheSums) {
  std::string file = testing::TempDir() + "/sums.safetensors";
  Mlp model;
  sn::Gradients one = lossOf(model, inputs()).backward();
  sn::train::GradientsAccumulator sums;
  sums.accumulate(model, one);
  sums.save(file);
  sn::train::GradientsAccumulator other(model);
  other.load(file);
  other.accumulate(model, one);
  expectNear(other.take_mean()(model.fc2.weight), one(model.fc2.weight), 1e-7);
  std::remove(file.c_str());
}

TEST(GradientsAccumulator, GoesOnBetweenTwoBatches) {
  Mlp model;
  auto add = [&](sn::train::GradientsAccumulator &sums, int64_t from) {
    sums.accumulate(model, lossOf(model, part(from, 4)).backward());
  };
  sn::train::GradientsAccumulator whole, first;
  for (auto *sums : {&whole, &first})
    add(*sums, 0);
  sn::train::GradientsAccumulator second(model);
  sn::load_record(second, sn::into_record(first));
  EXPECT_EQ(second.count(), 0);
  second.resume(model, first.count(), first.paths());
  for (auto *sums : {&whole, &second})
    add(*sums, 4);
  EXPECT_EQ(second.count(), 2);
  EXPECT_EQ(second.paths(), whole.paths());
  sn::Gradients wanted = whole.take_mean(), got = second.take_mean();
  model.visit([&](const std::string &, const sn::Param &param) {
    EXPECT_EQ(got(param).to_vector<float>(), wanted(param).to_vector<float>());
  });
  EXPECT_THROW(second.resume(model, 1, {"fc9.weight"}), sn::Error);
  EXPECT_THROW(second.resume(model, 1, {}), sn::Error);
}

TEST(GradientsAccumulator, SumsDrawNoRandomNumbers) {
  Mlp model;
  sn::Gradients gradients = lossOf(model, part(0, 4)).backward();
  uint64_t before = sn::default_generator().counter();
  sn::train::GradientsAccumulator sums;
  sums.accumulate(model, gradients);
  EXPECT_EQ(sn::default_generator().counter(), before);
}

TEST(GradientsAccumulator, Rejects) {
  Mlp model;
  sn::nn::Linear other(4, 2);
  sn::train::GradientsAccumulator sums;
  expectRejected("accumulate", "nothing was accumulated", [&] { sums.take(); });
  sn::Gradients gradients = lossOf(model, inputs()).backward();
  expectRejected("accumulate", "none of the model's",
                 [&] { sums.accumulate(other, gradients); });
  for (double weight : {0.0, -1.0, double(NAN), double(INFINITY)})
    expectRejected("accumulate", "weight",
                   [&] { sums.accumulate(model, gradients, weight); });
}
