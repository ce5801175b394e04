/// Throwing the runtime's errors at the user's line.
#include "frontend/Raise.h"

#include "frontend/Recording.h"

#include <sinter/Error.h>

namespace sinter::detail {

void raise(ErrorInfo error, const SourceLine &where) {
  if (error.site == 0)
    error.site = userSite(where);
  throw Error(std::move(error));
}

} // namespace sinter::detail
