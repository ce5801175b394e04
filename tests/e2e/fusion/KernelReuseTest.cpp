/// Equal kernels are compiled once: the layers of a model, and programs that
/// have some in common.
#include <sinter/Basic.h>

#include <chrono>
#include <gtest/gtest.h>

namespace sn = sinter;

namespace {

class KernelReuse : public testing::Test {
protected:
  void SetUp() override {
    if (sn::default_device() == sn::device("null"))
      GTEST_SKIP() << "the null device compiles nothing";
  }
};

sn::Tensor random(const sn::Dims &shape) { return sn::uniform(shape).eval(); }

struct Layers {
  sn::nn::Linear fc1{24, 24}, fc2{24, 24}, fc3{24, 24};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc3(sn::tanh(fc2(sn::tanh(fc1(x)))));
  }
  SINTER_MODULE(Layers, fc1, fc2, fc3)
};

} // namespace

TEST_F(KernelReuse, TwelveEqualLayersAreOneKernel) {
  constexpr int layers = 12;
  std::vector<sn::Tensor> weights, biases;
  for (int i = 0; i < layers; ++i) {
    weights.push_back(random({24, 24}));
    biases.push_back(random({24}));
  }
  sn::Tensor x = random({7, 24});
  sn::reset_stats();
  for (int i = 0; i < layers; ++i)
    x = sn::relu(sn::matmul(x, weights[i]) + biases[i]);
  x.eval();
  sn::Stats stats = sn::stats();
  EXPECT_EQ(stats.programs_run, 1u);
  EXPECT_EQ(stats.launches, 12u);
  EXPECT_EQ(stats.kernels_compiled, 1u);
}

TEST_F(KernelReuse, ProgramsShareKernels) {
  sn::Tensor x = random({9, 33}), w = random({33, 65}), b = random({65});
  auto layer = [&] { return sn::relu(sn::matmul(x, w) + b); };
  sn::reset_stats();
  layer().eval();
  sn::Stats first = sn::stats();
  EXPECT_EQ(first.compiles, 1u);
  EXPECT_EQ(first.kernels_compiled, 1u);
  // Another program: two outputs of which one is the layer.
  sn::Tensor y = layer(), z = sn::exp(x);
  sn::eval({y, z});
  sn::Stats second = sn::stats();
  EXPECT_EQ(second.compiles, 2u);
  EXPECT_EQ(second.kernels_compiled, 2u);
  EXPECT_EQ(second.kernel_memory_hits, 1u);
}

TEST_F(KernelReuse, EvaluationAfterTrainingReusesKernels) {
  Layers model;
  sn::optim::Sgd sgd({.lr = 0.1});
  sn::Tensor x = random({16, 24}), y = random({16, 24});
  sn::Tensor error = model.forward(x) - y;
  sn::Tensor loss = sn::mean(error * error);
  sgd.step(model, loss.backward());
  loss.eval();
  sn::reset_stats();
  sn::no_grad guard;
  model.forward(x).eval();
  sn::Stats stats = sn::stats();
  EXPECT_EQ(stats.compiles, 1u);
  EXPECT_GE(stats.kernel_memory_hits, 1u) << "forward kernels of the step";
}

// What makes a first call long is in stats, part by part.
TEST_F(KernelReuse, TheFirstCallIsAccounted) {
  sn::Tensor x = random({11, 37});
  sn::reset_stats();
  auto begin = std::chrono::steady_clock::now();
  auto call = [&] { return sn::softmax(sn::tanh(x) * x, 1).eval(); };
  call();
  std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - begin;
  sn::Stats first = sn::stats();
  EXPECT_EQ(first.compiles, 1u);
  EXPECT_GT(first.planning_milliseconds, 0);
  EXPECT_GT(first.passes_milliseconds, 0);
  EXPECT_GT(first.code_milliseconds, 0);
  EXPECT_GT(first.loading_milliseconds, 0);
  double sum = first.opening_milliseconds + first.planning_milliseconds +
               first.passes_milliseconds + first.code_milliseconds +
               first.machine_code_milliseconds + first.loading_milliseconds +
               first.graphs_milliseconds;
  EXPECT_LE(sum, took.count());
  EXPECT_LE(first.passes_milliseconds + first.code_milliseconds,
            first.compile_milliseconds);
  call();
  sn::Stats second = sn::stats();
  EXPECT_EQ(second.passes_milliseconds, first.passes_milliseconds);
  EXPECT_EQ(second.loading_milliseconds, first.loading_milliseconds);
}
