/// Sgd: gradient descent with momentum and weight decay.
#include <sinter/optim/Sgd.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>

namespace sinter::optim {

Sgd::Sgd(const SgdOptions &options, Where where) try
    : Optimizer("sgd",
                options.momentum != 0 ? std::vector<Moment>{{"momentum"}}
                                      : std::vector<Moment>{},
                options.lr),
      options(options) {
  detail::Arguments("sgd", where)
      .notNegative("lr", options.lr)
      .notNegative("momentum", options.momentum)
      .notNegative("weight_decay", options.weight_decay)
      .within("dampening", options.dampening, 0, 1);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Sgd::record(Update &update) try {
  auto scalar = [&](double value) { return scalarOf(update, value); };
  Tensor step = gradientOf(update, decayOf(update, options.weight_decay),
                           options.maximize);
  if (!update.moments.empty()) {
    Tensor momentum = scalar(options.momentum);
    Tensor &velocity = update.moments.front();
    Tensor taken = step;
    if (options.dampening != 0)
      taken = step * scalar(update.step == 1 ? 1 : 1 - options.dampening);
    velocity = velocity * momentum + taken;
    step = options.nesterov ? step + velocity * momentum : velocity;
  }
  return update.value - step * scalar(update.lr);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::optim
