/// Builds the text of the one exception.
#include <sinter/Error.h>

#include "runtime/support/Exhausted.h"
#include "runtime/support/Printable.h"
#include "runtime/support/Sites.h"

namespace sinter {

Error::Error(ErrorInfo failure) : info(std::move(failure)) {
  // Memory may be what is missing: then the text is as long as it can be.
  ifPossible([&] {
    text = printable(info.message);
    std::string line = siteString(info.site);
    if (!line.empty())
      text += " (" + line + ")";
  });
}

std::string Error::site() const { return lineString(info.site); }

std::vector<std::string> Error::call_path() const {
  std::vector<std::string> path;
  for (SiteId site = info.site; site != 0; site = siteOf(site).caller)
    path.push_back(lineString(site));
  return path;
}

} // namespace sinter
