/// MetricInfo: what is known of a metric besides its value.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sinter::metrics {

/// Name, meaning and printed form of a metric.
struct MetricInfo {
  std::string name;
  std::string unit = {}; ///< `%` prints a hundred times the value
  /// Which of two values is the better one; empty where neither is.
  std::optional<bool> higher_is_better = {};
  int digits = 4; ///< behind the point, when printed

  /// `97.25 %`, `0.0312`, `nan`.
  std::string format(double value) const;
  /// Whether `value` is better than `other`; false where neither is, and for
  /// NaN. Anything is better than NaN.
  bool is_better(double value, double other) const;
};

/// One number of a metric. The name is the metric's, and for one of several
/// what follows a point: `precision.3`.
struct Value {
  std::string name;
  double value = 0;
};

} // namespace sinter::metrics
