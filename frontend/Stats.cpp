/// Keeps the counters of the process.
#include <sinter/Stats.h>

#include "frontend/Counters.h"
#include "frontend/Raise.h"
#include "runtime/program/Stats.h"
#include "runtime/support/Fork.h"
#include "runtime/support/Sites.h"
#include "runtime/support/WorkTimes.h"

#include <map>
#include <mutex>

namespace sinter {

namespace {
struct Counted {
  ForkMutex mutex;
  std::vector<Stats::Miss> misses;
  uint64_t refused = 0;
  uint64_t recomputed = 0;
  uint64_t backgroundCompiles = 0;
  uint64_t backgroundFailures = 0;
  uint64_t unfusedAnswers = 0;
  std::map<std::pair<detail::FlushReason, SiteId>, uint64_t> flushes;
  std::map<std::pair<std::string_view, SiteId>, uint64_t> notes;
};
} // namespace

static Counted &counted() {
  static Counted *instance = new Counted;
  return *instance;
}

namespace detail {

std::string_view toString(FlushReason reason) {
  switch (reason) {
  case FlushReason::read:
    return "read";
  case FlushReason::print:
    return "print";
  case FlushReason::eval:
    return "eval";
  case FlushReason::limit:
    return "limit";
  case FlushReason::readsReplacedState:
    return "reads_replaced_state";
  case FlushReason::dataDependentShape:
    return "data_dependent_shape";
  }
  return "";
}

void countFlush(FlushReason reason, SiteId site) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  ++all.flushes[{reason, site}];
}

void countMiss(const MissReason &reason, SiteId flushSite, bool compiled) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  constexpr size_t mostMisses = 4096;
  if (all.misses.size() < mostMisses)
    all.misses.push_back({reason.what, siteString(reason.site),
                          siteString(flushSite), compiled});
}

static void note(std::string_view what, SiteId site, uint64_t count) {
  counted().notes[{what, site}] += count;
}

void countRefusedDonations(unsigned count, SiteId site) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  all.refused += count;
  note("donation refused: the old value is still held", site, count);
}

void countRecomputed(unsigned ops, SiteId site) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  all.recomputed += ops;
  note("recomputed for backward", site, ops);
}

void countBackground(bool arrived) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  ++(arrived ? all.backgroundCompiles : all.backgroundFailures);
}

void countUnfusedAnswer() {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  ++all.unfusedAnswers;
}

} // namespace detail

Stats stats() try {
  runtime::Stats counts = runtime::readStats();
  Stats result;
  result.launches = counts.launches;
  result.bytes_read = counts.bytesRead;
  result.bytes_written = counts.bytesWritten;
  result.programs_run = counts.runs;
  result.graphs_recorded = counts.recordings;
  result.graphs_replayed = counts.replays;
  result.compiles = counts.compiles;
  result.compile_milliseconds = counts.compileMilliseconds;
  WorkMilliseconds work = workMilliseconds();
  auto of = [&](Work kind) { return work[size_t(kind)]; };
  result.opening_milliseconds = of(Work::opening);
  result.planning_milliseconds = of(Work::planning);
  result.passes_milliseconds = of(Work::passes);
  result.code_milliseconds = of(Work::code);
  result.machine_code_milliseconds = of(Work::machineCode);
  result.loading_milliseconds = of(Work::loading);
  result.graphs_milliseconds = of(Work::graphs);
  result.memory_hits = counts.memoryHits;
  result.disk_hits = counts.diskHits;
  result.kernels_compiled = counts.kernelsCompiled;
  result.kernel_memory_hits = counts.kernelMemoryHits;
  result.kernel_disk_hits = counts.kernelDiskHits;
  result.prepare_hits = counts.phasesSkipped;
  result.donated = counts.donationsGranted;
  result.warnings = counts.warnings;
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  result.donations_refused = all.refused;
  result.recomputed = all.recomputed;
  result.background_compiles = all.backgroundCompiles;
  result.background_failures = all.backgroundFailures;
  result.unfused_answers = all.unfusedAnswers;
  result.misses = all.misses;
  for (const auto &[key, count] : all.flushes)
    result.flushes.push_back({std::string(detail::toString(key.first)),
                              siteString(key.second), count});
  for (const auto &[key, count] : all.notes)
    result.notes.push_back(
        {std::string(key.first), siteString(key.second), count});
  return result;
} catch (...) {
  detail::raiseExhausted({});
}

void reset_stats() try {
  runtime::resetStats();
  resetWork();
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  all.refused = all.recomputed = 0;
  all.backgroundCompiles = all.backgroundFailures = all.unfusedAnswers = 0;
  all.misses.clear();
  all.flushes.clear();
  all.notes.clear();
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter
