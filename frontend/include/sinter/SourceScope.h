/// SourceScope: under which line of the user ops are recorded.
#pragma once

#include <sinter/Arg.h>

namespace sinter::detail {

/// While it lives, this thread is in a call that stands at the user's line
/// `where`: lines that record ops were reached from there, and ops that the
/// library itself records belong to that line. Modules and optimizers open one
/// around what they record; scopes stand in each other.
class SourceScope {
public:
  explicit SourceScope(const SourceLine &where);
  /// At a line that is known by its id, whatever scopes are open.
  explicit SourceScope(SiteId site);
  SourceScope(const SourceScope &) = delete;
  ~SourceScope();

private:
  SiteId previous;
};

} // namespace sinter::detail
