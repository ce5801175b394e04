/// MachineModel: the numbers of a machine by which kernels are chosen.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::compiler {

/// Of a GPU, or of one core of a CPU; 0 where nothing asks a machine of the
/// kind. A Vulkan device has those of the card that kernels were measured on.
/// None of the numbers changes what is computed: what decides the order of
/// sums, fusion too, asks for the target's usual card.
struct MachineModel {
  /// That blocks of threads fall to.
  int64_t multiprocessors = 0;
  /// Of a multiprocessor: registers of 32 bits, threads that it holds, and
  /// warps of which it starts an instruction in a cycle.
  int64_t registers = 0, threads = 0, schedulers = 0;
  /// Of shared memory that a block can have, alone on a multiprocessor.
  int64_t sharedBytes = 0;
  /// Of the second-level cache.
  int64_t level2Bytes = 0;
  /// That memory brings to it at once.
  int64_t lineBytes = 0;
  /// Cycles of a multiprocessor in a microsecond.
  int64_t clockMegahertz = 0;
  /// Additions of numbers of 32 bits, and of 64, that a multiprocessor does in
  /// a cycle.
  int64_t operations = 0, wideOperations = 0;
  /// Multiply-adds of bf16 and f16 that its matrix units do in a cycle.
  int64_t matrixOperations = 0;
  /// That a multiprocessor reads of the second-level cache in a cycle.
  int64_t cacheReadBytes = 0;
  /// That memory moves in a cycle of a multiprocessor.
  int64_t memoryBytes = 0;
  /// That memory moves at least for an element.
  int64_t sectorBytes = 0;
  /// Of a multiprocessor, from asking memory for something to having it.
  int64_t latencyCycles = 0;
  /// Of a multiprocessor, from one kernel to the next.
  int64_t launchCycles = 0;

  /// The shared memory of each of so many blocks of a multiprocessor: it keeps
  /// 1024 bytes for every one of them (CUDA Programming Guide, compute
  /// capabilities 8.0 and 9.0).
  int64_t sharedBytesOf(int64_t blocks) const {
    constexpr int64_t kept = 1024;
    return (sharedBytes + kept) / blocks - kept;
  }

  /// Of that many operations (`operationsOf`) on numbers of so many bits, by
  /// all multiprocessors together.
  double microsecondsOfOperations(double count, unsigned bits) const {
    int64_t rate = bits > 32 ? wideOperations : operations;
    return count /
           (double(rate) * double(multiprocessors) * double(clockMegahertz));
  }
  double microsecondsOfBytes(double bytes) const {
    return bytes / (double(memoryBytes) * double(clockMegahertz));
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
  /// What a card may have beside the usual one of its target.
  enum class Own { any, more, same };

  const char *name;
  int64_t MachineModel::*value;
  const char *meaning;
  Own own = Own::any;
};
std::span<const MachineField> machineFields();

/// An H200's: what kernels were measured on.
MachineModel measuredMachine();

/// A core's of a processor for servers, with vectors of 512 bits.
MachineModel coreMachine();

/// `usual` with what `text` says, which begins and ends with braces:
/// `{multiprocessors=114+memory_bytes=1690}`. An error of kind
/// `invalid_argument` names the field, or the ones that there are: those that
/// are not 0 in `usual`.
Result<MachineModel> parseMachine(std::string_view text,
                                  const MachineModel &usual);

} // namespace sinter::compiler
