/// SourceScope: under which line of the user ops are recorded.
#pragma once

#include <sinter/Arg.h>

namespace sinter::detail {

/// While it lives, ops recorded by this thread belong to the user's line
/// `where` (unless an outer scope names one already). Modules and optimizers
/// open one around what they record.
class SourceScope {
public:
  explicit SourceScope(const SourceLine &where);
  SourceScope(const SourceScope &) = delete;
  ~SourceScope();

private:
  SiteId previous;
};

} // namespace sinter::detail
