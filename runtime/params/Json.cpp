/// A strict JSON reader for the headers of weight files.
#include "runtime/params/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace sinter::runtime::json {

namespace {

constexpr int maxDepth = 64;
constexpr size_t mostParts = size_t(1) << 16, bytesOfPart = 32;

/// Length of the valid UTF-8 sequence at the front of `text`, or 0.
size_t utf8Length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto continues = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if (i >= text.size() || (byte(i) & 0xC0) != 0x80)
        return false;
    return true;
  };
  unsigned char lead = byte(0);
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead <= 0xDF)
    return continues(1, 2) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1, 3) || (lead == 0xE0 && byte(1) < 0xA0) ||
        (lead == 0xED && byte(1) > 0x9F))
      return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1, 4) || (lead == 0xF0 && byte(1) < 0x90) ||
        (lead == 0xF4 && byte(1) > 0x8F))
      return 0;
    return 4;
  }
  return 0;
}

void appendUtf8(std::string &out, uint32_t code) {
  auto put = [&](uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Result<Value> document() {
    Value value;
    SINTER_TRY(parseValue(value, 0));
    skipBlanks();
    if (at != text.size())
      return fail("text after the end");
    return value;
  }

  Status
  members(const std::function<Status(std::string key, Value value)> &visit) {
    skipBlanks();
    if (!take('{'))
      return fail("expected an object");
    skipBlanks();
    for (bool more = !take('}'); more;) {
      parts = 0;
      SINTER_TRY_ASSIGN(std::string key, parseKey());
      Value value;
      SINTER_TRY(parseValue(value, 1));
      SINTER_TRY(visit(std::move(key), std::move(value)));
      SINTER_TRY_ASSIGN(more, takesAnother('}', "expected ',' or '}'"));
    }
    skipBlanks();
    return atEnd() ? Status() : fail("text after the end");
  }

private:
  std::string_view text;
  size_t at = 0;
  size_t parts = 0; ///< values and keys so far

  ErrorInfo fail(std::string_view what) const {
    return makeError(ErrorKind::io,
                     fmt::format("json: {} at byte {}", what, at));
  }
  bool atEnd() const { return at == text.size(); }
  char peek() const { return atEnd() ? '\0' : text[at]; }
  bool take(char c) {
    if (atEnd() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  void skipBlanks() {
    while (!atEnd() && (text[at] == ' ' || text[at] == '\t' ||
                        text[at] == '\n' || text[at] == '\r'))
      ++at;
  }

  Status countPart() {
    if (++parts > mostParts + text.size() / bytesOfPart)
      return fail(fmt::format("more than {} values", parts - 1));
    return {};
  }

  Status parseValue(Value &out, int depth) {
    if (depth > maxDepth)
      return fail("nesting too deep");
    SINTER_TRY(countPart());
    skipBlanks();
    if (atEnd())
      return fail("unexpected end");
    switch (peek()) {
    case '{':
      return parseObject(out, depth);
    case '[':
      return parseArray(out, depth);
    case '"':
      out.kind = Kind::string;
      return parseString(out.string);
    case 't':
    case 'f':
    case 'n':
      return parseWord(out);
    default:
      return parseNumber(out);
    }
  }

  Status parseWord(Value &out) {
    auto rest = text.substr(at);
    auto word = [&](std::string_view name) {
      if (!rest.starts_with(name))
        return false;
      at += name.size();
      return true;
    };
    if (word("null"))
      return {};
    out.kind = Kind::boolean;
    if (word("false"))
      return {};
    out.boolean = true;
    if (word("true"))
      return {};
    return fail("unknown word");
  }

  Status parseObject(Value &out, int depth) {
    out.kind = Kind::object;
    ++at;
    skipBlanks();
    if (take('}'))
      return {};
    std::unordered_set<std::string> keys;
    for (bool more = true; more;) {
      SINTER_TRY_ASSIGN(std::string key, parseKey());
      if (!keys.insert(key).second)
        return fail(fmt::format("duplicate key {}", quote(key)));
      out.keys.push_back(std::move(key));
      SINTER_TRY(parseValue(out.elements.emplace_back(), depth + 1));
      SINTER_TRY_ASSIGN(more, takesAnother('}', "expected ',' or '}'"));
    }
    return {};
  }

  /// A key and the colon after it.
  Result<std::string> parseKey() {
    skipBlanks();
    if (peek() != '"')
      return fail("expected a key");
    SINTER_TRY(countPart());
    std::string key;
    SINTER_TRY(parseString(key));
    skipBlanks();
    if (!take(':'))
      return fail("expected ':'");
    return key;
  }

  /// Whether a comma follows; false at the end of the list.
  Result<bool> takesAnother(char end, std::string_view expected) {
    skipBlanks();
    if (take(end))
      return false;
    if (!take(','))
      return fail(expected);
    return true;
  }

  Status parseArray(Value &out, int depth) {
    out.kind = Kind::array;
    ++at;
    skipBlanks();
    if (take(']'))
      return {};
    for (bool more = true; more;) {
      SINTER_TRY(parseValue(out.elements.emplace_back(), depth + 1));
      SINTER_TRY_ASSIGN(more, takesAnother(']', "expected ',' or ']'"));
    }
    return {};
  }

  Status parseString(std::string &out) {
    ++at;
    while (true) {
      if (atEnd())
        return fail("unterminated string");
      unsigned char c = text[at];
      if (c == '"') {
        ++at;
        return {};
      }
      if (c < 0x20)
        return fail("control character in a string");
      if (c == '\\') {
        SINTER_TRY(parseEscape(out));
        continue;
      }
      size_t length = utf8Length(text.substr(at));
      if (length == 0)
        return fail("invalid UTF-8");
      out.append(text, at, length);
      at += length;
    }
  }

  Status parseEscape(std::string &out) {
    ++at;
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    char c = peek();
    if (auto which = letters.find(c); !atEnd() && which != letters.npos) {
      ++at;
      out.push_back(meanings[which]);
      return {};
    }
    if (!take('u'))
      return fail("unknown escape");
    SINTER_TRY_ASSIGN(uint32_t code, parseHex());
    if (code >= 0xDC00 && code <= 0xDFFF)
      return fail("lone surrogate");
    if (code >= 0xD800 && code <= 0xDBFF) {
      if (!take('\\') || !take('u'))
        return fail("lone surrogate");
      SINTER_TRY_ASSIGN(uint32_t low, parseHex());
      if (low < 0xDC00 || low > 0xDFFF)
        return fail("lone surrogate");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    appendUtf8(out, code);
    return {};
  }

  Result<uint32_t> parseHex() {
    uint32_t code = 0;
    auto digits = text.substr(at, 4);
    auto [end, ec] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || ec != std::errc() ||
        end != digits.data() + digits.size())
      return fail("expected four hexadecimal digits");
    at += 4;
    return code;
  }

  void skipDigits() {
    while (peek() >= '0' && peek() <= '9')
      ++at;
  }

  Status parseNumber(Value &out) {
    size_t begin = at;
    bool plain = !take('-');
    if (peek() < '0' || peek() > '9')
      return fail("expected a value");
    if (!take('0'))
      skipDigits();
    else if (peek() >= '0' && peek() <= '9')
      return fail("number with a leading zero");
    for (std::string_view part : {".", "eE"}) {
      if (atEnd() || part.find(peek()) == part.npos)
        continue;
      plain = false;
      ++at;
      if (part == "eE" && (peek() == '+' || peek() == '-'))
        ++at;
      if (peek() < '0' || peek() > '9')
        return fail("expected a digit");
      skipDigits();
    }
    const char *first = text.data() + begin, *last = text.data() + at;
    out.kind = Kind::number;
    std::from_chars(first, last, out.number);
    if (plain && std::from_chars(first, last, out.integer).ec == std::errc())
      out.kind = Kind::unsignedInteger;
    return {};
  }
};

} // namespace

const Value *Value::find(std::string_view key) const {
  auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &elements[found - keys.begin()];
}

Result<Value> parse(std::string_view text) { return Parser(text).document(); }

Status
parseMembers(std::string_view text,
             const std::function<Status(std::string key, Value value)> &visit) {
  return Parser(text).members(visit);
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    auto code = static_cast<unsigned char>(c);
    // The control characters above, which have two bytes.
    auto next =
        at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0u;
    bool isUpper = code == 0xC2 && next >= 0x80 && next < 0xA0;
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (code < 0x20 || code == 0x7F || isUpper)
      out += fmt::format("\\u{:04x}", isUpper ? next : unsigned(code));
    else
      out += c;
    at += isUpper;
  }
  return out + '"';
}

} // namespace sinter::runtime::json
