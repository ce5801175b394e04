/// How far numbers of f32 are from those of f64.
#pragma once

#include <cmath>
#include <vector>

namespace sinter::test {

/// The root of the mean square of a difference, of that of what is right.
inline double relativeError(const std::vector<float> &result,
                            const std::vector<double> &expected) {
  double off = 0, all = 0;
  for (size_t at = 0; at < expected.size(); ++at) {
    off += (result[at] - expected[at]) * (result[at] - expected[at]);
    all += expected[at] * expected[at];
  }
  return std::sqrt(off / all);
}

} // namespace sinter::test
