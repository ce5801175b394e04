/// Stats: what programs and caches did so far, by counters. Flushes and the
/// reasons of misses are the recorder's to count.
#pragma once

#include "runtime/program/Program.h"
#include "runtime/program/ProgramCache.h"

#include <cstdint>

namespace sinter::runtime {

/// A snapshot of the counters.
struct Stats {
  uint64_t runs = 0;
  uint64_t launches = 0;
  uint64_t bytesRead = 0;
  uint64_t bytesWritten = 0;
  uint64_t phasesSkipped = 0; ///< their results were kept: packed parameters
  uint64_t recordings = 0;    ///< runs that made graphs of their work
  uint64_t replays = 0;       ///< runs that launched such graphs again
  uint64_t donationsGranted = 0;
  uint64_t donationsRefused = 0;
  uint64_t compiles = 0;
  double compileMilliseconds = 0;
  uint64_t memoryHits = 0; ///< programs found in memory
  uint64_t diskHits = 0;   ///< programs found on disk
  uint64_t kernelsCompiled = 0;
  uint64_t kernelMemoryHits = 0; ///< kernels of compiled programs found so
  uint64_t kernelDiskHits = 0;
  uint64_t blocksChecked = 0; ///< of constants, when they were first used
  uint64_t warnings = 0;
};

/// All functions are thread-safe.
Stats readStats();
void resetStats();

void countRun(const RunCounters &counters, uint64_t donationsRefused);
void countCompile(double milliseconds);
void countHit(bool onDisk);
void countCheckedBlock();
void countKernel(CacheSource source);

} // namespace sinter::runtime
