/// ProfileText: a profile as a table, and what stands out in it.
#pragma once

#include "runtime/program/Profile.h"

#include <optional>

namespace sinter::runtime {

/// The most that a device does.
struct Ceilings {
  double bytesPerSecond = 0;
  double flopsPerSecond = 0;
  std::string from; ///< where they are from: `measured by a copy`
};

/// What a launch cannot be faster than.
struct Bound {
  double bytesNanoseconds = 0; ///< to read and write what it does
  double flopsNanoseconds = 0; ///< to compute that

  bool byMemory() const { return bytesNanoseconds >= flopsNanoseconds; }
  double nanoseconds() const {
    return byMemory() ? bytesNanoseconds : flopsNanoseconds;
  }
};
Bound boundOf(const Ceilings &ceilings, const StepProfile &step);

/// Equal launches: of one kernel, that move and compute as much.
struct StepGroup {
  StepProfile step;      ///< times and runs of all together
  uint64_t launches = 1; ///< that there are of it in a step
  /// What part of its bound the fastest reaches.
  double partOfBound(const Ceilings &ceilings) const;
};
/// Those that took longest first.
std::vector<StepGroup> groupSteps(const std::vector<StepProfile> &steps);

/// Groups that take over 3 % of the time and reach under 25 % of their bound.
std::vector<StepGroup> farFromBound(const std::vector<StepGroup> &groups,
                                    const Ceilings &ceilings);

/// A line of the user's, and the nanoseconds that are its share: a launch's are
/// shared by the ops in it.
using LineShare = std::pair<std::string, double>;
std::vector<LineShare> lineShares(const std::vector<StepProfile> &steps);

/// A row for each group: its share of the time, launches, microseconds (mean
/// and least), rates, the microseconds that its bytes and its operations take
/// at least, what part of the larger it reaches, skeleton, ops and lines. Then
/// those that are far from their bounds, and the share of each line. Without
/// ceilings nothing of bounds.
std::string profileText(const std::vector<StepProfile> &steps,
                        const std::optional<Ceilings> &ceilings);

} // namespace sinter::runtime
