/// Counters: what stats() reports beside the runtime's own counters.
#pragma once

#include "frontend/Flush.h"
#include "frontend/MissReasons.h"

#include <string_view>

namespace sinter::detail {

void countFlush(FlushReason reason, SiteId site);
void countMiss(const MissReason &reason, SiteId flushSite, bool compiled);
void countRefusedDonations(unsigned count, SiteId site);
void countRecomputed(unsigned ops, SiteId site);

} // namespace sinter::detail
