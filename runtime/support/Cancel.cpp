/// The thread's flag, and the error.
#include "runtime/support/Cancel.h"

#include "runtime/support/ThreadOwner.h"

#include <utility>

using namespace sinter;

static SINTER_THREAD_LOCAL const CancelFlag *current = nullptr;

const CancelFlag *sinter::currentCancelFlag() { return current; }

const CancelFlag *sinter::setCancelFlag(const CancelFlag *flag) {
  return std::exchange(current, flag);
}

ErrorInfo sinter::cancelledError() {
  return makeError(ErrorKind::cancelled,
                   "cancel: the work was stopped before its end", "cancel");
}
