/// RMSprop, Adagrad, Adadelta and Rprop: a rate of its own for each element.
#include <sinter/optim/Adaptive.h>

#include <sinter/BasicOps.h>

namespace sinter::optim {

//===- RMSprop ------------------------------------------------------------===//

RMSprop::RMSprop(const RMSpropOptions &options)
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
      options(options) {}

Tensor RMSprop::record(Update &update) {
  auto scalar = [&](double value) { return scalarOf(update, value); };
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
}

//===- Adagrad ------------------------------------------------------------===//

Adagrad::Adagrad(const AdagradOptions &options)
    : Optimizer("adagrad", {{"sum", options.initial_accumulator_value}},
                options.lr),
      options(options) {}

Tensor Adagrad::record(Update &update) {
  auto scalar = [&](double value) { return scalarOf(update, value); };
  double before = static_cast<double>(update.step - 1);
  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor &sum = update.moments[0];
  sum = sum + gradient * gradient;
  return update.value -
         gradient * scalar(update.lr / (1 + before * options.lr_decay)) /
             (sqrt(sum) + scalar(options.eps));
}

//===- Adadelta -----------------------------------------------------------===//

Adadelta::Adadelta(const AdadeltaOptions &options)
    : Optimizer("adadelta", {{"square"}, {"step_square"}}, options.lr),
      options(options) {}

Tensor Adadelta::record(Update &update) {
  auto scalar = [&](double value) { return scalarOf(update, value); };
  Tensor gradient = gradientOf(update, decayOf(update, options.weight_decay),
                               options.maximize);
  Tensor eps = scalar(options.eps);
  Tensor &square = update.moments[0];
  Tensor &steps = update.moments[1];
  square = runningMean(update, square, gradient * gradient, options.rho);
  Tensor step = gradient * sqrt(steps + eps) / sqrt(square + eps);
  steps = runningMean(update, steps, step * step, options.rho);
  return update.value - step * scalar(update.lr);
}

//===- Rprop --------------------------------------------------------------===//

Rprop::Rprop(const RpropOptions &options)
    : Optimizer("rprop", {{"gradient"}, {"step", options.lr}}, options.lr),
      options(options) {}

Tensor Rprop::record(Update &update) {
  auto scalar = [&](double value) { return scalarOf(update, value); };
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
}

} // namespace sinter::optim
