/// WaveNet: a stack of dilated, causal convolutions over a line of samples.
#pragma once

#include <sinter/sinter.h>

#include <vector>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct WaveLayer {
  int64_t dilation;
  sn::nn::Conv1d filter, gate, residual, skip;
  WaveLayer(int64_t channels, int64_t skips, int64_t dilation)
      : dilation(dilation), filter(channels, channels, 2, every(dilation)),
        gate(channels, channels, 2, every(dilation)),
        residual(channels, channels, 1), skip(channels, skips, 1) {}

  struct Output {
    Tensor x, skip;
  };
  Output forward(const Tensor &x) const {
    Tensor before = sn::pad(x, {{.axis = 2, .before = dilation, .after = 0}});
    Tensor y = sn::tanh(filter(before)) * sn::sigmoid(gate(before));
    return {x + residual(y), skip(y)};
  }
  SINTER_MODULE(WaveLayer, filter, gate, residual, skip)

  static sn::nn::ConvLayerOptions every(int64_t dilation) {
    return {.dilation = dilation};
  }
};

struct WaveNet {
  sn::nn::Conv1d first;
  std::vector<WaveLayer> layers;
  sn::nn::Conv1d last1, last2;
  /// Dilations double `doublings` times, `cycles` times over.
  WaveNet(int64_t channels, int64_t skips, int64_t classes, int64_t doublings,
          int64_t cycles)
      : first(1, channels, 1), last1(skips, skips, 1),
        last2(skips, classes, 1) {
    for (int64_t cycle = 0; cycle < cycles; ++cycle)
      for (int64_t i = 0; i < doublings; ++i)
        layers.emplace_back(channels, skips, int64_t(1) << i);
  }

  /// Scores [n, classes, step] of samples [n, 1, step].
  Tensor forward(const Tensor &samples) const {
    Tensor x = first(samples), sum;
    for (const WaveLayer &layer : layers) {
      auto [next, skip] = layer(x);
      x = next;
      sum = sum.defined() ? sum + skip : skip;
    }
    return last2(sn::relu(last1(sn::relu(sum))));
  }
  SINTER_MODULE(WaveNet, first, layers, last1, last2)
};

} // namespace models
