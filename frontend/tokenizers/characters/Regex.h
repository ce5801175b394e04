/// Regular expressions of tokenizers, which are Oniguruma's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::text {

/// What Oniguruma's tables say of characters.
enum class CharProperty : uint8_t { letter, number, space, alphabetic };
bool hasProperty(uint32_t c, CharProperty property);

/// The number of the script that Oniguruma's tables give `c`; numbers are
/// those of `scriptNames`, and its size stands for none.
int scriptOf(char32_t c);

/// A part of a text, and whether it is what was looked for.
struct Match {
  size_t begin, end;
  bool matches;
};
using Matches = std::vector<Match>;

/// A compiled expression; copies share it. Several threads may search with it.
class Regex {
public:
  /// Throws a Failure that says what is wrong with the expression, or that it
  /// is longer or deeper than is allowed.
  explicit Regex(std::string_view pattern);
  /// One that finds this text as it is.
  static Regex literal(std::string_view text);

  /// All matches, from left to right, and what lies between them; an empty text
  /// is one part. A search that takes too long throws a Failure.
  void split(std::string_view text, Matches &parts) const;

  const std::string &pattern() const { return source; }

private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled;
  std::string source;
};

} // namespace sinter::text
