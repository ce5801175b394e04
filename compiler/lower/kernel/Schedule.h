/// Schedules: the ways in which a kernel's work may be shared out.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"

namespace sinter::compiler {

/// One of them. A product's tile is not part of it.
struct Way {
  program::Skeleton skeleton = program::Skeleton::rows;
  program::Owner owner = program::Owner::warp;
  program::Staging staging = program::Staging::memory;
  int64_t split = 0; ///< as a schedule's; 0 where the skeleton has one

  bool operator==(const Way &) const = default;
};

/// `rows by block in registers`, `rows by grid of 65536`; where a root has
/// loops of its own, the skeleton alone.
std::string nameOf(const Way &way);

/// Those that a kernel of `canEmit` has, the one that is taken unasked first.
/// It follows from the body, the target and numerics, never from a card. The
/// schedule of the kernel has no part in it.
llvm::SmallVector<Way> candidates(KernelWriter &writer);

/// The one of a kernel's candidates that its schedule says, or else the first.
/// Fails after an error that names the field which no candidate has so.
llvm::FailureOr<Way> chosenWay(program::KernelOp kernel,
                               llvm::ArrayRef<Way> candidates);

/// Adds the phases of a kernel without a root of its own.
void emitRowsBy(KernelWriter &writer, const Way &way);

/// A schedule with another choice: the candidate of that name, where the kernel
/// has one, or else a product's tile.
program::ScheduleAttr withChoice(program::KernelOp kernel,
                                 llvm::StringRef name);

} // namespace sinter::compiler
