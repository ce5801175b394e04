/// MachineModel: the numbers of a machine by which kernels are chosen.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// Of a GPU; a CPU's is empty, and of a Vulkan device it is that of the card
/// that kernels were measured on. None of the numbers changes what is computed:
/// what decides the order of sums asks for the target's usual card.
struct MachineModel {
  /// That blocks of threads fall to.
  int64_t multiprocessors = 0;
  /// That memory moves in a cycle of a multiprocessor.
  int64_t memoryBytes = 0;
  /// Of a multiprocessor, from one kernel to the next.
  int64_t launchCycles = 0;

  bool operator==(const MachineModel &) const = default;
};

/// A card, and that of every target of the name: what decides the order of sums
/// asks the latter.
struct Machines {
  MachineModel own, usual;
};

/// A number as texts name it.
struct MachineField {
  const char *name;
  int64_t MachineModel::*value;
  const char *meaning;
};
std::span<const MachineField> machineFields();

/// An H200's: what kernels were measured on.
MachineModel measuredMachine();

/// `usual` with what `text` says, which begins and ends with braces:
/// `{multiprocessors=114+memory_bytes=1690}`. An error of kind
/// `invalid_argument` names the field, or the ones that there are.
Result<MachineModel> parseMachine(std::string_view text,
                                  const MachineModel &usual);

} // namespace sinter::compiler
