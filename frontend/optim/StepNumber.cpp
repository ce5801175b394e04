/// Arithmetic of numbers that may be computed in a file.
#include <sinter/optim/StepNumber.h>

#include "frontend/Capture.h"
#include "frontend/Raise.h"
#include "runtime/graph/Builders.h"

#include <sinter/BasicOps.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace sinter::optim {

/// A number of the host beside one of the device. As a plain number of the line
/// it would be a constant in some programs of a training and an argument in
/// others, which is of other bits; a file has constants anyway.
template <typename F>
static Tensor beside(double value, const Tensor &number, F apply) {
  if (sinter::detail::Capture::current())
    return apply(value);
  uint64_t bits = number.dtype() == DType::f64
                      ? std::bit_cast<uint64_t>(value)
                      : std::bit_cast<uint32_t>(static_cast<float>(value));
  return apply(Tensor(
      graph::NodeFactory::scalar(number.dtype(), bits, number.device())));
}

/// The host's result, and the device's or the file's where one of the numbers
/// is theirs.
template <typename F>
static StepNumber combine(const StepNumber &a, const StepNumber &b, F apply) {
  double value = apply(a.value(), b.value());
  if (!a.in_file().defined() && !b.in_file().defined())
    return value;
  if (!b.in_file().defined())
    return {value, beside(b.value(), a.in_file(), [&](const auto &y) {
              return apply(a.in_file(), y);
            })};
  if (!a.in_file().defined())
    return {value, beside(a.value(), b.in_file(), [&](const auto &x) {
              return apply(x, b.in_file());
            })};
  return {value, apply(a.in_file(), b.in_file())};
}

StepNumber operator+(const StepNumber &a, const StepNumber &b) try {
  return combine(a, b, [](const auto &x, const auto &y) { return x + y; });
} catch (...) {
  detail::raiseExhausted({});
}

StepNumber operator-(const StepNumber &a, const StepNumber &b) try {
  return combine(a, b, [](const auto &x, const auto &y) { return x - y; });
} catch (...) {
  detail::raiseExhausted({});
}

StepNumber operator*(const StepNumber &a, const StepNumber &b) try {
  return combine(a, b, [](const auto &x, const auto &y) { return x * y; });
} catch (...) {
  detail::raiseExhausted({});
}

StepNumber operator/(const StepNumber &a, const StepNumber &b) try {
  return combine(a, b, [](const auto &x, const auto &y) { return x / y; });
} catch (...) {
  detail::raiseExhausted({});
}

StepNumber sqrt(const StepNumber &a) try {
  double value = std::sqrt(a.value());
  if (!a.in_file().defined())
    return value;
  return {value, sinter::sqrt(a.in_file())};
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::optim
