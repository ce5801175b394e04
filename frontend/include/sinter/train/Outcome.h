/// Outcome: what a training or an evaluation came to.
#pragma once

#include <sinter/train/Events.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::train {

/// A number of a metric at the end, as the metric gives it: an accuracy is from
/// 0 to 1, where events show per cent.
struct Result {
  Split split = Split::train;
  std::string name;
  double value = 0;
  Better better = Better::neither;

  /// How much better it is than another value; less is, unless more is.
  double gain_over(double other) const {
    return better == Better::higher ? value - other : other - value;
  }
};

/// What a training came to.
struct Outcome {
  Status status = Status::finished;
  std::string why;    ///< the rule that stopped it, or what interrupted it
  int64_t epochs = 0; ///< whole ones, over all processes of the run
  int64_t steps = 0;  ///< batches that were trained on, over the whole run
  double seconds = 0; ///< of this process
  std::optional<int64_t> resumed_from; ///< the checkpoint's number
  std::vector<Result> results;         ///< of the last epoch

  /// One number; an Error where there is none.
  double operator()(std::string_view name, Split split = Split::valid) const;
};

} // namespace sinter::train
