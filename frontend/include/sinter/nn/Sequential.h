/// Sequential: layers one after another; and activations as layers.
#pragma once

#include <sinter/BasicOps.h>
#include <sinter/Module.h>

#include <tuple>
#include <utility>

namespace sinter::nn {

/// Each layer applied to what the one before gave. Names are PyTorch's: `0`,
/// `1`, ... A layer is a module, or a function of a tensor:
///
///     sn::nn::Sequential model(sn::nn::Linear(4, 8), sn::nn::Tanh(),
///                              sn::nn::Linear(8, 3));
template <typename... Layers> class Sequential {
public:
  Sequential() = default;
  explicit Sequential(Layers... layers)
      : layers{std::tuple<Layers...>(std::move(layers)...)} {}

  Tensor forward(const Tensor &x) const {
    return std::apply(
        [&](const Layers &...each) {
          Tensor y = x;
          ((y = each(y)), ...);
          return y;
        },
        layers.value);
  }
  /// Layer `index`.
  template <size_t index> auto &get() { return std::get<index>(layers.value); }
  template <size_t index> const auto &get() const {
    return std::get<index>(layers.value);
  }

  Unnamed<std::tuple<Layers...>> layers;

  SINTER_MODULE(Sequential, layers)
};

struct ReLU {
  Tensor operator()(const Arg &x) const { return relu(x); }
};
struct Tanh {
  Tensor operator()(const Arg &x) const { return tanh(x); }
};
struct Sigmoid {
  Tensor operator()(const Arg &x) const { return sigmoid(x); }
};
struct SiLU {
  Tensor operator()(const Arg &x) const { return silu(x); }
};
struct GELU {
  GeluForm approximate = GeluForm::none;
  Tensor operator()(const Arg &x) const { return gelu(x, approximate); }
};
struct LeakyReLU {
  double negative_slope = 0.01;
  Tensor operator()(const Arg &x) const;
};
struct ELU {
  double alpha = 1;
  Tensor operator()(const Arg &x) const;
};
struct SELU {
  Tensor operator()(const Arg &x) const;
};
struct Mish {
  Tensor operator()(const Arg &x) const;
};
struct Hardsigmoid {
  Tensor operator()(const Arg &x) const;
};
struct Hardswish {
  Tensor operator()(const Arg &x) const;
};
struct LogSigmoid {
  Tensor operator()(const Arg &x) const;
};
struct Softplus {
  double beta = 1;
  double threshold = 20;
  Tensor operator()(const Arg &x) const;
};
struct Softmax {
  int64_t axis = -1;
  Tensor operator()(const Arg &x) const { return softmax(x, axis); }
};
struct LogSoftmax {
  int64_t axis = -1;
  Tensor operator()(const Arg &x) const { return log_softmax(x, axis); }
};
/// All axes from the second on as one.
struct Flatten {
  Tensor operator()(const Tensor &x) const {
    return reshape(x, {x.dim(0), -1});
  }
};

} // namespace sinter::nn
