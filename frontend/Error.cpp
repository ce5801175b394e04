/// Builds the text of the one exception.
#include <sinter/Error.h>

#include "runtime/support/Sites.h"

namespace sinter {

Error::Error(ErrorInfo failure) : info(std::move(failure)), text(info.message) {
  std::string line = siteString(info.site);
  if (!line.empty())
    text += " (" + line + ")";
}

std::string Error::site() const { return siteString(info.site); }

} // namespace sinter
