/// Words: texts in parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sinter::metrics {

/// The characters of UTF-8; a byte that is part of none is one of its own.
std::vector<std::string> charactersOf(std::string_view text);
/// What blanks (space, tab, line ends) part.
std::vector<std::string> wordsOf(std::string_view text);
/// Runs of a to z and digits, in lower case.
std::vector<std::string> plainWordsOf(std::string_view text);

} // namespace sinter::metrics
