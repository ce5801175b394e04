/// Sites: the process-wide table of source lines that recorded ops name.
#pragma once

#include "sinter/runtime/Error.h"

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace sinter {

/// A source line and how it was reached. The text lives as long as the process.
struct Site {
  std::string_view file; ///< after the prefix map
  uint32_t line = 0;
  /// The line that called the function which this one stands in; 0 when that
  /// is not known.
  SiteId caller = 0;
  /// `Net::forward`; empty when that is not known.
  std::string_view function = {};
};

/// The id of a line that was reached from `caller`. A repeat on the same thread
/// costs a few nanoseconds. `file_name()` must point to a string literal, as
/// the compiler's does. A line of the library itself is no user's: with a
/// caller, the id is the caller's. Of a path of more than 16 lines, the ones
/// before the last are left out.
SiteId internSite(const std::source_location &location, SiteId caller = 0);
SiteId internSite(std::string_view file, uint32_t line);

/// The line of an id; `{"", 0}` for 0 and for ids that were never given out.
Site siteOf(SiteId id);
/// `file:line`, or empty for 0.
std::string lineString(SiteId id);
/// The line and the path to it, `Net::forward at model.h:9, from main.cpp:15`;
/// as lineString when no caller is known.
std::string siteString(SiteId id);

/// Files whose path starts with this are the library's. So are those in a
/// folder `include/sinter`.
void addLibraryPrefix(std::string_view prefix);

/// Files whose path starts with `from` are stored with `to` in its place.
/// Paths below the working directory are stored relative to it without asking.
void addSitePrefix(std::string_view from, std::string_view to);

} // namespace sinter
