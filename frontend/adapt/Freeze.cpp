/// Freeze: which parameters of a module are trained, by patterns of paths.
#include <sinter/train/Freeze.h>

#include "frontend/Raise.h"

#include <sinter/ModuleFile.h>

namespace sinter::detail {

Selection setTrained(const Fields &fields, const Patterns &patterns, bool on,
                     const char *call, std::source_location where) try {
  std::vector<bool> chosen =
      selectParams(fields, patterns, Selectable::trained, call, where);
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i])
      fields.params[i].value->require_grad(on);
  return reportOf(fields, chosen);
} catch (...) {
  raiseExhausted(where);
}

int64_t countTrained(const Fields &fields) try {
  int64_t count = 0;
  for (size_t i = 0; i < fields.params.size(); ++i)
    if (fields.params[i].value->requires_grad() &&
        firstWithCell(fields.params, i) == i)
      count += fields.params[i].value->numel();
  return count;
} catch (...) {
  raiseExhausted({});
}

} // namespace sinter::detail
