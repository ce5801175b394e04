/// Activation: the functions that config.json may name.
#pragma once

#include <sinter/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace sinter::hf {

/// `hidden_act` and its like.
enum class Activation : uint8_t {
  gelu,
  gelu_tanh,  ///< `gelu_new`, `gelu_fast`, `gelu_pytorch_tanh`
  quick_gelu, ///< x * sigmoid(1.702 x)
  relu,
  silu, ///< also `swish`
  tanh,
  sigmoid,
  mish,
  linear,
};

/// The function of that name in transformers, if it is one of these.
std::optional<Activation> activation_named(std::string_view name);

Tensor activate(const Arg &x, Activation activation);

} // namespace sinter::hf
