/// Activations.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/generated/functions/Activations.h>

namespace sinter::onnx {

static void leakyReluRule(Call &call) {
  call.give(leaky_relu(call.tensor(0), call.real("alpha")));
}
static void eluRule(Call &call) {
  call.give(elu(call.tensor(0), call.real("alpha")));
}
static void celuRule(Call &call) {
  call.give(celu(call.tensor(0), call.real("alpha")));
}
static void seluRule(Call &call) {
  Tensor x = call.tensor(0);
  double alpha = call.real("alpha"), gamma = call.real("gamma");
  call.give(elu(x, alpha) * gamma);
}
static void hardSigmoidRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(clamp(x * call.real("alpha") + call.real("beta"), 0.0, 1.0));
}
/// No product of x is larger than x.
static void hardSwishRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(x * clamp(x * (1.0 / 6) + 0.5, 0.0, 1.0));
}
static void thresholdedReluRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(where(x > call.real("alpha"), x, zeros_like(x)));
}
static void shrinkRule(Call &call) {
  Tensor x = call.tensor(0);
  double bias = call.real("bias"), lambda = call.real("lambd");
  Tensor wide = asFloat(x), none = zeros_like(wide);
  Tensor kept = where(wide < -lambda, wide + bias,
                      where(wide > lambda, wide - bias, none));
  call.give(kept.to(x.dtype()));
}
static void geluRule(Call &call) {
  std::string form = call.text("approximate");
  if (form != "none" && form != "tanh")
    call.invalid("approximate '" + form + "'");
  call.give(
      gelu(call.tensor(0), form == "tanh" ? GeluForm::tanh : GeluForm::none));
}
static void oldGeluRule(Call &call) { call.give(gelu(call.tensor(0))); }
/// A bias may come with it.
static void fastGeluRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(gelu(call.has(1) ? x + call.tensor(1) : x, GeluForm::tanh));
}
static void biasGeluRule(Call &call) {
  call.give(gelu(call.tensor(0) + call.tensor(1)));
}
static void quickGeluRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(x * sigmoid(x * call.real("alpha")));
}
static Tensor softplusOf(const Arg &x) { return softplus(x); }

/// The slope broadcasts to x from one side; before opset 7 it is one for each
/// channel.
static void preluRule(Call &call) {
  Tensor x = call.tensor(0), slope = call.tensor(1);
  if (call.opset() < 7 && slope.rank() == 1 && slope.dim(0).value > 1 &&
      x.rank() > 1)
    slope = alongAxis(slope, 1, x.rank());
  Tensor none = zeros_like(x);
  call.give(where(x < none, slope * x, x));
}

static void swiGluRule(Call &call) {
  Tensor gate = call.tensor(0);
  double alpha = call.real("alpha");
  Tensor open = alpha == 1 ? silu(gate) : gate * sigmoid(gate * alpha);
  call.give(open * call.tensor(1));
}

static constexpr const char *consumed = "consumed_inputs:ints";

static constexpr Operator rows[] = {
    {"Relu", 1, 0, consumed, unaryRule<relu>},
    {"Sigmoid", 1, 0, consumed, unaryRule<sigmoid>},
    {"Softplus", 1, 0, "", unaryRule<softplusOf>},
    {"Softsign", 1, 0, "", unaryRule<softsign>},
    {"LeakyRelu", 1, 0, "alpha:float=0.01 consumed_inputs:ints", leakyReluRule},
    {"Elu", 1, 0, "alpha:float=1.0 consumed_inputs:ints", eluRule},
    {"Celu", 12, 0, "alpha:float=1.0", celuRule},
    {"Selu", 1, 5, "alpha:float=1.6732 gamma:float=1.0507 consumed_inputs:ints",
     seluRule},
    {"Selu", 6, 0,
     "alpha:float=1.67326319217681884765625 "
     "gamma:float=1.05070102214813232421875",
     seluRule},
    {"HardSigmoid", 1, 0, "alpha:float=0.2 beta:float=0.5 consumed_inputs:ints",
     hardSigmoidRule},
    {"HardSwish", 14, 0, "", hardSwishRule},
    {"Mish", 18, 0, "", unaryRule<mish>},
    {"ThresholdedRelu", 10, 0, "alpha:float=1.0", thresholdedReluRule},
    {"Shrink", 9, 0, "bias:float=0.0 lambd:float=0.5", shrinkRule},
    {"PRelu", 1, 0, consumed, preluRule},
    {"SwiGLU", 28, 0, "alpha:float=1.0", swiGluRule},
    {"Gelu", 20, 0, "approximate:string=none", geluRule},
    {"Gelu", 1, 0, "", oldGeluRule, "com.microsoft"},
    {"FastGelu", 1, 0, "", fastGeluRule, "com.microsoft"},
    {"BiasGelu", 1, 0, "", biasGeluRule, "com.microsoft"},
    {"QuickGelu", 1, 0, "alpha:float=1.702", quickGeluRule, "com.microsoft"},
};

std::span<const Operator> activationRows() { return rows; }

} // namespace sinter::onnx
