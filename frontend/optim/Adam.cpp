/// Adam: steps scaled by running means of the gradient and of its square.
#include <sinter/optim/Adam.h>

#include <sinter/Ops.h>

#include <cmath>

namespace sinter::optim {

Adam::Adam(const AdamOptions &options)
    : Optimizer("adam", {"mean", "square"}, options.lr), options(options) {}

Tensor Adam::record(Update &update) {
  auto scalar = [&](double value) { return scalarOf(update, value); };
  double steps = static_cast<double>(update.step);
  double meanBias = 1 - std::pow(options.beta1, steps);
  double squareBias = 1 - std::pow(options.beta2, steps);

  Tensor gradient = decayedGradient(update, options.weight_decay);
  Tensor &mean = update.moments[0];
  Tensor &square = update.moments[1];
  mean = mean * scalar(options.beta1) + gradient * scalar(1 - options.beta1);
  square = square * scalar(options.beta2) +
           gradient * gradient * scalar(1 - options.beta2);
  Tensor size = sqrt(square) * scalar(1 / std::sqrt(squareBias));
  return update.value -
         mean * scalar(lr() / meanBias) / (size + scalar(options.eps));
}

} // namespace sinter::optim
