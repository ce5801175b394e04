/// Adam and its kin: steps scaled by running means of the gradient and of its
/// size.
#include <sinter/optim/Adam.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>

#include <cmath>

namespace sinter::optim {

/// What all of these have.
template <typename Options>
static detail::Arguments checked(const char *name, const Options &options,
                                 const SourceLine &where) {
  detail::Arguments call(name, where);
  call.notNegative("lr", options.lr)
      .partBelowOne("beta1", options.beta1)
      .partBelowOne("beta2", options.beta2)
      .notNegative("eps", options.eps)
      .notNegative("weight_decay", options.weight_decay);
  return call;
}

//===- Adam, AdamW --------------------------------------------------------===//

Adam::Adam(const AdamOptions &options, Where where)
    : Adam("adam", options, Decay::gradient, where) {}

Adam::Adam(std::string kind, const AdamOptions &options, Decay decay,
           Where where) try
    : Optimizer(kind,
                options.amsgrad
                    ? std::vector<Moment>{{"mean"}, {"square"}, {"max_square"}}
                    : std::vector<Moment>{{"mean"}, {"square"}},
                options.lr),
      options(options), decay(decay) {
  checked(kind.c_str(), options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

AdamW::AdamW(const AdamWOptions &options, Where where)
    : Adam("adamw",
           {.lr = options.lr,
            .beta1 = options.beta1,
            .beta2 = options.beta2,
            .eps = options.eps,
            .weight_decay = options.weight_decay,
            .amsgrad = options.amsgrad,
            .maximize = options.maximize},
           Decay::parameter, where) {}

Tensor Adam::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  StepNumber meanBias = 1.0 - powerOf(update, options.beta1);
  StepNumber squareBias = 1.0 - powerOf(update, options.beta2);

  bool throughGradient = decay == Decay::gradient;
  double weightDecay = decayOf(update, options.weight_decay);
  Tensor gradient =
      gradientOf(update, throughGradient ? weightDecay : 0, options.maximize);
  Tensor value = update.value;
  if (!throughGradient && weightDecay != 0)
    value = value * scalar(1.0 - update.lr * weightDecay);
  Tensor &mean = update.moments[0];
  Tensor &square = update.moments[1];
  mean = runningMean(update, mean, gradient, options.beta1);
  square = runningMean(update, square, gradient * gradient, options.beta2);
  Tensor scaledBy = square;
  if (options.amsgrad)
    scaledBy = update.moments[2] = maximum(update.moments[2], square);
  Tensor scale = scalar(1.0 / sqrt(squareBias));
  Tensor step = scalar(update.lr / meanBias);
  return adaptive_step(value, mean, scaledBy, step, scale, scalar(options.eps));
} catch (...) {
  detail::raiseExhausted({});
}

//===- Adamax -------------------------------------------------------------===//

Adamax::Adamax(const AdamaxOptions &options, Where where) try
    : Optimizer("adamax", {{"mean"}, {"largest"}}, options.lr),
      options(options) {
  checked("adamax", options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Adamax::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  StepNumber meanBias = 1.0 - powerOf(update, options.beta1);
  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor &mean = update.moments[0];
  Tensor &largest = update.moments[1];
  mean = runningMean(update, mean, gradient, options.beta1);
  largest = maximum(largest * scalar(options.beta2),
                    abs(gradient) + scalar(options.eps));
  return update.value - mean * scalar(update.lr / meanBias) / largest;
} catch (...) {
  detail::raiseExhausted({});
}

//===- NAdam --------------------------------------------------------------===//

NAdam::NAdam(const NAdamOptions &options, Where where) try
    : Optimizer("nadam", {{"mean"}, {"square"}}, options.lr), options(options) {
  checked("nadam", options, where)
      .notNegative("momentum_decay", options.momentum_decay);
} catch (...) {
  detail::raiseExhausted(where);
}

double NAdam::momentumAt(int64_t step) const try {
  double fading = std::pow(0.96, double(step) * options.momentum_decay);
  return options.beta1 * (1 - 0.5 * fading);
} catch (...) {
  detail::raiseExhausted({});
}

double NAdam::momentumProduct(int64_t step) try {
  for (auto next = static_cast<int64_t>(products.size()); next <= step; ++next)
    products.push_back(products.back() * momentumAt(next));
  return products[step];
} catch (...) {
  detail::raiseExhausted({});
}

Tensor NAdam::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  refuseFile();
  double lr = update.lr.value();
  double squareBias =
      1 - std::pow(options.beta2, static_cast<double>(update.step));
  double now = momentumAt(update.step), next = momentumAt(update.step + 1);
  double product = momentumProduct(update.step);
  double nextProduct = product * next * (options.repeats_momentum ? now : 1);

  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor &mean = update.moments[0];
  Tensor &square = update.moments[1];
  mean = runningMean(update, mean, gradient, options.beta1);
  square = runningMean(update, square, gradient * gradient, options.beta2);
  Tensor size =
      sqrt(square) * scalar(1 / std::sqrt(squareBias)) + scalar(options.eps);
  Tensor direction = gradient * scalar(lr * (1 - now) / (1 - product)) +
                     mean * scalar(lr * next / (1 - nextProduct));
  return update.value - direction / size;
} catch (...) {
  detail::raiseExhausted({});
}

//===- RAdam --------------------------------------------------------------===//

RAdam::RAdam(const RAdamOptions &options, Where where) try
    : Optimizer("radam", {{"mean"}, {"square"}}, options.lr), options(options) {
  checked("radam", options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

/// How much the scaled step counts; nothing while the variance of the scale
/// cannot be told.
static double rectification(double beta2, double steps) {
  double power = std::pow(beta2, steps);
  double longest = 2 / (1 - beta2) - 1;
  double length = longest - 2 * steps * power / (1 - power);
  if (length <= 5)
    return 0;
  return std::sqrt((length - 4) * (length - 2) * longest /
                   ((longest - 4) * (longest - 2) * length));
}

Tensor RAdam::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  double steps = static_cast<double>(update.step);
  refuseFile();
  double rate = update.lr.value() / (1 - std::pow(options.beta1, steps));
  double rectified = rectification(options.beta2, steps) *
                     std::sqrt(1 - std::pow(options.beta2, steps));

  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor &mean = update.moments[0];
  Tensor &square = update.moments[1];
  mean = runningMean(update, mean, gradient, options.beta1);
  square = runningMean(update, square, gradient * gradient, options.beta2);
  // Plain and scaled steps are one program: one of the two numbers is 0.
  Tensor size = sqrt(square) + scalar(options.eps);
  Tensor scale =
      scalar(rectified == 0 ? rate : 0) + scalar(rate * rectified) / size;
  return update.value - mean * scale;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::optim
