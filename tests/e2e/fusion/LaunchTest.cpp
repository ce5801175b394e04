/// What users write becomes one launch that moves each byte once, by the
/// executor's own counters.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <functional>

namespace sn = sinter;

namespace {

/// Evaluates `record` over inputs that exist already and expects one launch
/// that reads them and writes the result, and hardly anything else.
void expectOneLaunch(const std::vector<sn::Tensor> &inputs,
                     const std::function<sn::Tensor()> &record) {
  if (sn::default_device() == sn::device("null"))
    GTEST_SKIP() << "the null device does not fuse";
  uint64_t ideal = 0;
  for (const sn::Tensor &input : inputs)
    ideal += input.numel() * sn::byteWidth(input.dtype());
  sn::Tensor result = record();
  ideal += result.numel() * sn::byteWidth(result.dtype());

  sn::Stats before = sn::stats();
  result.eval();
  sn::Stats after = sn::stats();
  EXPECT_EQ(after.programs_run - before.programs_run, 1u);
  EXPECT_EQ(after.launches - before.launches, 1u) << sn::explain({record()});
  uint64_t moved = after.bytes_read - before.bytes_read + after.bytes_written -
                   before.bytes_written;
  EXPECT_LE(moved, ideal * 1.05);
  EXPECT_GE(moved, ideal * 0.95);
}

sn::Tensor random(const sn::Dims &shape) {
  sn::Tensor values = sn::uniform(shape);
  return sn::tensor(values.to_vector<float>(), shape);
}

} // namespace

TEST(Launches, MatmulBiasRelu) {
  sn::Tensor x = random({64, 96}), w = random({96, 128}), b = random({128});
  expectOneLaunch({x, w, b}, [&] { return sn::relu(sn::matmul(x, w) + b); });
}

TEST(Launches, LinearLayer) {
  sn::Tensor x = random({64, 96}), w = random({128, 96}), b = random({128});
  expectOneLaunch({x, w, b}, [&] {
    return sn::relu(sn::matmul(x, sn::transpose(w, {1, 0})) + b);
  });
}

TEST(Launches, Softmax) {
  sn::Tensor x = random({128, 320});
  expectOneLaunch({x}, [&] { return sn::softmax(x, -1); });
}

TEST(Launches, HandWrittenSoftmax) {
  sn::Tensor x = random({128, 320});
  expectOneLaunch({x}, [&] {
    sn::Tensor e = sn::exp(x - sn::amax(x, {1}, true));
    return e / sn::sum(e, {1}, true);
  });
}

TEST(Launches, LayerNorm) {
  sn::Tensor x = random({128, 320}), w = random({320}), b = random({320});
  expectOneLaunch({x, w, b}, [&] { return sn::layer_norm(x, w, b, 1e-5); });
}

TEST(Launches, MeanSquaredDifference) {
  sn::Tensor x = random({128, 320}), y = random({128, 320});
  expectOneLaunch({x, y}, [&] {
    sn::Tensor difference = x - y;
    return sn::mean(difference * difference);
  });
}

TEST(Launches, LongPointwiseChain) {
  sn::Tensor x = random({1000}), y = random({1000});
  expectOneLaunch({x, y}, [&] {
    sn::Tensor z = x;
    for (int i = 0; i < 10; ++i)
      z = sn::tanh(z * 1.5f + y) - x;
    return z;
  });
}

TEST(Launches, ViewsCostNothing) {
  sn::Tensor x = random({32, 48});
  expectOneLaunch({x}, [&] {
    sn::Tensor t = sn::transpose(sn::reshape(x, {48, 32}), {1, 0});
    return sn::exp(t);
  });
}
