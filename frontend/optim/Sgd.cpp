/// Sgd: gradient descent with momentum and weight decay.
#include <sinter/optim/Sgd.h>

namespace sinter::optim {

Sgd::Sgd(const SgdOptions &options)
    : Optimizer("sgd",
                options.momentum != 0 ? std::vector<std::string>{"momentum"}
                                      : std::vector<std::string>{},
                options.lr),
      options(options) {}

Tensor Sgd::record(Update &update) {
  auto scalar = [&](double value) { return scalarOf(update, value); };
  Tensor step = decayedGradient(update, options.weight_decay);
  if (!update.moments.empty()) {
    Tensor momentum = scalar(options.momentum);
    Tensor &velocity = update.moments.front();
    velocity = velocity * momentum + step;
    step = options.nesterov ? step + velocity * momentum : velocity;
  }
  return update.value - step * scalar(lr());
}

} // namespace sinter::optim
