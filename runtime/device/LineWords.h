/// LineWords: reads the lines that say in PTX what it has no words for.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace sinter::runtime {

/// The words of a line, one after the other.
class LineWords {
public:
  explicit LineWords(std::string_view line) : rest(line) {}

  std::string_view next() {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    return word;
  }

  /// The next word, if it is a number.
  template <typename Number> bool read(Number &number) {
    std::string_view word = next();
    return take(word, number) && word.empty();
  }

  bool ended() const { return rest.find_first_not_of(' ') == rest.npos; }

  /// Takes a number from the beginning of a text.
  template <typename Number>
  static bool take(std::string_view &text, Number &number) {
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
      return false;
    text.remove_prefix(size_t(end - text.data()));
    return true;
  }

private:
  std::string_view rest;
};

} // namespace sinter::runtime
