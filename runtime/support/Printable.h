/// Printable: text from files and users, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace sinter {

/// The text with everything that would steer a terminal written as `\xNN`:
/// control characters but line ends and tabs, and bytes that are no UTF-8.
std::string printable(std::string_view text);

/// The same of a name, which stands in one line: line ends and tabs are written
/// as `\xNN`, too, and of more than 256 bytes the first ones, then `...`.
std::string printableName(std::string_view name);

/// Whether it is UTF-8 throughout.
bool isUtf8(std::string_view text);

} // namespace sinter
