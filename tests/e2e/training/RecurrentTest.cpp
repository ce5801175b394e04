/// A recurrent network: a training step is one program, and its kernels do not
/// depend on the number of steps.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

using namespace training;

namespace {

/// A gated recurrent unit.
struct Gru {
  sn::nn::Linear input, hidden;
  int64_t size;

  Gru(int64_t features, int64_t size)
      : input(features, 3 * size), hidden(size, 3 * size), size(size) {}

  sn::Tensor step(const sn::Tensor &h, const sn::Tensor &x) const {
    sn::Tensor a = input(x), b = hidden(h);
    auto part = [&](const sn::Tensor &of, int64_t i) {
      return sn::slice(of, {0, i * size}, {of.dim(0), (i + 1) * size}, {1, 1});
    };
    sn::Tensor reset = sn::sigmoid(part(a, 0) + part(b, 0));
    sn::Tensor update = sn::sigmoid(part(a, 1) + part(b, 1));
    sn::Tensor next = sn::tanh(part(a, 2) + reset * part(b, 2));
    return (1.0 - update) * next + update * h;
  }
  SINTER_MODULE(Gru, input, hidden)
};

struct Sequence {
  sn::Tensor x, h, target;
};

Sequence makeSequence(int64_t steps, int64_t batch, int64_t features,
                      int64_t size) {
  auto wave = [](const sn::Dims &shape, double phase) {
    int64_t count = 1;
    for (sn::Dim dim : shape)
      count *= dim.value;
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = float(std::sin(0.37 * double(i) + phase));
    return sn::tensor(values, shape).eval();
  };
  return {wave({steps, batch, features}, 0), wave({batch, size}, 1),
          wave({batch, size}, 2)};
}

sn::Tensor looped(const Gru &gru, const Sequence &data) {
  return sn::scan(
             [&](auto h, auto x) {
               return sn::ScanStep{{gru.step(h[0], x[0])}, {}};
             },
             {data.h}, {data.x})
      .carries[0];
}

sn::Tensor unrolled(const Gru &gru, const Sequence &data) {
  sn::Tensor h = data.h;
  sn::Dim batch = data.x.dim(1), features = data.x.dim(2);
  for (int64_t t = 0; t < data.x.dim(0).value; ++t)
    h = gru.step(
        h, sn::slice(data.x, {t, 0, 0}, {t + 1, batch, features}, {1, 1, 1})
               .reshape({batch, features}));
  return h;
}

sn::Tensor lossOf(const sn::Tensor &h, const Sequence &data) {
  sn::Tensor error = h - data.target;
  return sn::mean(error * error);
}

size_t count(const std::string &text, const std::string &part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1))
    ++times;
  return times;
}

} // namespace

TEST(Recurrent, AStepIsOneProgram) {
  Gru gru(8, 32);
  sn::optim::Sgd sgd({.lr = 0.1});
  Sequence data = makeSequence(12, 16, 8, 32);
  float first = 0, last = 0;
  for (int step = 0; step < 6; ++step) {
    sn::reset_stats();
    sn::Tensor loss = lossOf(looped(gru, data), data);
    sgd.step(gru, loss.backward());
    last = loss.item<float>();
    first = step == 0 ? last : first;
    if (step > 1) {
      EXPECT_EQ(sn::stats().programs_run, 1u);
    }
  }
  EXPECT_LT(last, first);
}

TEST(Recurrent, KernelsDoNotDependOnTheSteps) {
  Gru gru(8, 32);
  auto launchesOf = [&](int64_t steps) {
    Sequence data = makeSequence(steps, 16, 8, 32);
    sn::Tensor loss = lossOf(looped(gru, data), data);
    std::vector<sn::Tensor> values{loss};
    for (const auto &entry : loss.backward())
      values.push_back(entry.gradient);
    std::string plan = sn::inspect(values, "plan");
    EXPECT_EQ(count(plan, "program.for "), 2u);
    return count(plan, "program.launch @");
  };
  size_t few = launchesOf(8);
  EXPECT_EQ(launchesOf(32), few);
  EXPECT_LE(few, 30u);
}

TEST(Recurrent, EqualsTheUnrolledLoop) {
  Gru gru(8, 32);
  Sequence data = makeSequence(9, 16, 8, 32);
  sn::Tensor a = lossOf(looped(gru, data), data);
  sn::Tensor b = lossOf(unrolled(gru, data), data);
  sn::Gradients got = a.backward(), expected = b.backward();
  EXPECT_NEAR(a.item<float>(), b.item<float>(), 1e-5);
  ASSERT_EQ(got.size(), expected.size());
  auto other = expected.begin();
  for (const auto &entry : got) {
    const sn::Tensor *find = expected.findKey(entry.key);
    ASSERT_TRUE(find);
    auto mine = entry.gradient.to_vector<float>();
    auto theirs = find->to_vector<float>();
    for (size_t i = 0; i < mine.size(); ++i)
      EXPECT_NEAR(mine[i], theirs[i], 1e-5);
    ++other;
  }
}
