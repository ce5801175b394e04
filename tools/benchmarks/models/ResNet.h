/// ResNet-50: bottleneck blocks of convolutions, each normalized over the
/// batch; images are NCHW.
#pragma once

#include <sinter/sinter.h>

#include <optional>
#include <vector>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct Bottleneck {
  sn::nn::Conv2d conv1, conv2, conv3;
  sn::nn::BatchNorm2d bn1, bn2, bn3;
  std::optional<sn::nn::Conv2d> down;
  std::optional<sn::nn::BatchNorm2d> bn4;
  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : conv1(in, width, 1, {.bias = false}),
        conv2(width, width, 3, {.stride = stride, .padding = 1, .bias = false}),
        conv3(width, 4 * width, 1, {.bias = false}), bn1(width), bn2(width),
        bn3(4 * width) {
    if (stride == 1 && in == 4 * width)
      return;
    down.emplace(in, 4 * width, 1,
                 sn::nn::ConvLayerOptions{.stride = stride, .bias = false});
    bn4.emplace(4 * width);
  }

  Tensor forward(const Tensor &x) const {
    Tensor y = sn::relu(bn1(conv1(x)));
    y = sn::relu(bn2(conv2(y)));
    y = bn3(conv3(y));
    return sn::relu(y + (down ? (*bn4)((*down)(x)) : x));
  }
  SINTER_MODULE(Bottleneck, conv1, conv2, conv3, bn1, bn2, bn3, down, bn4)
};

struct ResNet {
  sn::nn::Conv2d conv1;
  sn::nn::BatchNorm2d bn1;
  std::vector<Bottleneck> blocks;
  sn::nn::Linear fc;
  /// Of stages of so many blocks each; the first is `width` wide.
  ResNet(const std::vector<int64_t> &stages, int64_t width, int64_t classes)
      : conv1(3, width, 7, {.stride = 2, .padding = 3, .bias = false}),
        bn1(width), fc(width << (stages.size() + 1), classes) {
    int64_t in = width;
    for (size_t stage = 0; stage < stages.size(); ++stage)
      for (int64_t i = 0; i < stages[stage]; ++i) {
        blocks.emplace_back(in, width << stage, stage > 0 && i == 0 ? 2 : 1);
        in = width << (stage + 2);
      }
  }

  /// Scores [n, classes] of images [n, 3, height, width].
  Tensor forward(const Tensor &images) const {
    Tensor x = sn::relu(bn1(conv1(images)));
    x = sn::max_pool2d(x, 3, {.stride = 2, .padding = 1});
    for (const Bottleneck &block : blocks)
      x = block(x);
    return fc(sn::flatten(sn::adaptive_avg_pool(x, {1, 1}), 1));
  }
  SINTER_MODULE(ResNet, conv1, bn1, blocks, fc)
};

} // namespace models
