/// A small convolutional network: a training step is one program, without a
/// matrix of patches in memory.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

#include <map>

using namespace training;

namespace {

/// Two convolutions, pooling, dropout and two linear layers.
struct ConvNet {
  sn::nn::Conv2d conv1, conv2;
  sn::nn::AdaptiveAvgPool2d pool;
  sn::nn::Dropout dropout;
  sn::nn::Linear fc1, fc2;

  explicit ConvNet(sn::DType dtype = sn::DType::f32, int64_t pooled = 8,
                   int64_t hidden = 512)
      : conv1(1, 8, 3, {.dtype = dtype}), conv2(8, 16, 3, {.dtype = dtype}),
        pool({pooled, pooled}),
        fc1(16 * pooled * pooled, hidden, {.dtype = dtype}),
        fc2(hidden, 10, {.dtype = dtype}) {}

  sn::Tensor forward(const sn::Tensor &x) const {
    sn::Tensor y = sn::relu(conv2(sn::relu(conv1(x))));
    y = pool(y);
    y = dropout(y.reshape({y.dim(0), -1}));
    return fc2(sn::relu(fc1(dropout(y))));
  }
  SINTER_MODULE(ConvNet, conv1, conv2, pool, dropout, fc1, fc2)
};

/// Images whose bright corner says their class.
struct Batch {
  sn::Tensor images, labels;
};

Batch makeBatch(int64_t count, int64_t size, int64_t seed,
                sn::DType dtype = sn::DType::f32) {
  std::vector<float> pixels(count * size * size);
  std::vector<int64_t> labels(count);
  for (int64_t n = 0; n < count; ++n) {
    int64_t label = labels[n] = (n * 7 + seed) % 10;
    for (int64_t i = 0; i < size * size; ++i) {
      int64_t row = i / size, column = i % size;
      float noise = std::sin(float(i * 13 + n * 101 + seed * 17));
      bool bright =
          row * 5 / size == label % 5 && column * 2 / size == label / 5;
      pixels[n * size * size + i] = 0.3f * noise + (bright ? 1.f : 0.f);
    }
  }
  return {sn::tensor(pixels, {count, 1, size, size}).to(dtype),
          sn::tensor(labels, {count})};
}

} // namespace

TEST(ConvNet, AStepIsOneProgramWithoutPatches) {
  // Labels are checked before what overwrites parameters. A GPU's blocks sum
  // the rows of a product apart.
  uint64_t launches = sn::default_device() == sn::device("cpu") ? 25 : 26;
  ConvNet model;
  sn::optim::Adam adam({.lr = 0.01});
  float first = 0, last = 0;
  for (int step = 0; step < 12; ++step) {
    Batch batch = makeBatch(64, 28, step % 2);
    batch.images.eval();
    sn::reset_stats();
    sn::Tensor loss =
        sn::cross_entropy(model.forward(batch.images), batch.labels);
    adam.step(model, loss.backward());
    last = loss.item<float>();
    first = step == 0 ? last : first;
    if (step < 2)
      continue;
    sn::Stats stats = sn::stats();
    EXPECT_EQ(stats.programs_run, 1u);
    EXPECT_LE(stats.launches, launches);
    // Each parameter and its two means, in place.
    EXPECT_EQ(stats.donated, 24u);
    // One matrix of patches, [64, 8 * 9, 24 * 24], would be 10.6 MB.
    EXPECT_LT(stats.bytes_written, 40u << 20);
  }
  EXPECT_LT(last, first / 2);
}

TEST(ConvNet, GradientsMatchDifferences) {
  sn::manual_seed(3);
  ConvNet model(sn::DType::f64, 2, 6);
  model.eval();
  Batch batch = makeBatch(2, 8, 1, sn::DType::f64);
  auto lossOf = [&] {
    return sn::cross_entropy(model.forward(batch.images), batch.labels);
  };
  sn::Gradients gradients = lossOf().backward();
  std::map<std::string, std::vector<double>> found;
  model.visit([&](const std::string &path, sn::Param &param) {
    found[path] = gradients[param].to_vector<double>();
  });
  model.visit([&](const std::string &path, sn::Param &param) {
    const std::vector<double> &analytic = found[path];
    std::vector<double> values = param.tensor().to_vector<double>();
    sn::Dims shape = param.shape();
    for (size_t i = 0; i < values.size(); i += 1 + values.size() / 3) {
      double ends[2];
      for (int side = 0; side < 2; ++side) {
        std::vector<double> moved = values;
        moved[i] += side ? 1e-5 : -1e-5;
        param.set(sn::tensor(moved, shape));
        ends[side] = lossOf().item<double>();
      }
      param.set(sn::tensor(values, shape));
      EXPECT_NEAR((ends[1] - ends[0]) / 2e-5, analytic[i], 1e-6)
          << path << " " << i;
    }
  });
}
