/// Keeps the counters under one lock.
#include "runtime/program/Stats.h"

#include "runtime/support/Fork.h"
#include "sinter/runtime/Log.h"

#include <mutex>

using namespace sinter;
using namespace sinter::runtime;

namespace {

struct Counters {
  ForkMutex mutex;
  Stats stats;
  uint64_t warningsBefore = 0;
};

Counters &counters() {
  static auto *all = new Counters();
  return *all;
}

/// Calls `change` on the counters under their lock.
template <typename Change> void update(Change change) {
  Counters &all = counters();
  std::lock_guard lock(all.mutex);
  change(all.stats);
}

} // namespace

Stats sinter::runtime::readStats() {
  Counters &all = counters();
  std::lock_guard lock(all.mutex);
  Stats snapshot = all.stats;
  snapshot.warnings = warningCount() - all.warningsBefore;
  return snapshot;
}

void sinter::runtime::resetStats() {
  Counters &all = counters();
  std::lock_guard lock(all.mutex);
  all.stats = Stats();
  all.warningsBefore = warningCount();
}

void sinter::runtime::countRun(const RunCounters &run,
                               uint64_t donationsRefused) {
  update([&](Stats &stats) {
    ++stats.runs;
    stats.launches += run.launches;
    stats.bytesRead += run.bytesRead;
    stats.bytesWritten += run.bytesWritten;
    stats.phasesSkipped += run.phasesSkipped;
    stats.recordings += run.recordings;
    stats.replays += run.replays;
    stats.donationsGranted += run.donated;
    stats.donationsRefused += donationsRefused;
  });
}

void sinter::runtime::countCompile(double milliseconds) {
  update([&](Stats &stats) {
    ++stats.compiles;
    stats.compileMilliseconds += milliseconds;
  });
}

void sinter::runtime::countHit(bool onDisk) {
  update([&](Stats &stats) { ++(onDisk ? stats.diskHits : stats.memoryHits); });
}

void sinter::runtime::countCheckedBlock() {
  update([](Stats &stats) { ++stats.blocksChecked; });
}

void sinter::runtime::countKernel(CacheSource source) {
  update([&](Stats &stats) {
    switch (source) {
    case CacheSource::memory:
      ++stats.kernelMemoryHits;
      break;
    case CacheSource::disk:
      ++stats.kernelDiskHits;
      break;
    case CacheSource::compiled:
      ++stats.kernelsCompiled;
      break;
    }
  });
}
