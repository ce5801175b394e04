/// Times of a program's launches, for a report.
#pragma once

#include "runtime/program/ProfileText.h"
#include "tools/sinter/Measure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinter::cli {

/// What a device takes for a model, and the most that it does.
struct LaunchTimes {
  std::string device;
  runtime::Ceilings ceilings;
  Times run;
  std::vector<runtime::StepGroup> groups;

  /// Nanoseconds of the fastest launch of that kernel which moves and computes
  /// as much; none if there was none.
  std::optional<uint64_t> leastOf(const std::string &kernel, uint64_t bytes,
                                  uint64_t flops) const;
};

/// Runs the model as `sinter profile` does.
Result<LaunchTimes> measureLaunches(const Model &model,
                                    const Arguments &arguments,
                                    int64_t repeats);

} // namespace sinter::cli
