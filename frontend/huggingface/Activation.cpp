/// Activation: the functions that config.json may name.
#include <sinter/hf/Activation.h>

#include "frontend/ElementwiseFunctions.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/ModuleFile.h>

#include <utility>

namespace sinter::hf {

std::optional<Activation> activation_named(std::string_view name) {
  static constexpr std::pair<std::string_view, Activation> names[] = {
      {"gelu", Activation::gelu},
      {"gelu_python", Activation::gelu},
      {"gelu_new", Activation::gelu_tanh},
      {"gelu_fast", Activation::gelu_tanh},
      {"gelu_accurate", Activation::gelu_tanh},
      {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_python_tanh", Activation::gelu_tanh},
      {"quick_gelu", Activation::quick_gelu},
      {"relu", Activation::relu},
      {"silu", Activation::silu},
      {"swish", Activation::silu},
      {"tanh", Activation::tanh},
      {"sigmoid", Activation::sigmoid},
      {"mish", Activation::mish},
      {"linear", Activation::linear},
  };
  for (const auto &[own, activation] : names)
    if (own == name)
      return activation;
  return {};
}

Tensor activate(const Arg &x, Activation activation) try {
  switch (activation) {
  case Activation::gelu:
    return gelu(x);
  case Activation::gelu_tanh:
    return gelu(x, GeluForm::tanh);
  case Activation::quick_gelu:
    return x * sigmoid(x * 1.702);
  case Activation::relu:
    return relu(x);
  case Activation::silu:
    return silu(x);
  case Activation::tanh:
    return tanh(x);
  case Activation::sigmoid:
    return sigmoid(x);
  case Activation::mish:
    return mish(x);
  case Activation::linear:
    return detail::tensorOf(x);
  }
  detail::raise(makeError(ErrorKind::invalid_argument,
                          "activate: the activation is none"),
                x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter::hf
