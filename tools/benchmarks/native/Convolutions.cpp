/// Convolutions and the convolutional net.
#include "tools/benchmarks/native/Training.h"

#include "tools/benchmarks/native/Step.h"

#include <sinter/sinter.h>

namespace sn = sinter;
using namespace bench;
using sn::Tensor;

/// Images are in channels-last order unless `layout=first`.
static sn::Layout layoutOf(const Case &c) {
  return c.text("layout", "last") == "first" ? sn::Layout::channels_first
                                             : sn::Layout::channels_last;
}
static sn::Dims imageOf(const Case &c, int64_t batch, int64_t channels) {
  int64_t h = c.number("h"), w = c.number("w");
  if (layoutOf(c) == sn::Layout::channels_first)
    return {batch, channels, h, w};
  return {batch, h, w, channels};
}

namespace {
/// The weight is [out, in / groups, kernel, kernel].
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
    options.layout = layoutOf(c);
    image = imageOf(c, c.number("batch", 1), in);
    x = inputFor(c, image, 1);
    weight = inputFor(c, {out, in / options.groups, kernel, kernel}, 2, 0.1f);
  }
  Tensor forward() const { return sn::conv2d(x, weight, options); }
};
} // namespace

std::unique_ptr<Work> bench::makeConvolution(const Case &c) {
  Convolution made(c);
  return std::make_unique<Calls>([=] { return std::vector{made.forward()}; });
}

std::unique_ptr<Work> bench::makeMaxPool(const Case &c) {
  Tensor x = inputOf(imageOf(c, 1, c.number("c")), 1);
  int64_t kernel = c.number("kernel");
  sn::PoolOptions options;
  options.stride = c.number("stride", 1);
  options.padding = c.number("pad", 0);
  options.layout = layoutOf(c);
  return std::make_unique<Calls>(
      [=] { return std::vector{sn::max_pool2d(x, kernel, options)}; });
}

/// Forward, then both gradients for a cotangent that is given.
std::unique_ptr<Work> bench::makeConvolutionStep(const Case &c) {
  Convolution made(c);
  made.x.require_grad();
  made.weight.require_grad();
  Tensor cotangent = inputFor(c, made.forward().shape(), 3);
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
  return std::make_unique<Step<Cnn>>(
      withFirstValues(Cnn()),
      [=](const Cnn &cnn) { return sn::cross_entropy(cnn(images), digits); });
}

//===- Residual blocks ----------------------------------------------------===//

namespace {
/// A convolution whose channels are normalized over the batch.
struct NormedConv {
  sn::nn::Conv2d conv;
  sn::Param weight, bias;
  NormedConv(int64_t in, int64_t out, sn::Layout layout)
      : conv(in, out, 3, {.padding = 1, .layout = layout, .bias = false}),
        weight("weight", {out}, sn::init::ones()),
        bias("bias", {out}, sn::init::zeros()) {}

  Tensor forward(const Tensor &x) const {
    Tensor y = conv(x);
    bool first = conv.options.layout == sn::Layout::channels_first;
    sn::Axes axes = first ? sn::Axes{0, 2, 3} : sn::Axes{0, 1, 2};
    sn::Dims column = first ? sn::Dims{-1, 1, 1} : sn::Dims{-1};
    Tensor centered = y - sn::mean(y, axes, true);
    Tensor scale = sn::rsqrt(sn::mean(sn::square(centered), axes, true) + 1e-5);
    return centered * scale * sn::reshape(weight, column) +
           sn::reshape(bias, column);
  }
  SINTER_MODULE(NormedConv, conv, weight, bias)
};

struct ResidualBlock {
  NormedConv first, second;
  Tensor forward(const Tensor &x) const {
    return sn::relu(x + second(sn::relu(first(x))));
  }
  SINTER_MODULE(ResidualBlock, first, second)
};

struct ResidualNet {
  NormedConv stem;
  std::vector<ResidualBlock> blocks;
  sn::nn::Linear head;
  ResidualNet(int64_t channels, int64_t count, sn::Layout layout)
      : stem(3, channels, layout),
        blocks(count, ResidualBlock{{channels, channels, layout},
                                    {channels, channels, layout}}),
        head(channels, 10) {}

  Tensor forward(const Tensor &images) const {
    Tensor x = sn::relu(stem(images));
    for (const ResidualBlock &block : blocks)
      x = block(x);
    bool first = stem.conv.options.layout == sn::Layout::channels_first;
    return head(sn::mean(x, first ? sn::Axes{2, 3} : sn::Axes{1, 2}));
  }
  SINTER_MODULE(ResidualNet, stem, blocks, head)
};
} // namespace

std::unique_ptr<Work> bench::makeResidualStep(const Case &c) {
  int64_t batch = c.number("batch");
  ResidualNet model(c.number("c"), c.number("blocks"), layoutOf(c));
  // The same images in either layout.
  Tensor images = inputOf({batch, 3, c.number("h"), c.number("w")}, 1);
  if (layoutOf(c) == sn::Layout::channels_last) {
    images = sn::transpose(images, {0, 2, 3, 1});
    images.eval();
    images = images.detach();
  }
  Tensor digits = labelsOf({batch}, 2, 10);
  return std::make_unique<Step<ResidualNet>>(
      withFirstValues(std::move(model)), [=](const ResidualNet &net) {
        return sn::cross_entropy(net(images), digits);
      });
}
