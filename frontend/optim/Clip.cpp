/// Clipping of gradients, between `backward` and `step`.
#include <sinter/optim/Clip.h>

#include "frontend/Raise.h"
#include "frontend/nn/LocalOps.h"

#include <sinter/BasicOps.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

namespace sinter::optim {

/// Replaces each gradient by what `function` makes of it.
static void change(Gradients &gradients,
                   std::invocable<const Tensor &> auto function) {
  std::vector<std::pair<uint64_t, Tensor>> changed;
  for (const Gradients::Entry &entry : gradients)
    changed.emplace_back(entry.key, function(entry.gradient));
  for (auto &[key, gradient] : changed)
    gradients.set(key, std::move(gradient));
}

static void checkLimit(const char *op, const char *name, double limit,
                       const SourceLine &where) {
  if (!(limit >= 0))
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("{}: {} is {}, not a number from 0 on",
                                        op, name, limit),
                            op),
                  where);
}

static void checkPower(const char *op, double p, const SourceLine &where) {
  if (!(p > 0))
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("{}: p is {}, not a positive number", op, p), op),
        where);
}

/// The dtype to sum in.
static DType widened(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

static Tensor normOf(const Tensor &gradient, double p) {
  return detail::vectorNorm(gradient.to(widened(gradient.dtype())), p, {},
                            false);
}

static Tensor scaled(const Tensor &gradient, const Tensor &norm,
                     double maxNorm) {
  Tensor factor = minimum(scalar(maxNorm) / (norm + 1e-6), 1.0);
  DType dtype = widened(gradient.dtype());
  return (gradient.to(dtype) * factor.to(dtype)).to(gradient.dtype());
}

/// The sum of |g|^p; the largest |g| for p = infinity.
static Tensor powerSum(const Tensor &gradient, double p) {
  Tensor size = abs(gradient.to(widened(gradient.dtype())));
  return std::isinf(p) ? amax(size) : sum(detail::power(size, p));
}

Tensor grad_norm(const Gradients &gradients, double p,
                 std::source_location where) try {
  detail::SourceScope scope(where);
  if (gradients.empty())
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "grad_norm: there are no gradients", "grad_norm"),
                  where);
  checkPower("grad_norm", p, where);
  Tensor total;
  for (const Gradients::Entry &entry : gradients) {
    Tensor own = powerSum(entry.gradient, p);
    if (!total.defined())
      total = own;
    else
      total = std::isinf(p) ? maximum(total, own) : total + own;
  }
  return std::isinf(p) ? total : detail::power(total, 1 / p);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor clip_grad_norm(Gradients &gradients, double max_norm, double p,
                      std::source_location where) try {
  detail::SourceScope scope(where);
  no_grad guard;
  checkLimit("clip_grad_norm", "max_norm", max_norm, where);
  Tensor norm = grad_norm(gradients, p, where);
  change(gradients, [&](const Tensor &gradient) {
    return scaled(gradient, norm, max_norm);
  });
  return norm;
} catch (...) {
  detail::raiseExhausted(where);
}

void clip_each_grad_norm(Gradients &gradients, double max_norm, double p,
                         std::source_location where) try {
  detail::SourceScope scope(where);
  no_grad guard;
  checkLimit("clip_each_grad_norm", "max_norm", max_norm, where);
  checkPower("clip_each_grad_norm", p, where);
  change(gradients, [&](const Tensor &gradient) {
    return scaled(gradient, normOf(gradient, p), max_norm);
  });
} catch (...) {
  detail::raiseExhausted(where);
}

void clip_grad_value(Gradients &gradients, double limit,
                     std::source_location where) try {
  detail::SourceScope scope(where);
  no_grad guard;
  checkLimit("clip_grad_value", "the limit", limit, where);
  change(gradients, [&](const Tensor &gradient) {
    return minimum(maximum(gradient, scalar(-limit)), scalar(limit));
  });
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::optim
