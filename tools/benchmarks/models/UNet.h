/// UNetBlock: what a denoiser of images repeats: residual blocks of group norms
/// and convolutions, with attention at half the size between them.
#pragma once

#include "tools/benchmarks/models/Heads.h"

#include <sinter/sinter.h>

#include <vector>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct UNetResidual {
  sn::nn::GroupNorm norm1;
  sn::nn::Conv2d conv1;
  sn::nn::GroupNorm norm2;
  sn::nn::Conv2d conv2;
  UNetResidual(int64_t channels, int64_t groups)
      : norm1(groups, channels), conv1(channels, channels, 3, {.padding = 1}),
        norm2(groups, channels), conv2(channels, channels, 3, {.padding = 1}) {}

  Tensor forward(const Tensor &x) const {
    Tensor y = conv1(sn::silu(norm1(x)));
    return x + conv2(sn::silu(norm2(y)));
  }
  SINTER_MODULE(UNetResidual, norm1, conv1, norm2, conv2)
};

/// Every place of an image attends to every other.
struct UNetAttention {
  int64_t heads;
  sn::nn::GroupNorm norm;
  sn::nn::Linear query, key, value, merge;
  UNetAttention(int64_t channels, int64_t groups, int64_t heads)
      : heads(heads), norm(groups, channels), query(channels, channels),
        key(channels, channels), value(channels, channels),
        merge(channels, channels) {}

  Tensor forward(const Tensor &x) const {
    Tensor y = sn::transpose(sn::flatten(norm(x), 2), {0, 2, 1});
    Tensor mixed = sn::scaled_dot_product_attention(inHeads(query(y), heads),
                                                    inHeads(key(y), heads),
                                                    inHeads(value(y), heads));
    Tensor out = merge(joined(mixed));
    return x + sn::reshape(sn::transpose(out, {0, 2, 1}), x.shape());
  }
  SINTER_MODULE(UNetAttention, norm, query, key, value, merge)
};

struct UNetBlock {
  UNetResidual first;
  sn::nn::Conv2d down;
  UNetAttention attention;
  sn::nn::Conv2d up;
  UNetResidual last;
  UNetBlock(int64_t channels, int64_t groups, int64_t heads)
      : first(channels, groups),
        down(channels, channels, 3, {.stride = 2, .padding = 1}),
        attention(channels, groups, heads),
        up(channels, channels, 3, {.padding = 1}), last(channels, groups) {}

  /// x [n, channels, height, width], both even.
  Tensor forward(const Tensor &x) const {
    Tensor wide = first(x);
    Tensor small = attention(down(wide));
    Tensor large = sn::interpolate(small, {.scale_factor = {2}});
    return last(wide + up(large));
  }
  SINTER_MODULE(UNetBlock, first, down, attention, up, last)
};

} // namespace models
