/// The numerics modes by name.
#include "runtime/program/Numerics.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace sinter::runtime {

Result<uint8_t> parseNumerics(std::string_view where, std::string_view name) {
  static constexpr std::string_view modes[] = {"exact", "default", "fast"};
  const auto *mode = std::ranges::find(modes, name);
  if (mode == std::end(modes))
    return makeError(ErrorKind::invalid_argument,
                     std::string(where) + " is exact, default or fast, not '" +
                         std::string(name) + "'");
  return static_cast<uint8_t>(mode - std::begin(modes));
}

} // namespace sinter::runtime
