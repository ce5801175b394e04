/// Arithmetic of numbers that may be computed in a file.
#include <sinter/optim/StepNumber.h>

#include "frontend/Raise.h"

#include <sinter/BasicOps.h>

#include <cmath>

namespace sinter::optim {

/// The host's result, and the file's where one of the numbers is the file's.
template <typename F>
static StepNumber combine(const StepNumber &a, const StepNumber &b, F apply) {
  double value = apply(a.value(), b.value());
  if (!a.in_file().defined() && !b.in_file().defined())
    return value;
  if (!b.in_file().defined())
    return {value, apply(a.in_file(), b.value())};
  if (!a.in_file().defined())
    return {value, apply(a.value(), b.in_file())};
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
