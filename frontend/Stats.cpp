/// Keeps the counters of the process.
#include <sinter/Stats.h>

#include "frontend/Counters.h"
#include "runtime/support/Sites.h"

#include <map>
#include <mutex>

namespace sinter {

namespace {
struct Counted {
  std::mutex mutex;
  Stats totals;
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
  ++(compiled ? all.totals.compiles : all.totals.disk_hits);
  constexpr size_t mostMisses = 4096;
  if (all.totals.misses.size() < mostMisses)
    all.totals.misses.push_back({reason.what, siteString(reason.site),
                                 siteString(flushSite), compiled});
}

void countMemoryHit() {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  ++all.totals.memory_hits;
}

void countRun(const runtime::RunCounters &counters) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  ++all.totals.programs_run;
  all.totals.launches += counters.launches;
  all.totals.bytes_read += counters.bytesRead;
  all.totals.bytes_written += counters.bytesWritten;
  all.totals.donated += counters.donated;
}

static void note(std::string_view what, SiteId site, uint64_t count) {
  counted().notes[{what, site}] += count;
}

void countRefusedDonations(unsigned count, SiteId site) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  all.totals.donations_refused += count;
  note("donation refused: the old value is still held", site, count);
}

void countRecomputed(unsigned ops, SiteId site) {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  all.totals.recomputed += ops;
  note("recomputed for backward", site, ops);
}

} // namespace detail

Stats stats() {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  Stats result = all.totals;
  for (const auto &[key, count] : all.flushes)
    result.flushes.push_back({std::string(detail::toString(key.first)),
                              siteString(key.second), count});
  for (const auto &[key, count] : all.notes)
    result.notes.push_back(
        {std::string(key.first), siteString(key.second), count});
  return result;
}

void reset_stats() {
  Counted &all = counted();
  std::lock_guard lock(all.mutex);
  all.totals = Stats();
  all.flushes.clear();
  all.notes.clear();
}

} // namespace sinter
