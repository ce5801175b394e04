/// Terminal: how the tool speaks to people.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sinter::cli {

/// What errors begin with: `error: `, in red on a terminal that has colours
/// (NO_COLOR, of any value, keeps it plain).
const char *errorPrefix();

/// `; did you mean 'X'?` for the name that is closest to what was typed, or
/// nothing where none is close.
std::string meantText(std::string_view typed,
                      std::span<const std::string_view> names);

} // namespace sinter::cli
