/// The words, numbers and strings of JSON, and a reader of values one by one.
#include "runtime/params/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace sinter::runtime::json {

namespace {

constexpr int maxDepth = 64;

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

/// Whether a number of JSON, which is no double, is one by its size: the first
/// digit that is not 0 stands before the point once the exponent moved it.
bool isLarge(std::string_view number) {
  constexpr int64_t farAway = int64_t(1) << 40;
  size_t mark = std::min(number.find_first_of("eE"), number.size());
  std::string_view digits = number.substr(0, mark), power;
  size_t first = digits.find_first_of("123456789");
  if (first == digits.npos)
    return false;
  if (mark < number.size())
    power = number.substr(mark + 1);
  if (power.starts_with('+'))
    power.remove_prefix(1);
  int64_t exponent = 0;
  auto read =
      std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (read.ec == std::errc::result_out_of_range)
    exponent = power.starts_with('-') ? -farAway : farAway;
  exponent = std::clamp(exponent, -farAway, farAway);
  auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  return point - static_cast<int64_t>(first) + exponent > 0;
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

} // namespace

//===- Text ---------------------------------------------------------------===//

ErrorInfo Reader::fail(std::string_view what) const {
  return makeError(ErrorKind::io, fmt::format("json: {} at byte {}", what, at));
}

bool Reader::take(char c) {
  if (atEnd() || text[at] != c)
    return false;
  ++at;
  return true;
}

void Reader::skipBlanks() {
  while (!atEnd() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' ||
                      text[at] == '\r'))
    ++at;
}

Result<std::string> Reader::parseKey() {
  skipBlanks();
  if (peek() != '"')
    return fail("expected a key");
  std::string key;
  SINTER_TRY(parseString(key));
  skipBlanks();
  if (!take(':'))
    return fail("expected ':'");
  return key;
}

Result<bool> Reader::takesAnother(char end, std::string_view expected) {
  skipBlanks();
  if (take(end))
    return false;
  if (!take(','))
    return fail(expected);
  return true;
}

Status Reader::parseString(std::string &out) {
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

Status Reader::parseEscape(std::string &out) {
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

Result<uint32_t> Reader::parseHex() {
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

void Reader::skipDigits() {
  while (peek() >= '0' && peek() <= '9')
    ++at;
}

Status Reader::parseWord(Value &out) {
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

bool Reader::takeWord(Value &out) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::pair<std::string_view, double> words[] = {
      {"NaN", std::numeric_limits<double>::quiet_NaN()},
      {"Infinity", infinity},
      {"-Infinity", -infinity}};
  for (const auto &[word, number] : words)
    if (hasWords && text.substr(at).starts_with(word)) {
      at += word.size();
      out.kind = Kind::number;
      out.number = number;
      return true;
    }
  return false;
}

Status Reader::parseNumber(Value &out) {
  if (takeWord(out))
    return {};
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
  auto read = std::from_chars(first, last, out.number);
  if (read.ec == std::errc::result_out_of_range) {
    // Both ends of the range are told so; a small one is 0.
    if (isLarge({first, last}))
      return fail("a number that is too large");
    out.number = *first == '-' ? -0.0 : 0.0;
  }
  if (plain && std::from_chars(first, last, out.integer).ec == std::errc())
    out.kind = Kind::unsignedInteger;
  return {};
}

//===- Values -------------------------------------------------------------===//

Status Reader::enter() {
  return ++depth > maxDepth ? fail("nesting too deep") : Status();
}

Result<Kind> Reader::next() {
  skipBlanks();
  if (atEnd())
    return fail("unexpected end");
  switch (peek()) {
  case '{':
    return Kind::object;
  case '[':
    return Kind::array;
  case '"':
    return Kind::string;
  case 't':
  case 'f':
    return Kind::boolean;
  case 'n':
    return Kind::null;
  default:
    return Kind::number;
  }
}

Status Reader::expect(Kind kind, std::string_view what) {
  SINTER_TRY_ASSIGN(Kind found, next());
  return found == kind ? Status() : fail(what);
}

Status
Reader::object(const std::function<Status(const std::string &)> &member) {
  SINTER_TRY(expect(Kind::object, "expected an object"));
  SINTER_TRY(enter());
  ++at;
  skipBlanks();
  for (bool more = !take('}'); more;) {
    SINTER_TRY_ASSIGN(std::string key, parseKey());
    SINTER_TRY(member(key));
    SINTER_TRY_ASSIGN(more, takesAnother('}', "expected ',' or '}'"));
  }
  --depth;
  return {};
}

Status Reader::array(const std::function<Status()> &element) {
  SINTER_TRY(expect(Kind::array, "expected an array"));
  SINTER_TRY(enter());
  ++at;
  skipBlanks();
  for (bool more = !take(']'); more;) {
    SINTER_TRY(element());
    SINTER_TRY_ASSIGN(more, takesAnother(']', "expected ',' or ']'"));
  }
  --depth;
  return {};
}

Result<std::string> Reader::string() {
  SINTER_TRY(expect(Kind::string, "expected a string"));
  std::string text;
  SINTER_TRY(parseString(text));
  return text;
}

Result<int64_t> Reader::integer() {
  SINTER_TRY(expect(Kind::number, "expected an integer"));
  size_t begin = at;
  Value value;
  SINTER_TRY(parseNumber(value));
  const char *first = text.data() + begin, *last = text.data() + at;
  int64_t integer = 0;
  auto [end, error] = std::from_chars(first, last, integer);
  if (error != std::errc() || end != last)
    return fail("expected an integer of 64 bits");
  return integer;
}

Result<double> Reader::real() {
  SINTER_TRY(expect(Kind::number, "expected a number"));
  Value value;
  SINTER_TRY(parseNumber(value));
  return value.number;
}

Result<bool> Reader::boolean() {
  SINTER_TRY(expect(Kind::boolean, "expected true or false"));
  Value value;
  SINTER_TRY(parseWord(value));
  return value.boolean;
}

Status Reader::skip() {
  SINTER_TRY_ASSIGN(Kind kind, next());
  if (kind == Kind::object)
    return object([&](const std::string &) { return skip(); });
  if (kind == Kind::array)
    return array([&] { return skip(); });
  Value value;
  if (kind == Kind::string)
    return parseString(value.string);
  return kind == Kind::number ? parseNumber(value) : parseWord(value);
}

Status Reader::end() {
  skipBlanks();
  return atEnd() ? Status() : fail("text after the end");
}

} // namespace sinter::runtime::json
