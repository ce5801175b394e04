/// Profile: what the launches of this process took, by step, when
/// SINTER_PROFILE is set or somebody measures.
#pragma once

#include "runtime/program/LoadedProgram.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// Where the steps of this process are timed: SINTER_PROFILE, or between the
/// two calls of setProfiling.
bool isProfiling();
/// Starts or ends timing, and keeping every single launch: `profileEvents`.
void setProfiling(bool on);

using ProfileClock = std::chrono::steady_clock;

/// Counts one launch or copy. Thread-safe.
void countStep(const LoadedProgram &program, const BoundPlan &plan,
               uint32_t step, ProfileClock::time_point begin,
               ProfileClock::time_point end);

/// One step of one program, and its times.
struct StepProfile {
  std::string kernel; ///< its name; empty for a copy
  std::string kind;   ///< the kernel's skeleton, or `copy`
  std::string ops;    ///< `matmul add relu`
  std::string site;   ///< the line of its last op, or empty
  /// The lines of its ops, and how many of them each has.
  std::vector<std::pair<std::string, double>> lines;
  uint64_t runs = 0;
  uint64_t bytes = 0; ///< read and written by the last run
  uint64_t flops = 0; ///< of the last run
  uint64_t total = 0; ///< nanoseconds
  uint64_t least = UINT64_MAX;
};
/// The steps of all programs that ran, those that took longest first.
std::vector<StepProfile> stepProfiles();

/// One launch or copy.
struct ProfileEvent {
  StepProfile step;    ///< of this run alone
  uint64_t begin = 0;  ///< nanoseconds since profiling was started
  uint32_t thread = 0; ///< numbered from 0
};
/// What ran since setProfiling(true), in order; the first million.
std::vector<ProfileEvent> profileEvents();

/// `stepProfiles` as a table (ProfileText.h). Printed when the process ends if
/// SINTER_PROFILE is set, unless it was reset after the last launch.
std::string profileTable();
void resetProfile();

} // namespace sinter::runtime
