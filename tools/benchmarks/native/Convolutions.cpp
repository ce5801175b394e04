/// Convolutions and the convolutional net.
#include "tools/benchmarks/native/Training.h"

#include "tools/benchmarks/native/Step.h"

#include <sinter/sinter.h>

namespace sn = sinter;
using namespace bench;
using sn::Tensor;

namespace {
/// x is in channels-last order, the weight [out, in / groups, kernel, kernel].
struct Convolution {
  Tensor x, weight;
  sn::ConvOptions options;
  sn::Dims image;

  explicit Convolution(const Case &c) {
    int64_t in = c.number("c"), out = c.number("o");
    int64_t kernel = c.number("kernel");
    options.stride = c.number("stride", 1);
    options.padding = c.number("pad", 0);
    options.groups = c.number("groups", 1);
    options.layout = sn::Layout::channels_last;
    image = {c.number("batch", 1), c.number("h"), c.number("w"), in};
    x = inputOf(image, 1);
    weight = inputOf({out, in / options.groups, kernel, kernel}, 2, 0.1f);
  }
  Tensor forward() const { return sn::conv2d(x, weight, options); }
};
} // namespace

std::unique_ptr<Work> bench::makeConvolution(const Case &c) {
  Convolution made(c);
  return std::make_unique<Calls>([=] { return std::vector{made.forward()}; });
}

std::unique_ptr<Work> bench::makeMaxPool(const Case &c) {
  Tensor x = inputOf({1, c.number("h"), c.number("w"), c.number("c")}, 1);
  int64_t kernel = c.number("kernel");
  sn::PoolOptions options;
  options.stride = c.number("stride", 1);
  options.padding = c.number("pad", 0);
  options.layout = sn::Layout::channels_last;
  return std::make_unique<Calls>(
      [=] { return std::vector{sn::max_pool2d(x, kernel, options)}; });
}

/// Forward, then both gradients for a cotangent that is given.
std::unique_ptr<Work> bench::makeConvolutionStep(const Case &c) {
  Convolution made(c);
  made.x.require_grad();
  made.weight.require_grad();
  Tensor cotangent = inputOf(made.forward().shape(), 3);
  return std::make_unique<Calls>([=] {
    Tensor y = made.forward();
    std::vector<Tensor> results = sn::grad(y, {made.x, made.weight}, cotangent);
    results.push_back(y);
    return results;
  });
}

//===- The net ------------------------------------------------------------===//

namespace {
struct Cnn {
  sn::nn::Conv2d conv1{1, 8, 3}, conv2{8, 16, 3};
  sn::nn::Linear fc1{16 * 8 * 8, 512}, fc2{512, 10};

  Tensor forward(const Tensor &images) const {
    int64_t batch = images.dim(0).value;
    Tensor x = sn::dropout(conv1(images), 0.5);
    x = sn::relu(sn::dropout(conv2(x), 0.5));
    x = sn::reshape(sn::adaptive_avg_pool(x, {8, 8}), {batch, 16 * 8 * 8});
    return fc2(sn::relu(sn::dropout(fc1(x), 0.5)));
  }
  SINTER_MODULE(Cnn, conv1, conv2, fc1, fc2)
};
} // namespace

std::unique_ptr<Work> bench::makeCnnStep(const Case &c) {
  int64_t batch = c.number("batch");
  Tensor images = inputOf({batch, 1, 28, 28}, 1);
  Tensor digits = labelsOf({batch}, 2, 10);
  return std::make_unique<Step<Cnn>>(Cnn(), [=](const Cnn &cnn) {
    return sn::cross_entropy(cnn(images), digits);
  });
}
