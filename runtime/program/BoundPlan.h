/// BoundPlan: a program with concrete dims: sizes, offsets, chunk counts.
#pragma once

#include "runtime/memory/Plan.h"
#include "runtime/program/ProgramData.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// One phase to run.
struct BoundPhase {
  KernelHandle function = nullptr;
  int64_t chunks = 0;
  float chunkMicroseconds = 0;
  int32_t prepares = -1; ///< as in PhaseData
  uint32_t workspace = 0;
  /// Prepares the same in each step of the loop around it: done in the first.
  bool oncePerLoop = false;
};

/// One step to run.
struct BoundStep {
  uint32_t firstPhase = 0;  ///< into BoundPlan::phases
  uint32_t numPhases = 0;   ///< 0 for a copy
  uint32_t firstBuffer = 0; ///< into BoundPlan::bufferList
  uint32_t firstDim = 0;    ///< into BoundPlan::dims
  uint64_t copyBytes = 0;
};

/// What runs: launches and copies, and what they move. `work` counts what a
/// run's limit is about.
struct WorkCount {
  uint64_t work = 0;
  uint64_t launches = 0;
  uint64_t bytesRead = 0;
  uint64_t bytesWritten = 0;
};

/// One loop to run.
struct BoundLoop {
  int64_t count = 0; ///< of a conditional one: at most
  /// Of a conditional one: what is done in each step, and in the first only.
  WorkCount each, once;
  /// Entries of BoundPlan::bufferList that move, and their plan buffers.
  std::vector<std::pair<uint32_t, uint32_t>> moving;
};

/// What temporaries may take of a device.
struct MemoryRoom {
  /// Those that together take so many bytes or less get a place each, so that
  /// no step has to wait for another only because it writes where that one has
  /// read.
  uint64_t spare = 0;
  uint64_t mostAllocation = UINT64_MAX; ///< bytes of one allocation
};

/// Immutable; everything that depends on the symbols' values only.
struct BoundPlan {
  std::vector<int64_t> symbols;
  std::vector<int64_t> values; ///< of ProgramData::exprs
  std::vector<uint64_t> inputBytes;
  std::vector<uint64_t> outputBytes;
  std::vector<std::vector<int64_t>> outputDims;
  MemoryPlan arena; ///< per plan buffer
  uint64_t arenaBytes() const { return uint64_t(arena.bytes()); }
  std::vector<BoundStep> steps;
  std::vector<BoundPhase> phases;
  std::vector<BoundLoop> loops;     ///< as ProgramData::loops
  std::vector<uint32_t> bufferList; ///< plan buffers of all steps
  std::vector<int64_t> dims;        ///< kernel symbols of all steps
  /// But for what conditional loops do.
  WorkCount total;

  /// Evaluates, checks guards and sizes, and places the temporaries.
  static Result<std::shared_ptr<const BoundPlan>>
  make(const ProgramData &program, std::span<const int64_t> symbols,
       const MemoryRoom &room = {});
};

/// Adds `times` that, up to the most work that one run may make: an error then.
Status addWork(WorkCount &total, const WorkCount &each, int64_t times);

/// The size of a plan buffer.
uint64_t bufferBytes(const ProgramData &program, const BoundPlan &plan,
                     uint32_t buffer);

/// The peak of memory of a program with these dims.
PeakMemory peakOf(const ProgramData &program, const BoundPlan &plan);

} // namespace sinter::runtime
