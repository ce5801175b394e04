/// Stats: what the process did so far, by counters.
#pragma once

#include "runtime/program/Program.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// How often something happened for one reason at one line.
struct SiteCount {
  std::string reason;
  SiteId site = 0;
  uint64_t count = 0;
};

/// A snapshot of the counters.
struct Stats {
  uint64_t runs = 0;
  uint64_t launches = 0;
  uint64_t bytesRead = 0;
  uint64_t bytesWritten = 0;
  uint64_t donationsGranted = 0;
  uint64_t donationsRefused = 0;
  uint64_t compiles = 0;
  double compileMilliseconds = 0;
  uint64_t memoryHits = 0; ///< programs found in memory
  uint64_t diskHits = 0;   ///< programs found on disk
  uint64_t recomputed = 0; ///< ops recorded again because a value was gone
  uint64_t warnings = 0;
  /// In the order of their first appearance.
  std::vector<SiteCount> flushes;
  std::vector<SiteCount> misses;
  std::vector<SiteCount> refusals; ///< donations refused while recording
  std::vector<SiteCount> recomputations;
};

/// All functions are thread-safe.
Stats readStats();
void resetStats();

void countRun(const RunCounters &counters, uint64_t donationsRefused);
void countCompile(double milliseconds);
void countHit(bool onDisk);
void countFlush(std::string_view reason, SiteId site);
void countMiss(std::string_view reason, SiteId site);
void countRefusal(std::string_view reason, SiteId site);
void countRecomputed(uint64_t ops, SiteId site);

} // namespace sinter::runtime
