/// Times of launches, by their kernels.
#include "tools/sinter/report/Times.h"

#include "tools/sinter/Ceilings.h"

#include <algorithm>

namespace sinter::cli {

using namespace runtime;

std::optional<uint64_t> LaunchTimes::leastOf(const std::string &kernel,
                                             uint64_t bytes,
                                             uint64_t flops) const {
  for (const StepGroup &group : groups)
    if (group.step.kernel == kernel && group.step.bytes == bytes &&
        group.step.flops == flops)
      return group.step.least;
  return std::nullopt;
}

Result<LaunchTimes> measureLaunches(const Model &model,
                                    const Arguments &arguments,
                                    int64_t repeats) {
  SINTER_TRY_ASSIGN(Runnable runnable, makeRunnable(model, arguments));
  // Not in the profile: they touch memory for the first time, make graphs.
  for (int run = 0; run < 2; ++run) {
    RunCounters counters;
    SINTER_TRY(runOnce(runnable, counters));
  }
  LaunchTimes times;
  times.device = toString(runnable.program->device().id());
  SINTER_TRY_ASSIGN(times.ceilings,
                    measureCeilings(runnable.program->device(), arguments));
  resetProfile();
  setProfiling(true);
  Result<Times> all = measure(runnable, 0, std::max<int64_t>(1, repeats - 1));
  setProfiling(false);
  times.groups = groupSteps(stepProfiles());
  resetProfile(); // nothing prints it
  if (!all)
    return all.takeError();
  times.run = *all;
  return times;
}

} // namespace sinter::cli
