/// Losses of numbers and of probabilities.
#include "frontend/nn/LocalOps.h"

#include "frontend/Raise.h"
#include "frontend/UserCallback.h"
#include "frontend/nn/LossCall.h"

#include <sinter/Arguments.h>
#include <sinter/CustomGradient.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Activations.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace sinter {

using detail::LossCall;

//===- Numbers ------------------------------------------------------------===//

/// x - t of one shape.
static Tensor difference(const LossCall &call, const Arg &input,
                         const Arg &target) {
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  return x - t;
}

Tensor mse_loss(const Arg &input, const Arg &target, Reduction reduction) try {
  LossCall call("mse_loss", {&input, &target});
  return call.reduced(square(difference(call, input, target)), reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor l1_loss(const Arg &input, const Arg &target, Reduction reduction) try {
  LossCall call("l1_loss", {&input, &target});
  return call.reduced(abs(difference(call, input, target)), reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor smooth_l1_loss(const Arg &input, const Arg &target,
                      const SmoothL1Options &options) try {
  LossCall call("smooth_l1_loss", {&input, &target});
  detail::Arguments("smooth_l1_loss", input.where)
      .notNegative("beta", options.beta);
  Tensor apart = abs(difference(call, input, target));
  if (options.beta == 0)
    return call.reduced(apart, options.reduction);
  return call.reduced(where(apart < options.beta,
                            square(apart) * (0.5 / options.beta),
                            apart - 0.5 * options.beta),
                      options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor huber_loss(const Arg &input, const Arg &target,
                  const HuberOptions &options) try {
  LossCall call("huber_loss", {&input, &target});
  detail::Arguments("huber_loss", input.where)
      .aboveZero("delta", options.delta);
  Tensor apart = abs(difference(call, input, target));
  return call.reduced(where(apart < options.delta, square(apart) * 0.5,
                            (apart - 0.5 * options.delta) * options.delta),
                      options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

//===- Probabilities ------------------------------------------------------===//

/// log(x), at least -100.
static Tensor boundedLog(const Tensor &x) {
  double least = std::numeric_limits<float>::min();
  Tensor isZero = x < least;
  return where(isZero, -100.0, log(where(isZero, 1.0, x)));
}

/// -(t log(x) + (1 - t) log(1 - x)). Its gradient is (x - t) / (x (1 - x)) at 0
/// and 1 too, where that is bounded by a divisor of 1e-12.
static CustomFunction crossEntropies() {
  return custom_gradient(
      [](std::span<const Tensor> inputs) {
        const Tensor &x = inputs[0], &t = inputs[1];
        return -(t * boundedLog(x) + (1.0 - t) * boundedLog(1.0 - x));
      },
      [](const CustomContext &context) {
        const Tensor &x = context.inputs[0], &t = context.inputs[1];
        const Tensor &grad = context.gradient;
        return std::vector{
            grad * ((x - t) / maximum(x * (1.0 - x), 1e-12)),
            grad * (boundedLog(1.0 - x) - boundedLog(x)),
        };
      });
}

Tensor binary_cross_entropy(const Arg &input, const Arg &target,
                            const WeightedOptions &options) try {
  LossCall call("binary_cross_entropy", {&input, &target});
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  Tensor losses = detail::withOwnGradient(crossEntropies()({x, t}));
  if (Tensor weight = call.given(options.weight); weight.defined())
    losses = losses * weight;
  return call.reduced(losses, options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor
binary_cross_entropy_with_logits(const Arg &input, const Arg &target,
                                 const BceWithLogitsOptions &options) try {
  LossCall call("binary_cross_entropy_with_logits", {&input, &target});
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  // -log(sigmoid(x)) is softplus(-x), and softplus(x) is x + softplus(-x).
  Tensor missed = softplus(-x);
  Tensor losses = (1.0 - t) * x + missed;
  if (Tensor positive = call.given(options.pos_weight); positive.defined())
    losses = (1.0 - t) * x + ((positive - 1.0) * t + 1.0) * missed;
  if (Tensor weight = call.given(options.weight); weight.defined())
    losses = losses * weight;
  return call.reduced(losses, options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor multilabel_soft_margin_loss(const Arg &input, const Arg &target,
                                   const WeightedOptions &options) try {
  LossCall call("multilabel_soft_margin_loss", {&input, &target});
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  if (x.rank() == 0)
    call.fail("the operands have no axis of classes", {x, t});
  Tensor losses = (1.0 - t) * x + softplus(-x);
  if (Tensor weight = call.given(options.weight); weight.defined())
    losses = losses * weight;
  return call.reduced(mean(losses, -1), options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor kl_div(const Arg &input, const Arg &target,
              const KlDivOptions &options) try {
  LossCall call("kl_div", {&input, &target});
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  Tensor losses;
  if (options.log_target) {
    losses = exp(t) * (t - x);
  } else {
    Tensor isThere = t > 0.0; // t log(t) is 0 at 0
    losses = where(isThere, t * log(where(isThere, t, 1.0)), 0.0) - t * x;
  }
  if (options.reduction != Reduction::batchmean)
    return call.reduced(losses, options.reduction);
  if (x.rank() == 0)
    call.fail("batchmean needs a batch axis", {x, t});
  // A mean of sums, so that the batch may be dynamic.
  return call.done(mean(x.rank() > 1 ? sum(flatten(losses, 1), 1) : losses));
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor poisson_nll_loss(const Arg &input, const Arg &target,
                        const PoissonNllOptions &options) try {
  LossCall call("poisson_nll_loss", {&input, &target});
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  Tensor losses =
      options.log_input ? exp(x) - t * x : x - t * log(x + options.eps);
  if (options.full) {
    Tensor isLarge = t > 1.0;
    Tensor safe = where(isLarge, t, 1.0);
    Tensor stirling =
        safe * log(safe) - safe + log(safe * (2 * std::numbers::pi)) * 0.5;
    losses = losses + where(isLarge, stirling, 0.0);
  }
  return call.reduced(losses, options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor gaussian_nll_loss(const Arg &input, const Arg &target, const Arg &var,
                         const GaussianNllOptions &options) try {
  LossCall call("gaussian_nll_loss", {&input, &target, &var});
  Tensor x = call.real(input), t = call.real(target), v = call.real(var);
  call.sameShapes({x, t});
  if (v.rank() == x.rank() - 1)
    v = unsqueeze(v, -1);
  // What is below eps counts as eps, but gets its gradient.
  v = v + (maximum(v, options.eps) - v).detach();
  Tensor losses = (log(v) + square(x - t) / v) * 0.5;
  if (options.full)
    losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return call.reduced(losses, options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

} // namespace sinter
