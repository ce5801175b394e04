/// MobileNetV3: depthwise convolutions between narrow ones, some weighed by
/// what their channels hold.
#pragma once

#include <sinter/sinter.h>

#include <optional>
#include <vector>

namespace models {
namespace sn = sinter;
using sn::Tensor;

/// A convolution without bias, then a batch norm.
struct MobileConv {
  sn::nn::Conv2d conv;
  sn::nn::BatchNorm2d bn;
  MobileConv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
             int64_t groups = 1)
      : conv(in, out, kernel,
             {.stride = stride,
              .padding = kernel / 2,
              .groups = groups,
              .bias = false}),
        bn(out, {.eps = 1e-3, .momentum = 0.01}) {}

  Tensor forward(const Tensor &x) const { return bn(conv(x)); }
  SINTER_MODULE(MobileConv, conv, bn)
};

/// Channels weighed by a small net of their means.
struct SqueezeExcite {
  sn::nn::Conv2d fc1, fc2;
  SqueezeExcite(int64_t channels, int64_t squeezed)
      : fc1(channels, squeezed, 1), fc2(squeezed, channels, 1) {}

  Tensor forward(const Tensor &x) const {
    Tensor mean = sn::adaptive_avg_pool(x, {1, 1});
    return x * sn::hardsigmoid(fc2(sn::relu(fc1(mean))));
  }
  SINTER_MODULE(SqueezeExcite, fc1, fc2)
};

struct MobileBlockSizes {
  int64_t in, kernel, wide, out;
  bool excites, hard; ///< `hard`: hardswish in place of relu
  int64_t stride;
};

struct MobileBlock {
  MobileBlockSizes sizes;
  std::optional<MobileConv> widen;
  MobileConv depthwise;
  std::optional<SqueezeExcite> excite;
  MobileConv project;
  explicit MobileBlock(const MobileBlockSizes &s)
      : sizes(s), depthwise(s.wide, s.wide, s.kernel, s.stride, s.wide),
        project(s.wide, s.out, 1) {
    if (s.wide != s.in)
      widen.emplace(s.in, s.wide, 1);
    if (s.excites)
      excite.emplace(s.wide, (s.wide / 4 + 4) / 8 * 8);
  }

  Tensor forward(const Tensor &x) const {
    auto activated = [&](const Tensor &y) {
      return sizes.hard ? sn::hardswish(y) : sn::relu(y);
    };
    Tensor y = widen ? activated((*widen)(x)) : x;
    y = activated(depthwise(y));
    if (excite)
      y = (*excite)(y);
    y = project(y);
    return sizes.stride == 1 && sizes.in == sizes.out ? x + y : y;
  }
  SINTER_MODULE(MobileBlock, widen, depthwise, excite, project)
};

/// The large one; `least` channels in place of 16 make a smaller one of the
/// same form.
struct MobileNet {
  MobileConv stem;
  std::vector<MobileBlock> blocks;
  MobileConv last;
  sn::nn::Linear fc1, fc2;
  MobileNet(int64_t least, int64_t classes)
      : stem(3, least, 3, 2), last(10 * least, 60 * least, 1),
        fc1(60 * least, 80 * least), fc2(80 * least, classes) {
    // In units of two channels when the least are 16.
    const std::vector<MobileBlockSizes> large{
        {8, 3, 8, 8, false, false, 1},    {8, 3, 32, 12, false, false, 2},
        {12, 3, 36, 12, false, false, 1}, {12, 5, 36, 20, true, false, 2},
        {20, 5, 60, 20, true, false, 1},  {20, 5, 60, 20, true, false, 1},
        {20, 3, 120, 40, false, true, 2}, {40, 3, 100, 40, false, true, 1},
        {40, 3, 92, 40, false, true, 1},  {40, 3, 92, 40, false, true, 1},
        {40, 3, 240, 56, true, true, 1},  {56, 3, 336, 56, true, true, 1},
        {56, 5, 336, 80, true, true, 2},  {80, 5, 480, 80, true, true, 1},
        {80, 5, 480, 80, true, true, 1}};
    for (MobileBlockSizes s : large) {
      for (int64_t *channels : {&s.in, &s.wide, &s.out})
        *channels = *channels * least / 8;
      blocks.emplace_back(s);
    }
  }

  /// Scores [n, classes] of images [n, 3, height, width].
  Tensor forward(const Tensor &images) const {
    Tensor x = sn::hardswish(stem(images));
    for (const MobileBlock &block : blocks)
      x = block(x);
    x = sn::adaptive_avg_pool(sn::hardswish(last(x)), {1, 1});
    return fc2(sn::hardswish(fc1(sn::flatten(x, 1))));
  }
  SINTER_MODULE(MobileNet, stem, blocks, last, fc1, fc2)
};

} // namespace models
