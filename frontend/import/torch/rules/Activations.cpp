/// Activations, softmaxes and dropout.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Gates.h>
#include <sinter/Random.h>
#include <sinter/generated/functions/Nn.h>

#include <limits>

namespace sinter::torch {

static void geluRule(Call &call) {
  std::string form = call.text("approximate", "none");
  if (form != "none" && form != "tanh")
    call.invalid("approximate '" + form + "'");
  call.give(gelu(call.tensor("self"),
                 form == "tanh" ? GeluForm::tanh : GeluForm::none));
}

static void leakyReluRule(Call &call) {
  call.give(leaky_relu(call.tensor("self"), call.real("negative_slope", 0.01)));
}

/// alpha (exp(x input_scale) - 1) below 0, x above, times scale.
static void eluRule(Call &call) {
  Tensor x = call.tensor("self");
  double alpha = call.real("alpha", 1), scale = call.real("scale", 1),
         inner = call.real("input_scale", 1);
  if (inner == 1) {
    Tensor y = elu(x, alpha);
    call.give(scale == 1 ? y : y * scale);
    return;
  }
  call.give(where(x > 0, x * scale, (exp(x * inner) - 1.0) * (alpha * scale)));
}

static void hardtanhRule(Call &call) {
  call.give(hardtanh(call.tensor("self"), call.real("min_val", -1),
                     call.real("max_val", 1)));
}
static void softplusRule(Call &call) {
  call.give(softplus(call.tensor("self"), call.real("beta", 1),
                     call.real("threshold", 20)));
}
static void hardshrinkRule(Call &call) {
  call.give(hardshrink(call.tensor("self"), call.real("lambd", 0.5)));
}
static void softshrinkRule(Call &call) {
  call.give(softshrink(call.tensor("self"), call.real("lambd", 0.5)));
}
static void thresholdRule(Call &call) {
  call.give(threshold(call.tensor("self"), call.real("threshold"),
                      call.real("value")));
}
static void celuRule(Call &call) {
  call.give(celu(call.tensor("self"), call.real("alpha", 1)));
}

/// One weight, or one for each channel.
static void preluRule(Call &call) {
  Tensor x = call.tensor("self"), weight = call.tensor("weight");
  if (weight.rank() == 1 && x.rank() > 1 && weight.dim(0).value != 1)
    weight = alongAxis(weight, 1, x.rank());
  call.give(where(x > 0, x, x * weight));
}

static void gluRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(glu(x, call.axis("dim", x.rank(), -1)));
}

//===- Softmaxes ----------------------------------------------------------===//

/// `_softmax` has half_to_float, the others dtype.
template <Tensor (*function)(const Arg &, int64_t)>
static void softmaxRule(Call &call) {
  call.ignore({"half_to_float", "dtype"});
  Tensor x = call.tensor("self").to(call.outputDType());
  int64_t axis = call.axis("dim", x.rank());
  if (x.rank() == 0) {
    call.give(reshape(function(reshape(x, {1}), 0), {}));
    return;
  }
  call.give(function(x, axis));
}

static Tensor plainSoftmax(const Arg &x, int64_t axis) {
  return softmax(x, axis);
}
/// 0 where all of an axis is -infinity, as of a query that sees no key.
static Tensor safeSoftmax(const Arg &x, int64_t axis) {
  Tensor isNothing =
      amax(x, axis, true) <= -std::numeric_limits<double>::infinity();
  return where(isNothing, 0.0, softmax(where(isNothing, 0.0, x), axis));
}
static Tensor logSoftmax(const Arg &x, int64_t axis) {
  return log_softmax(x, axis);
}

//===- Dropout ------------------------------------------------------------===//

/// The operand has another name where it is changed in place.
static void dropoutRule(Call &call) {
  Tensor x = call.tensor(call.has("self") ? "self" : "input");
  double p = call.real("p");
  call.give(call.flag("train") && p > 0 ? dropout(x, p) : x);
}

/// The result, and where it is not 0 by chance.
static void nativeDropoutRule(Call &call) {
  Tensor x = call.tensor("input");
  double p = call.real("p");
  bool trains = call.flag("train", true);
  Tensor kept = full(x.shape(), true, {DType::boolean, x.device()});
  if (trains && p > 0)
    kept = bernoulli(x.shape(), 1 - p, default_generator(), DType::f32) > 0.5;
  call.give(trains && p > 0
                ? where(kept, x * (p < 1 ? 1 / (1 - p) : 0.0), x * 0.0)
                : x);
  call.give(kept);
}

static constexpr Operator rows[] = {
    {"aten.relu.default", unaryRule<relu>},
    {"aten.relu6.default", unaryRule<relu6>},
    {"aten.sigmoid.default", unaryRule<sigmoid>},
    {"aten.tanh.default", unaryRule<tanh>},
    {"aten.silu.default", unaryRule<silu>},
    {"aten.mish.default", unaryRule<mish>},
    {"aten.selu.default", unaryRule<selu>},
    {"aten.hardsigmoid.default", unaryRule<hardsigmoid>},
    {"aten.hardswish.default", unaryRule<hardswish>},
    {"aten.log_sigmoid.default", unaryRule<logsigmoid>},
    {"aten.logit.default",
     [](Call &call) {
       call.give(logit(call.tensor("self"),
                       call.has("eps") ? std::optional(call.real("eps"))
                                       : std::nullopt));
     }},
    {"aten.gelu.default", geluRule},
    {"aten.leaky_relu.default", leakyReluRule},
    {"aten.elu.default", eluRule},
    {"aten.celu.default", celuRule},
    {"aten.hardtanh.default", hardtanhRule},
    {"aten.softplus.default", softplusRule},
    {"aten.hardshrink.default", hardshrinkRule},
    {"aten.softshrink.default", softshrinkRule},
    {"aten.threshold.default", thresholdRule},
    {"aten.prelu.default", preluRule},
    {"aten._prelu_kernel.default", preluRule},
    {"aten.glu.default", gluRule},
    {"aten._softmax.default", softmaxRule<plainSoftmax>},
    {"aten.softmax.int", softmaxRule<plainSoftmax>},
    {"aten._safe_softmax.default", softmaxRule<safeSoftmax>},
    {"aten._log_softmax.default", softmaxRule<logSoftmax>},
    {"aten.log_softmax.int", softmaxRule<logSoftmax>},
    {"aten.dropout.default", dropoutRule},
    {"aten.native_dropout.default", nativeDropoutRule},
};

std::span<const Operator> activationRows() { return rows; }

} // namespace sinter::torch
