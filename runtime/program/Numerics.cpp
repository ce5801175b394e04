/// The numerics modes and the tiers of fusion by name.
#include "runtime/program/Numerics.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace sinter::runtime {

static constexpr std::string_view modes[] = {"exact", "default", "fast"};

Result<uint8_t> parseNumerics(std::string_view where, std::string_view name) {
  const auto *mode = std::ranges::find(modes, name);
  if (mode == std::end(modes))
    return makeError(ErrorKind::invalid_argument,
                     std::string(where) + " is exact, default or fast, not '" +
                         std::string(name) + "'");
  return static_cast<uint8_t>(mode - std::begin(modes));
}

static constexpr std::string_view tiers[] = {"full", "none"};

Result<uint8_t> parseFusion(std::string_view where, std::string_view name) {
  const auto *tier = std::ranges::find(tiers, name);
  if (tier == std::end(tiers))
    return makeError(ErrorKind::invalid_argument,
                     std::string(where) + " is full or none, not '" +
                         std::string(name) + "'");
  return static_cast<uint8_t>(tier - std::begin(tiers));
}

std::string_view fusionName(uint8_t tier) { return tiers[tier]; }

std::string_view numericsName(uint8_t mode) { return modes[mode]; }

} // namespace sinter::runtime
