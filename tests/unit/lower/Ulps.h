/// Distances in units in the last place.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter::compiler {

/// How many units in the last place of T lie between them.
template <typename T> double ulps(T got, long double want) {
  T nearest = T(want);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got)
      return 0;
    // An overflow may begin one unit early or late.
    return std::abs(double(want)) > 0.999 * std::numeric_limits<T>::max() ? 1
                                                                          : 1e9;
  }
  int exponent = std::max(std::ilogb(double(std::abs(want))),
                          std::numeric_limits<T>::min_exponent - 1);
  if (want == 0)
    exponent = std::numeric_limits<T>::min_exponent - 1;
  long double unit =
      std::ldexp(1.0L, exponent + 1 - std::numeric_limits<T>::digits);
  return double(std::abs(got - want) / unit);
}

} // namespace sinter::compiler
