/// Normalizations: names, running statistics and what a step runs.
#include "tests/unit/nn/Modules.h"

#include <filesystem>
#include <unistd.h>

namespace sn = sinter;
using Names = std::vector<std::string>;
using Values = std::vector<float>;

TEST(BatchNorm, NamesAreThoseOfPyTorch) {
  EXPECT_EQ(namesOf(sn::nn::BatchNorm2d(3)),
            (Names{"weight", "bias", "running_mean", "running_var",
                   "num_batches_tracked"}));
  EXPECT_EQ(namesOf(sn::nn::BatchNorm1d(3, {.track_running_stats = false})),
            (Names{"weight", "bias"}));
  EXPECT_EQ(namesOf(sn::nn::BatchNorm1d(3, {.affine = false})),
            (Names{"running_mean", "running_var", "num_batches_tracked"}));
}

TEST(BatchNorm, StatisticsAreNoParameters) {
  sn::nn::BatchNorm1d norm(3);
  EXPECT_EQ(norm.num_params(), 6);
  EXPECT_FALSE(norm.running_mean.requires_grad());
  norm.require_grad();
  EXPECT_FALSE(norm.running_var.requires_grad());
  norm.require_grad(false);
  EXPECT_EQ(norm.num_params(), 6);
}

TEST(BatchNorm, TrainingMovesStatisticsAndUseTakesThem) {
  sn::nn::BatchNorm1d norm(1, {.eps = 0});
  sn::Tensor x = sn::tensor({{1.f}, {3.f}});
  EXPECT_EQ(norm(x).to_vector<float>(), (Values{-1, 1}));
  EXPECT_FLOAT_EQ(norm.running_mean.tensor().item<float>(), 0.2f);
  EXPECT_FLOAT_EQ(norm.running_var.tensor().item<float>(), 0.9f + 0.1f * 2);
  EXPECT_EQ(norm.num_batches_tracked.tensor().item<int64_t>(), 1);
  norm.eval();
  float y = norm(sn::tensor({{1.3f}})).item<float>();
  EXPECT_FLOAT_EQ(y, (1.3f - 0.2f) / std::sqrt(1.1f));
  EXPECT_EQ(norm.num_batches_tracked.tensor().item<int64_t>(), 1);
}

TEST(BatchNorm, WithoutMomentumStatisticsAreMeans) {
  sn::nn::BatchNorm1d norm(1, {.momentum = std::nullopt});
  norm(sn::tensor({{1.f}, {3.f}}));
  norm(sn::tensor({{4.f}, {8.f}}));
  EXPECT_FLOAT_EQ(norm.running_mean.tensor().item<float>(), 4);
  EXPECT_FLOAT_EQ(norm.running_var.tensor().item<float>(), 5);
}

namespace {
struct Net {
  sn::nn::Conv2d conv{1, 2, 3, {.padding = 1}};
  sn::nn::BatchNorm2d norm{2};
  sn::nn::Linear last{2 * 4 * 4, 3};
  sn::Tensor forward(const sn::Tensor &x) const {
    sn::Tensor y = sn::relu(norm(conv(x)));
    return last(sn::reshape(y, {x.dim(0), -1}));
  }
  SINTER_MODULE(Net, conv, norm, last)
};
} // namespace

static sn::Tensor lossOf(const Net &net, double step) {
  return sn::cross_entropy(net(waves({4, 1, 4, 4}, step)),
                           sn::tensor({0, 2, 1, 0}));
}

TEST(BatchNorm, AStepIsOneProgramWithItsStatistics) {
  Net net;
  sn::optim::Adam adam;
  auto step = [&](double number) {
    sn::Tensor loss = lossOf(net, number);
    adam.step(net, loss.backward());
    return loss.item<float>();
  };
  step(0.7);
  Work work = workOf([&] {
    step(0.9);
    EXPECT_EQ(net.norm.num_batches_tracked.tensor().item<int64_t>(), 2);
  });
  EXPECT_EQ(work.runs, 1u);
  EXPECT_EQ(work.programs, 0u);
}

TEST(BatchNorm, SeveralBatchesOfOneStepAreOneProgram) {
  Net net, apart = net;
  sn::optim::Sgd sgd;
  lossOf(net, 0.3).item<float>(); // first values exist
  lossOf(apart, 0.3).item<float>();
  Work work = workOf([&] {
    sn::Gradients sum = lossOf(net, 0.7).backward();
    sum.accumulate(lossOf(net, 0.9).backward());
    sgd.step(net, std::move(sum));
    net.last.weight.tensor().eval();
  });
  EXPECT_EQ(work.runs, 1u);
  lossOf(apart, 0.7).item<float>();
  lossOf(apart, 0.9).item<float>();
  expectNear(net.norm.running_mean.tensor(), apart.norm.running_mean.tensor());
  expectNear(net.norm.running_var.tensor(), apart.norm.running_var.tensor());
  EXPECT_EQ(net.norm.num_batches_tracked.tensor().item<int64_t>(), 3);
}

TEST(BatchNorm, StatisticsGoToFilesAndCopiesHaveTheirOwn) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-norm-" + std::to_string(::getpid()));
  Net net;
  lossOf(net, 0.7).item<float>();
  Net copy = net, loaded;
  lossOf(copy, 0.9).item<float>();
  EXPECT_EQ(copy.norm.num_batches_tracked.tensor().item<int64_t>(), 2);
  EXPECT_EQ(net.norm.num_batches_tracked.tensor().item<int64_t>(), 1);
  net.save(path);
  loaded.load(path);
  std::filesystem::remove(path);
  EXPECT_EQ(loaded.norm.running_var.tensor().to_vector<float>(),
            net.norm.running_var.tensor().to_vector<float>());
  net.eval();
  loaded.eval();
  EXPECT_EQ(lossOf(loaded, 0.4).item<float>(), lossOf(net, 0.4).item<float>());
}

TEST(BatchNorm, FrozenParametersStayAndStatisticsMove) {
  Net net;
  net.norm.require_grad(false);
  sn::optim::Sgd sgd({.lr = 1});
  sgd.step(net, lossOf(net, 0.7).backward());
  EXPECT_EQ(net.norm.weight.tensor().to_vector<float>(), (Values{1, 1}));
  EXPECT_EQ(net.norm.num_batches_tracked.tensor().item<int64_t>(), 1);
}

TEST(BatchNorm, ErrorsNameItAndTheLine) {
  sn::nn::BatchNorm2d norm(3);
  expectRejected("batch_norm", "f32[2,3]", [&] { norm(sn::zeros({2, 3})); });
  expectRejected("batch_norm", "f32[2,4,5,5] x f32[3]",
                 [&] { norm(sn::zeros({2, 4, 5, 5})); });
  sn::nn::BatchNorm1d one(3);
  expectRejected("batch_norm", "more than one value",
                 [&] { one(sn::zeros({1, 3})); });
  expectRejected("scan", "running statistics", [&] {
    sn::scan(
        [&](auto carries, auto) { return sn::ScanStep{{one(carries[0])}, {}}; },
        {sn::zeros({2, 3})}, {}, {.length = 2});
  });
}

TEST(Norms, NamesAreThoseOfPyTorch) {
  EXPECT_EQ(namesOf(sn::nn::GroupNorm(2, 4)), (Names{"weight", "bias"}));
  EXPECT_EQ(namesOf(sn::nn::InstanceNorm(4)), Names());
  EXPECT_EQ(namesOf(sn::nn::RMSNorm(4)), Names{"weight"});
  EXPECT_EQ(namesOf(sn::nn::LayerNorm({2, 4})), (Names{"weight", "bias"}));
  EXPECT_EQ(namesOf(sn::nn::LayerNorm(4, {.bias = false})), Names{"weight"});
  EXPECT_EQ(namesOf(sn::nn::PReLU()), Names{"weight"});
}

TEST(Norms, GroupNormOfOneGroupAChannelIsInstanceNorm) {
  sn::Tensor x = waves({2, 3, 4, 5}, 0.7);
  expectNear(sn::nn::GroupNorm(3, 3)(x), sn::nn::InstanceNorm(3)(x));
  expectNear(sn::nn::GroupNorm(1, 3)(x),
             sn::nn::LayerNorm({3, 4, 5}, {.elementwise_affine = false})(x));
}

// What the gradient is computed from is recorded, and has derivatives.
TEST(Norms, GradientsOfBothOrdersAreThoseOfTheirSteps) {
  sn::Tensor weight = waves({3}, 0.4) + 1.5, bias = waves({3}, 0.9);
  auto ofSteps = [&](const sn::Tensor &x, const sn::Tensor &w,
                     const sn::Tensor &b) {
    sn::Axes axes{0, 2, 3};
    sn::Tensor left = x - sn::mean(x, axes, true);
    sn::Tensor spread = sn::mean(left * left, axes, true);
    return left * sn::rsqrt(spread + 1e-5) * sn::reshape(w, {1, 3, 1, 1}) +
           sn::reshape(b, {1, 3, 1, 1});
  };
  auto ofNorm = [](const sn::Tensor &x, const sn::Tensor &w,
                   const sn::Tensor &b) {
    return sn::batch_norm(x, sn::Affine{w, b}).y;
  };
  auto gradientsOf = [&](auto norm) {
    sn::Tensor x = waves({2, 3, 4, 5}, 0.7).detach().require_grad();
    sn::Tensor w = weight.detach().require_grad();
    sn::Tensor b = bias.detach().require_grad();
    sn::Tensor loss = sn::sum(norm(x, w, b) * waves({2, 3, 4, 5}, 1.3));
    sn::Gradients first = loss.backward();
    sn::Tensor rate = sn::sum(first[x] * waves({2, 3, 4, 5}, 0.3));
    sn::Gradients second = rate.backward();
    return std::vector<sn::Tensor>{first[x], first[w], first[b], second[x],
                                   second[w]};
  };
  std::vector<sn::Tensor> own = gradientsOf(ofNorm), steps;
  steps = gradientsOf(ofSteps);
  for (size_t number = 0; number < own.size(); ++number) {
    SCOPED_TRACE(number);
    expectNear(own[number], steps[number], 1e-4);
  }
}

TEST(Norms, HalfIsComputedWide) {
  sn::Tensor x = (waves({2, 64}, 0.7) * 300.0).to(sn::DType::f16);
  sn::Tensor y = sn::rms_norm(x, {64});
  EXPECT_EQ(y.dtype(), sn::DType::f16);
  expectNear(y, sn::rms_norm(x.to(sn::DType::f32), {64}), 2e-3);
}

TEST(Norms, ErrorsNameThem) {
  expectRejected("group_norm", "not 3 equal groups",
                 [] { sn::group_norm(sn::zeros({2, 4, 5}), 3); });
  expectRejected("layer_norm", "[5,4]", [] {
    sn::layer_norm(sn::zeros({2, 4, 5}), {5, 4}, sn::Affine());
  });
  expectRejected("glu", "odd", [] { sn::glu(sn::zeros({2, 5})); });
  expectRejected("prelu", "f32[2,3,4] x f32[2]",
                 [] { sn::prelu(sn::zeros({2, 3, 4}), sn::ones({2})); });
  expectRejected("instance_norm", "no space",
                 [] { sn::instance_norm(sn::zeros({2, 4})); });
}

TEST(Rotary, TurnsByPositionInBothForms) {
  sn::Tensor x = waves({1, 3, 4}, 0.7);
  auto in = x.to_vector<float>();
  auto turned = [&](sn::RotaryPairs pairs) {
    return sn::nn::RotaryEmbedding(pairs)(x).to_vector<float>();
  };
  auto y = turned(sn::RotaryPairs::interleaved);
  auto z = turned(sn::RotaryPairs::halves);
  for (int t = 0; t < 3; ++t) {
    const float *from = in.data() + 4 * t;
    float c = std::cos(float(t)), s = std::sin(float(t));
    EXPECT_NEAR(y[4 * t], from[0] * c - from[1] * s, 1e-5);
    EXPECT_NEAR(y[4 * t + 1], from[0] * s + from[1] * c, 1e-5);
    EXPECT_NEAR(z[4 * t], from[0] * c - from[2] * s, 1e-5);
    EXPECT_NEAR(z[4 * t + 2], from[0] * s + from[2] * c, 1e-5);
  }
}
