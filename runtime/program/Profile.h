/// Profile: what the launches of this process took, by step, when
/// SINTER_PROFILE is set.
#pragma once

#include "runtime/program/LoadedProgram.h"

#include <cstdint>
#include <string>

namespace sinter::runtime {

/// Counts one launch or copy. Thread-safe.
void countStep(const LoadedProgram &program, const BoundPlan &plan,
               uint32_t step, uint64_t nanoseconds);

/// The steps of all programs that ran, those that took longest first: share of
/// the time, runs, microseconds (mean and least), bytes and their rate, the
/// kernel's skeleton, its ops and its line. Printed when the process ends,
/// unless it was reset after the last launch.
std::string profileTable();
void resetProfile();

} // namespace sinter::runtime
