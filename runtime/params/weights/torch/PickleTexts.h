/// Texts of pickles that are not written as they are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime::pickle {

/// What a Python string in quotes means, escapes and all.
std::optional<std::string> unquoted(std::string_view line);
/// What `raw-unicode-escape` means, as UTF-8.
std::optional<std::string> unescapedUnicode(std::string_view line);
/// The bytes that a text of code points below 256 stands for.
std::optional<std::vector<std::byte>> latin1Bytes(std::string_view utf8);

} // namespace sinter::runtime::pickle
