/// Throwing the runtime's errors at the user's line.
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/support/Exhausted.h"

#include <sinter/Cancel.h>
#include <sinter/Error.h>
#include <sinter/Held.h>

namespace sinter::detail {

void raise(ErrorInfo error, const SourceLine &where) {
  if (error.site == 0)
    error.site = userSite(where);
  if (error.kind == ErrorKind::cancelled)
    throw Cancelled(std::move(error));
  throw Error(std::move(error));
}

void throwEmpty(const char *call, const SourceLine &where) {
  raise(makeError(ErrorKind::invalid_argument,
                  std::string(call) + ": the object is empty: it was never "
                                      "given a value, or was moved from",
                  call),
        where);
}

void raiseExhausted(const SourceLine &where) {
  ErrorInfo error = exhausted();
  // A line that was not met yet takes memory.
  ifPossible([&] { error.site = userSite(where); });
  throw Error(std::move(error));
}

} // namespace sinter::detail
