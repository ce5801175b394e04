/// RMSprop, Adagrad, Adadelta and Rprop: a rate of its own for each element.
#include <sinter/optim/Adaptive.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>

namespace sinter::optim {

//===- RMSprop ------------------------------------------------------------===//

RMSprop::RMSprop(const RMSpropOptions &options, Where where) try
    : Optimizer(
          "rmsprop",
          [&] {
            std::vector<Moment> moments{{"square"}};
            if (options.momentum != 0)
              moments.push_back({"momentum"});
            if (options.centered)
              moments.push_back({"mean"});
            return moments;
          }(),
          options.lr),
      options(options) {
  detail::Arguments("rmsprop", where)
      .notNegative("lr", options.lr)
      .within("alpha", options.alpha, 0, 1)
      .notNegative("eps", options.eps)
      .notNegative("weight_decay", options.weight_decay)
      .notNegative("momentum", options.momentum);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor RMSprop::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor &square = update.moments[0];
  square = runningMean(update, square, gradient * gradient, options.alpha);
  Tensor variance = square;
  if (options.centered) {
    Tensor &mean = update.moments.back();
    mean = runningMean(update, mean, gradient, options.alpha);
    variance = maximum(square - mean * mean, 0.0);
  }
  Tensor step = gradient / (sqrt(variance) + scalar(options.eps));
  if (options.momentum != 0) {
    Tensor &velocity = update.moments[1];
    velocity = velocity * scalar(options.momentum) + step;
    step = velocity;
  }
  return update.value - step * scalar(update.lr);
} catch (...) {
  detail::raiseExhausted({});
}

//===- Adagrad ------------------------------------------------------------===//

Adagrad::Adagrad(const AdagradOptions &options, Where where) try
    : Optimizer("adagrad", {{"sum", options.initial_accumulator_value}},
                options.lr),
      options(options) {
  detail::Arguments("adagrad", where)
      .notNegative("lr", options.lr)
      .notNegative("lr_decay", options.lr_decay)
      .notNegative("weight_decay", options.weight_decay)
      .notNegative("initial_accumulator_value",
                   options.initial_accumulator_value)
      .notNegative("eps", options.eps);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Adagrad::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  StepNumber before = countOf(update) - 1.0;
  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor &sum = update.moments[0];
  sum = sum + gradient * gradient;
  return update.value -
         gradient * scalar(update.lr / (1.0 + before * options.lr_decay)) /
             (sqrt(sum) + scalar(options.eps));
} catch (...) {
  detail::raiseExhausted({});
}

//===- Adadelta -----------------------------------------------------------===//

Adadelta::Adadelta(const AdadeltaOptions &options, Where where) try
    : Optimizer("adadelta", {{"square"}, {"step_square"}}, options.lr),
      options(options) {
  detail::Arguments("adadelta", where)
      .notNegative("lr", options.lr)
      .within("rho", options.rho, 0, 1)
      .notNegative("eps", options.eps)
      .notNegative("weight_decay", options.weight_decay);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Adadelta::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor eps = scalar(options.eps);
  Tensor &square = update.moments[0];
  Tensor &steps = update.moments[1];
  square = runningMean(update, square, gradient * gradient, options.rho);
  Tensor step = gradient * sqrt(steps + eps) / sqrt(square + eps);
  steps = runningMean(update, steps, step * step, options.rho);
  return update.value - step * scalar(update.lr);
} catch (...) {
  detail::raiseExhausted({});
}

//===- Rprop --------------------------------------------------------------===//

Rprop::Rprop(const RpropOptions &options, Where where) try
    : Optimizer("rprop", {{"gradient"}, {"step", options.lr}}, options.lr),
      options(options) {
  detail::Arguments("rprop", where)
      .notNegative("lr", options.lr)
      .within("eta_minus", options.eta_minus, 0, 1)
      .within("eta_plus", options.eta_plus, 1,
              std::numeric_limits<double>::max())
      .notNegative("min_step", options.min_step)
      .within("max_step", options.max_step, options.min_step,
              std::numeric_limits<double>::max());
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Rprop::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  Tensor gradient = gradientOf(update, 0, options.maximize);
  Tensor &last = update.moments[0];
  Tensor &step = update.moments[1];
  Tensor agreement = gradient * last;
  Tensor turned = agreement < 0.0;
  Tensor changed = where(agreement > 0.0, step * scalar(options.eta_plus),
                         where(turned, step * scalar(options.eta_minus), step));
  step = clamp(changed, options.min_step, options.max_step);
  last = where(turned, 0.0, gradient);
  return update.value - where(last > 0.0, step, where(last < 0.0, -step, 0.0));
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::optim
