/// Settings as JSON text.
#pragma once

#include <sinter/ConfigValue.h>

#include <span>
#include <string>
#include <string_view>

namespace sinter::detail {

/// What a text says, or what is wrong with it.
struct ConfigTextResult {
  ConfigValue value;
  std::string problem; ///< empty when nothing is
  uint32_t line = 0;   ///< of the problem
};
ConfigTextResult parseConfigText(std::string_view text);

/// In one line; a text alone without quotes.
std::string compactText(const ConfigValue &value);

/// The name most like this one, if any is like it.
std::string nearestName(std::string_view name,
                        std::span<const std::string_view> names);

} // namespace sinter::detail
