/// Sites: the process-wide table of source lines that recorded ops name.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace sinter {

/// A source line. The text lives as long as the process.
struct Site {
  std::string_view file; ///< after the prefix map
  uint32_t line = 0;
};

/// The id of a line. A repeat on the same thread costs a few nanoseconds.
/// `file_name()` must point to a string literal, as the compiler's does.
SiteId internSite(const std::source_location &location);
SiteId internSite(std::string_view file, uint32_t line);

/// The line of an id; `{"", 0}` for 0 and for ids that were never given out.
Site siteOf(SiteId id);
/// `file:line`, or empty for 0.
std::string siteString(SiteId id);

/// Files whose path starts with `from` are stored with `to` in its place.
/// Paths below the working directory are stored relative to it without asking.
void addSitePrefix(std::string_view from, std::string_view to);

} // namespace sinter
