/// Regular expressions that cut words, matched by hand.
#include "frontend/tokenizers/characters/WordPatterns.h"

#include <algorithm>

namespace sinter::text {

static constexpr std::string_view gpt2Text =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
static constexpr std::string_view llama3Text =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
static constexpr std::string_view qwen2Text =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

WordPattern knownPattern(std::string_view regex) {
  if (regex == gpt2Text)
    return WordPattern::gpt2;
  if (regex == llama3Text)
    return WordPattern::llama3;
  return regex == qwen2Text ? WordPattern::qwen2 : WordPattern::other;
}

std::string_view textOf(WordPattern pattern) {
  if (pattern == WordPattern::gpt2)
    return gpt2Text;
  return pattern == WordPattern::llama3 ? llama3Text : qwen2Text;
}

namespace {

enum class Kind : uint8_t { letter, number, space, other };

Kind kindOf(char32_t c) {
  uint16_t classes = classesOf(c);
  if (classes & charLetter)
    return Kind::letter;
  if (classes & charNumber)
    return Kind::number;
  return classes & charSpace ? Kind::space : Kind::other;
}

/// Reads a text from a place on.
struct Reader {
  std::string_view text;

  bool ended(size_t at) const { return at >= text.size(); }
  Kind kind(size_t at) const { return kindOf(nextChar(text, at)); }
  bool isLineEnd(size_t at) const {
    return !ended(at) && (text[at] == '\n' || text[at] == '\r');
  }

  /// Where the characters of one kind end.
  size_t run(size_t at, Kind wanted) const {
    while (!ended(at)) {
      size_t next = at;
      if (kindOf(nextChar(text, next)) != wanted)
        break;
      at = next;
    }
    return at;
  }

  /// The length of 's, 't, 're and so on at an apostrophe, or 0.
  size_t contraction(size_t at, bool anyCase) const {
    auto letter = [&](size_t i) {
      char c = ended(at + i) ? '\0' : text[at + i];
      return anyCase && c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c;
    };
    char first = letter(1), second = letter(2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
      return 2;
    if ((second == 'e' && (first == 'r' || first == 'v')) ||
        (first == 'l' && second == 'l'))
      return 3;
    // The long s is an s in any case.
    return anyCase && text.substr(at + 1).starts_with("\xC5\xBF") ? 3 : 0;
  }

  /// Spaces, but for the last if something follows, which is given to that.
  size_t spaces(size_t at, size_t end) const {
    if (ended(end))
      return end;
    size_t last = end;
    do
      --last;
    while ((text[last] & 0xC0) == 0x80);
    return last > at ? last : end;
  }
};

size_t gpt2End(std::string_view text, size_t at) {
  Reader reader{text};
  if (text[at] == '\'')
    if (size_t length = reader.contraction(at, false))
      return at + length;
  size_t after = at;
  Kind kind = kindOf(nextChar(text, after));
  if (text[at] == ' ' && !reader.ended(after)) {
    Kind next = reader.kind(after);
    if (next != Kind::space)
      return reader.run(after, next);
  }
  size_t end = reader.run(after, kind);
  return kind == Kind::space ? reader.spaces(at, end) : end;
}

size_t others(const Reader &reader, size_t at) {
  at = reader.run(at, Kind::other);
  while (reader.isLineEnd(at))
    ++at;
  return at;
}

size_t llamaEnd(std::string_view text, size_t at, int digits) {
  Reader reader{text};
  if (text[at] == '\'')
    if (size_t length = reader.contraction(at, true))
      return at + length;
  size_t after = at;
  Kind kind = kindOf(nextChar(text, after));
  if (kind == Kind::letter)
    return reader.run(after, kind);
  if (kind == Kind::number) {
    for (int i = 1; i < digits && !reader.ended(after) &&
                    reader.kind(after) == Kind::number;
         ++i)
      nextChar(text, after);
    return after;
  }
  if (!reader.ended(after) && !reader.isLineEnd(at)) {
    Kind next = reader.kind(after);
    if (next == Kind::letter)
      return reader.run(after, next);
    if (text[at] == ' ' && next == Kind::other)
      return others(reader, after);
  }
  if (kind == Kind::other)
    return others(reader, after);
  size_t end = reader.run(after, Kind::space);
  size_t lines = text.substr(at, end - at).find_last_of("\r\n");
  return lines == text.npos ? reader.spaces(at, end) : at + lines + 1;
}

} // namespace

size_t wordEnd(WordPattern pattern, std::string_view text, size_t at) {
  if (pattern == WordPattern::gpt2)
    return gpt2End(text, at);
  return llamaEnd(text, at, pattern == WordPattern::llama3 ? 3 : 1);
}

} // namespace sinter::text
