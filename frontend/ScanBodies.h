/// ScanBodies: whether this thread records the body of a scan.
#pragma once

#include <sinter/Arg.h>

namespace sinter::detail {

/// While it lives, this thread records a body: nothing can be evaluated.
class ScanBodyScope {
public:
  ScanBodyScope();
  ~ScanBodyScope();
  ScanBodyScope(const ScanBodyScope &) = delete;
};
bool recordsScanBody();

/// Throws, in a scan's body, that `what` cannot be done there.
void refuseInScanBody(const char *what, const SourceLine &where);

} // namespace sinter::detail
