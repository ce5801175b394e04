/// Dcgan: the generator that makes images of noise.
#pragma once

#include <sinter/sinter.h>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct Dcgan {
  sn::nn::ConvTranspose2d conv1, conv2, conv3, conv4, conv5;
  sn::nn::BatchNorm2d bn1, bn2, bn3, bn4;
  Dcgan(int64_t noise, int64_t width)
      : conv1(noise, 8 * width, 4, {.bias = false}),
        conv2(8 * width, 4 * width, 4, twice()),
        conv3(4 * width, 2 * width, 4, twice()),
        conv4(2 * width, width, 4, twice()), conv5(width, 3, 4, twice()),
        bn1(8 * width), bn2(4 * width), bn3(2 * width), bn4(width) {}

  /// Images [n, 3, 64, 64] of noise [n, noise, 1, 1].
  Tensor forward(const Tensor &noise) const {
    Tensor x = sn::relu(bn1(conv1(noise)));
    x = sn::relu(bn2(conv2(x)));
    x = sn::relu(bn3(conv3(x)));
    x = sn::relu(bn4(conv4(x)));
    return sn::tanh(conv5(x));
  }
  SINTER_MODULE(Dcgan, conv1, conv2, conv3, conv4, conv5, bn1, bn2, bn3, bn4)

  /// What makes an image twice as large.
  static sn::nn::ConvTransposeLayerOptions twice() {
    return {.stride = 2, .padding = 1, .bias = false};
  }
};

} // namespace models
