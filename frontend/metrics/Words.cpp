/// Texts in parts.
#include "frontend/metrics/Words.h"

#include <cstdint>

namespace sinter::metrics {

/// How many bytes the character at the beginning has; 1 where there is none.
static size_t lengthOfFirst(std::string_view text) {
  auto first = static_cast<uint8_t>(text[0]);
  size_t length = first >= 0xF0 && first < 0xF5   ? 4
                  : first >= 0xE0 && first < 0xF0 ? 3
                  : first >= 0xC2 && first < 0xE0 ? 2
                                                  : 1;
  if (length > text.size())
    return 1;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80)
      return 1;
  return length;
}

std::vector<std::string> charactersOf(std::string_view text) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    size_t length = lengthOfFirst(text);
    characters.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return characters;
}

std::vector<std::string> wordsOf(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  std::vector<std::string> words;
  while (true) {
    size_t begin = text.find_first_not_of(blanks);
    if (begin == text.npos)
      return words;
    text.remove_prefix(begin);
    words.emplace_back(text.substr(0, text.find_first_of(blanks)));
    text.remove_prefix(words.back().size());
  }
}

std::vector<std::string> plainWordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool isInWord = false;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
    bool isPart = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (isPart && !isInWord)
      words.emplace_back();
    if (isPart)
      words.back() += c;
    isInWord = isPart;
  }
  return words;
}

} // namespace sinter::metrics
