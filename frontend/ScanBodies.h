/// ScanBodies: whether this thread records the body of a loop or a branch.
#pragma once

#include <sinter/Arg.h>

namespace sinter::detail {

/// While it lives, this thread records a body of `op`: nothing can be
/// evaluated.
class ScanBodyScope {
public:
  explicit ScanBodyScope(const char *op);
  ~ScanBodyScope();
  ScanBodyScope(const ScanBodyScope &) = delete;

private:
  const char *outer;
};
bool recordsScanBody();

/// Throws, in a body, that `what` cannot be done there.
void refuseInScanBody(const char *what, const SourceLine &where);

} // namespace sinter::detail
