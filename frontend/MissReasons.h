/// MissReasons: why a program was not found.
#pragma once

#include "runtime/graph/Slice.h"

#include <string>

namespace sinter::detail {

struct MissReason {
  std::string what;
  SiteId site = 0; ///< the line that made the difference, if it is known
};

/// Compares the slice that missed with the last one that the flush's line
/// evaluated, and remembers it.
MissReason explainMiss(const graph::Slice &slice, SiteId flushSite);

} // namespace sinter::detail
