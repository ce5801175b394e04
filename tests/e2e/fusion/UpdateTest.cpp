/// Gradients are scaled by their common norm: every update waits for it, and
/// all are one launch.
#include <sinter/Basic.h>
#include <sinter/optim/Adam.h>

#include <cmath>
#include <gtest/gtest.h>

namespace sn = sinter;

namespace {

struct Tensors {
  std::vector<sn::Param> params;
  SINTER_MODULE(Tensors, params)
};

Tensors makeTensors(int count) {
  Tensors model;
  for (int i = 0; i < count; ++i) {
    int64_t rows = 2 + i % 7, columns = 3 + i % 5;
    std::vector<float> values(rows * columns);
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = std::sin(float(i * 31 + k));
    model.params.emplace_back(sn::tensor(values, {rows, columns}));
  }
  return model;
}

/// One step, its gradients scaled to a norm of 1; gives the loss.
float step(Tensors &model, sn::optim::Adam &adam) {
  sn::Tensor loss = sn::zeros({}), square = sn::zeros({});
  for (const sn::Param &param : model.params)
    loss = loss + sn::sum(sn::exp(param) * param);
  sn::Gradients gradients = loss.backward(), scaled;
  for (const sn::Param &param : model.params)
    square = square + sn::sum(gradients(param) * gradients(param));
  for (const sn::Param &param : model.params)
    scaled.set(param.cell()->id(), gradients(param) / sn::sqrt(square));
  adam.step(model, std::move(scaled));
  return loss.item<float>();
}

uint64_t launchesOfStep(int tensors) {
  Tensors model = makeTensors(tensors);
  sn::optim::Adam adam;
  float first = step(model, adam);
  uint64_t before = sn::stats().launches;
  float second = step(model, adam);
  EXPECT_LT(second, first);
  return sn::stats().launches - before;
}

} // namespace

TEST(Updates, OfAllParametersAreOneLaunch) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the null device does not fuse";
  uint64_t few = launchesOfStep(3), many = launchesOfStep(12);
  // What a parameter more costs is its sums; its update costs nothing.
  EXPECT_EQ((many - few) % 9, 0u);
  uint64_t each = (many - few) / 9;
  EXPECT_EQ(few - 3 * each, 1u) << few << " and " << many;
}

namespace {

/// As in a residual net: convolutions, each with a norm that counts batches.
struct Norms {
  std::vector<sn::nn::Conv2d> convs;
  std::vector<sn::nn::BatchNorm2d> norms;
  sn::nn::Linear last{8, 4};

  explicit Norms(bool counts) {
    for (int i = 0; i < 8; ++i) {
      convs.emplace_back(8, 8, 3, sn::nn::ConvLayerOptions{.padding = 1});
      norms.emplace_back(
          8, sn::nn::BatchNormOptions{.track_running_stats = counts});
    }
  }
  sn::Tensor forward(sn::Tensor x) const {
    for (size_t i = 0; i < convs.size(); ++i)
      x = x + sn::relu(norms[i](convs[i](x)));
    return last(sn::mean(x, {2, 3}));
  }
  SINTER_MODULE(Norms, convs, norms, last)
};

uint64_t launchesOfNorms(sn::optim::Optimizer &optimizer, bool counts) {
  Norms model(counts);
  sn::Tensor x = sn::normal({4, 8, 6, 6}).eval();
  auto step = [&] {
    sn::Tensor y = model.forward(x), loss = sn::mean(y * y);
    optimizer.step(model, loss.backward());
    return loss.item<float>();
  };
  step();
  step();
  sn::Stats before = sn::stats();
  step();
  sn::Stats after = sn::stats();
  EXPECT_EQ(after.programs_run - before.programs_run, 1u);
  if (counts) {
    EXPECT_EQ(model.norms[7].num_batches_tracked.tensor().item<int64_t>(), 3);
  }
  return after.launches - before.launches;
}

} // namespace

// What counts batches is computed where it is read, and stored by a kernel that
// runs anyway.
TEST(Updates, OfCountsAreNoLaunches) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the null device does not fuse";
  sn::optim::Sgd sgd({.lr = 0.1, .momentum = 0.9}),
      other({.lr = 0.1, .momentum = 0.9});
  sn::optim::Adam adam, second;
  EXPECT_EQ(launchesOfNorms(sgd, true), launchesOfNorms(other, false));
  EXPECT_EQ(launchesOfNorms(adam, true), launchesOfNorms(second, false));
}

// Equal updates share one body and differ in their buffers.
TEST(Updates, OfEqualParametersAreApart) {
  Tensors model;
  for (int i = 0; i < 40; ++i) {
    int64_t rows = i % 3 ? 4 : 5;
    std::vector<float> values(rows * 7);
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = 0.01f * float(i * 100 + k);
    model.params.emplace_back(sn::tensor(values, {rows, 7}));
  }
  std::vector<std::vector<float>> before, gradients;
  for (const sn::Param &param : model.params)
    before.push_back(param.tensor().to_vector<float>());
  sn::Tensor loss = sn::zeros({});
  for (size_t i = 0; i < model.params.size(); ++i) {
    std::vector<float> values(before[i].size());
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = float(i) - 0.5f * float(k);
    sn::Dims dims = i % 3 ? sn::Dims{4, 7} : sn::Dims{5, 7};
    loss = loss + sn::sum(model.params[i] * sn::tensor(values, dims));
    gradients.push_back(std::move(values));
  }
  sn::optim::Sgd sgd({.lr = 0.25});
  sn::Stats start = sn::stats();
  sgd.step(model, loss.backward());
  loss.item<float>();
  EXPECT_EQ(sn::stats().programs_run - start.programs_run, 1u);
  for (size_t i = 0; i < model.params.size(); ++i) {
    std::vector<float> after = model.params[i].tensor().to_vector<float>();
    ASSERT_EQ(after.size(), before[i].size());
    for (size_t k = 0; k < after.size(); ++k)
      ASSERT_EQ(after[k], before[i][k] - 0.25f * gradients[i][k])
          << "parameter " << i << ", element " << k;
  }
}

// A weight is packed once for as many batches as it stays the same.
TEST(Weights, ArePackedUntilTheyChange) {
  if (sn::default_device() != sn::device("cpu"))
    GTEST_SKIP() << "only the cpu packs weights";
  sn::Tensor x = sn::tensor(std::vector<float>(256 * 384, 0.5f), {256, 384});
  sn::Param w(sn::tensor(std::vector<float>(384 * 512, 0.25f), {384, 512}));
  auto product = [&] {
    sn::Stats before = sn::stats();
    float first = sn::matmul(x, w).to_vector<float>().front();
    sn::Stats after = sn::stats();
    return std::pair(first, after.prepare_hits - before.prepare_hits);
  };
  EXPECT_EQ(product(), std::pair(48.0f, uint64_t(0)));
  EXPECT_EQ(product(), std::pair(48.0f, uint64_t(0)));
  EXPECT_EQ(product(), std::pair(48.0f, uint64_t(1)));
  w.set(w.tensor() * 2.0f);
  EXPECT_EQ(product().first, 96.0f);
  EXPECT_EQ(product().first, 96.0f);
  EXPECT_EQ(product(), std::pair(96.0f, uint64_t(1)));
}

namespace {

struct Net {
  sn::nn::Linear first{32, 256}, second{256, 10};
  sn::Tensor forward(const sn::Tensor &x) const {
    return second(sn::relu(first(x)));
  }
  SINTER_MODULE(Net, first, second)
};

} // namespace

// Batches of other sizes in turn: what one leaves serves the next.
TEST(Memory, StaysFlatOverShapesInTurn) {
  Net model;
  sn::optim::Adam adam;
  auto step = [&](int64_t rows) {
    sn::Tensor y = model.forward(sn::uniform({rows, 32}).eval());
    sn::Tensor loss = sn::mean(y * y);
    adam.step(model, loss.backward());
    loss.eval();
  };
  uint64_t reserved = 0;
  for (int round = 0; round < 12; ++round) {
    for (int64_t rows : {256, 100, 700, 333})
      step(rows);
    if (round == 3)
      reserved = sn::memory().reserved;
  }
  EXPECT_LE(sn::memory().reserved, reserved + reserved / 20);
}
