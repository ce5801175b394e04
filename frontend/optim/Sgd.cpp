/// Sgd: gradient descent with momentum and weight decay.
#include <sinter/optim/Sgd.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>

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

/// How much of a gradient goes into the momentum: all of the first.
StepNumber Sgd::dampened(const Update &update) try {
  StepNumber count = countOf(update);
  double later = 1 - options.dampening;
  if (!count.in_file().defined())
    return update.step == 1 ? 1 : later;
  return {update.step == 1 ? 1 : later,
          where(count.in_file() == 1.0, count.in_file(), later)};
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Sgd::record(Update &update) try {
  auto scalar = [&](const StepNumber &number) {
    return scalarOf(update, number);
  };
  Tensor step = gradientOf(update, decayOf(update, options.weight_decay),
                           options.maximize);
  if (!update.moments.empty()) {
    Tensor momentum = scalar(options.momentum);
    Tensor &velocity = update.moments.front();
    Tensor taken = step;
    if (options.dampening != 0)
      taken = step * scalar(dampened(update));
    velocity = velocity * momentum + taken;
    step = options.nesterov ? step + velocity * momentum : velocity;
  }
  return update.value - step * scalar(update.lr);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::optim
