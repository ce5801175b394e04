/// The thread's flag, and the error.
#include "runtime/support/Cancel.h"

#include <utility>

using namespace sinter;

static thread_local const CancelFlag *current = nullptr;

const CancelFlag *sinter::currentCancelFlag() { return current; }

const CancelFlag *sinter::setCancelFlag(const CancelFlag *flag) {
  return std::exchange(current, flag);
}

/// The error's op: no op is called so.
static constexpr const char *mark = "cancel";

ErrorInfo sinter::cancelledError() {
  return makeError(ErrorKind::device,
                   "cancel: the work was stopped before its end", mark);
}

bool sinter::isCancelledError(const ErrorInfo &error) {
  return error.op == mark;
}
