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

/// A fused program came from the background thread, or did not.
void countBackground(bool arrived);
/// A program that is compiled in the background was answered for unfused.
void countUnfusedAnswer();

} // namespace sinter::detail
