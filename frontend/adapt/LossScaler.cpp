/// A loss that is scaled, and steps that are skipped when that was too much.
#include <sinter/train/MixedPrecision.h>

#include "frontend/Raise.h"
#include "frontend/State.h"

#include "frontend/ElementwiseFunctions.h"
#include <sinter/Arguments.h>

#include <sinter/BasicOps.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

namespace sinter::train {

[[noreturn]] static void reject(const std::string &what,
                                std::source_location where) {
  detail::raise(makeError(ErrorKind::invalid_argument, "loss_scaler: " + what,
                          "loss_scaler"),
                where);
}

LossScaler::LossScaler(const LossScalerOptions &given, Where where) try
    : options(given) {
  if (!(given.init_scale > 0) || !std::isfinite(given.init_scale))
    reject(fmt::format("init_scale is {}, not a positive number",
                       given.init_scale),
           where);
  if (!(given.growth_factor > 1) || !std::isfinite(given.growth_factor))
    reject(fmt::format("growth_factor is {}, not above 1", given.growth_factor),
           where);
  if (!(given.backoff_factor > 0 && given.backoff_factor < 1))
    reject(fmt::format("backoff_factor is {}, not between 0 and 1",
                       given.backoff_factor),
           where);
  detail::Arguments("loss_scaler", where)
      .positive("growth_interval", given.growth_interval);
  scale = Param("scale", {}, init::constant(given.init_scale),
                {.requires_grad = false}, where);
  growth_tracker = Param("growth_tracker", {}, init::zeros(),
                         {.dtype = DType::i64, .requires_grad = false}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor LossScaler::scaled(const Tensor &loss, Where where) const try {
  detail::SourceScope scope(where);
  if (!loss.defined())
    detail::throwEmpty("scaled", where);
  DType dtype = loss.dtype() == DType::f64 ? DType::f64 : DType::f32;
  return loss.to(dtype) * scale.tensor(where).to(loss.device()).to(dtype);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor LossScaler::finite(const Gradients &gradients, Where where) const try {
  detail::SourceScope scope(where);
  no_grad guard;
  if (gradients.empty())
    reject("there are no gradients", where);
  Tensor result;
  for (const Gradients::Entry &entry : gradients) {
    Tensor is = all(isfinite(entry.gradient)).to(scale.device());
    result = result.defined() ? logical_and(result, is) : is;
  }
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

Unscaled LossScaler::unscaled(const Gradients &gradients, Where where) const
    try {
  detail::SourceScope scope(where);
  no_grad guard;
  Unscaled result{gradients, finite(gradients, where)};
  Tensor own = 1.0 / scale.tensor(where);
  for (const Gradients::Entry &entry : gradients) {
    const Tensor &gradient = entry.gradient;
    DType dtype = gradient.dtype() == DType::f64 ? DType::f64 : DType::f32;
    result.gradients.set(entry.key, gradient.to(dtype) *
                                        own.to(gradient.device()).to(dtype));
  }
  return result;
} catch (...) {
  detail::raiseExhausted(where);
}

void LossScaler::update(const Tensor &finite, Where where) try {
  detail::SourceScope scope(where);
  no_grad guard;
  if (!finite.defined() || finite.dtype() != DType::boolean ||
      finite.rank() != 0)
    reject("what says whether gradients are finite is no bool of rank 0",
           where);
  Tensor was = scale.tensor(where);
  Tensor isFinite = finite.to(scale.device());
  Tensor count = growth_tracker.tensor(where) + 1;
  Tensor isTime = count == options.growth_interval;
  Tensor grown = was * options.growth_factor;
  grown = sinter::where(isfinite(grown), grown, was);
  scale.set(sinter::where(isFinite, sinter::where(isTime, grown, was),
                          was * options.backoff_factor),
            where);
  growth_tracker.set(
      sinter::where(logical_and(isFinite, logical_not(isTime)), count, 0),
      where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::train
