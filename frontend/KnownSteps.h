/// KnownSteps: which recordings led to programs that are in memory.
#pragma once

#include "runtime/program/Program.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace sinter::detail {

/// A step that a flush evaluated as one program.
struct KnownStep {
  std::weak_ptr<const runtime::Program> program;
  bool isInterpreted = false; ///< it needs no program
  size_t ops = 0;             ///< of the program
  size_t temporaries = 0;     ///< bytes that they take at most
  bool endsAtLimit = false;   ///< the flush was one of reason `limit`
};

/// What follows recordings that hash to one of `marks`, from now on.
void rememberStep(std::span<const uint64_t> marks, const KnownStep &step);

/// What followed, unless its program is gone.
std::optional<KnownStep> findStep(uint64_t mark);

} // namespace sinter::detail
