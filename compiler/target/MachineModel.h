/// MachineModel: the numbers of a machine by which kernels are chosen.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// Of a GPU, or of one core of a CPU. A Vulkan device has those of the card
/// that kernels were measured on. None of the numbers changes what is computed:
/// what decides the order of sums, fusion too, asks for the target's usual
/// card.
struct MachineModel {
  /// That blocks of threads fall to.
  int64_t multiprocessors = 0;
  /// Cycles of a multiprocessor in a microsecond.
  int64_t clockMegahertz = 0;
  /// Additions of numbers of 32 bits, and of 64, that a multiprocessor does in
  /// a cycle.
  int64_t operations = 0, wideOperations = 0;
  /// That memory moves in a cycle of a multiprocessor.
  int64_t memoryBytes = 0;
  /// That memory moves at least for an element.
  int64_t sectorBytes = 0;
  /// Of a multiprocessor, from one kernel to the next.
  int64_t launchCycles = 0;

  /// Of that many operations (`operationsOf`) on numbers of so many bits, by
  /// all multiprocessors together.
  double microsecondsOfOperations(double count, unsigned bits) const {
    int64_t rate = bits > 32 ? wideOperations : operations;
    return count / double(rate * multiprocessors * clockMegahertz);
  }
  double microsecondsOfBytes(double bytes) const {
    return bytes / double(memoryBytes * clockMegahertz);
  }
  double launchMicroseconds() const {
    return double(launchCycles) / double(clockMegahertz);
  }

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

/// A core's of a processor for servers, with vectors of 512 bits.
MachineModel coreMachine();

/// `usual` with what `text` says, which begins and ends with braces:
/// `{multiprocessors=114+memory_bytes=1690}`. An error of kind
/// `invalid_argument` names the field, or the ones that there are.
Result<MachineModel> parseMachine(std::string_view text,
                                  const MachineModel &usual);

} // namespace sinter::compiler
