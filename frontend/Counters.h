/// Counters: what stats() reports, counted as it happens.
#pragma once

#include "frontend/Flush.h"
#include "frontend/MissReasons.h"
#include "runtime/program/Program.h"

#include <string_view>

namespace sinter::detail {

void countFlush(FlushReason reason, SiteId site);
void countMiss(const MissReason &reason, SiteId flushSite, bool compiled);
void countMemoryHit();
void countRun(const runtime::RunCounters &counters);
void countRefusedDonations(unsigned count, SiteId site);
void countRecomputed(unsigned ops, SiteId site);

} // namespace sinter::detail
