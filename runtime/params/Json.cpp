/// A strict JSON parser for the headers of weight files.
#include "runtime/params/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace sinter::runtime::json {

namespace {

constexpr int maxDepth = 64;
constexpr size_t mostParts = size_t(1) << 16, bytesOfPart = 32;

class Parser : Reader {
public:
  explicit Parser(std::string_view text) : Reader(text) {}

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
      SINTER_TRY_ASSIGN(std::string key, countedKey());
      Value value;
      SINTER_TRY(parseValue(value, 1));
      SINTER_TRY(visit(std::move(key), std::move(value)));
      SINTER_TRY_ASSIGN(more, takesAnother('}', "expected ',' or '}'"));
    }
    skipBlanks();
    return atEnd() ? Status() : fail("text after the end");
  }

private:
  size_t parts = 0; ///< values and keys so far

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

  /// A key and the colon after it.
  Result<std::string> countedKey() {
    SINTER_TRY_ASSIGN(std::string key, parseKey());
    SINTER_TRY(countPart());
    return key;
  }

  Status parseObject(Value &out, int depth) {
    out.kind = Kind::object;
    ++at;
    skipBlanks();
    if (take('}'))
      return {};
    std::unordered_set<std::string> keys;
    for (bool more = true; more;) {
      SINTER_TRY_ASSIGN(std::string key, countedKey());
      if (!keys.insert(key).second)
        return fail(fmt::format("duplicate key {}", quote(key)));
      out.keys.push_back(std::move(key));
      SINTER_TRY(parseValue(out.elements.emplace_back(), depth + 1));
      SINTER_TRY_ASSIGN(more, takesAnother('}', "expected ',' or '}'"));
    }
    return {};
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
