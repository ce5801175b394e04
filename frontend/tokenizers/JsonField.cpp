/// Values of a JSON file, with the paths that lead to them.
#include "frontend/tokenizers/JsonField.h"
#include "frontend/tokenizers/characters/Unicode.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::text {

/// Deeper brackets are no tokenizer's.
static constexpr int maxDepth = 64;

static void checkDepth(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth > maxDepth)
      fail(ErrorKind::io,
           fmt::format("brackets are deeper than {} at byte {}", maxDepth, i));
  }
}

Json parseJson(std::string_view text) {
  if (size_t bad = findInvalid(text); bad != text.npos)
    fail(ErrorKind::io, fmt::format("not UTF-8 at byte {}", bad));
  checkDepth(text);
  try {
    return Json::parse(text);
  } catch (const Json::exception &error) {
    // The library's name and number of the error stand before a bracket.
    std::string_view message = error.what();
    size_t end = message.find("] ");
    fail(ErrorKind::io, "not JSON: " + printableName(message.substr(
                                           end == message.npos ? 0 : end + 2)));
  }
}

static Json &nothing() {
  static Json &value = *new Json();
  return value;
}

void Field::wrong(const std::string &message) const {
  fail(ErrorKind::io, path + ": " + message);
}

void Field::unsupported(const std::string &message) const {
  fail(ErrorKind::unsupported, path + ": " + message);
}

void Field::expected(const char *what) const {
  wrong(fmt::format("expected {}, not {}", what, value->type_name()));
}

Field Field::get(std::string_view name) const {
  auto found = object().find(name);
  std::string full =
      path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  return {found == value->end() ? nothing() : *found, std::move(full)};
}

Field Field::at(std::string_view name) const {
  if (!object().contains(name))
    get(name).wrong("missing");
  return get(name);
}

Field Field::at(size_t index) const {
  return {array()[index], fmt::format("{}[{}]", path, index)};
}

const std::string &Field::string() const {
  if (!value->is_string())
    expected("a string");
  return value->get_ref<const std::string &>();
}

bool Field::boolean() const {
  if (!value->is_boolean())
    expected("true or false");
  return value->get<bool>();
}

int64_t Field::integer(int64_t low, int64_t high) const {
  if (!value->is_number_integer())
    expected("an integer");
  bool huge = value->is_number_unsigned() &&
              value->get<uint64_t>() > uint64_t(INT64_MAX);
  int64_t number = huge ? INT64_MAX : value->get<int64_t>();
  if (number < low || number > high)
    wrong(fmt::format("{} is out of range, it may be {} to {}", value->dump(),
                      low, high));
  return number;
}

double Field::number() const {
  if (!value->is_number())
    expected("a number");
  return value->get<double>();
}

const Json &Field::array() const {
  if (!value->is_array())
    expected("an array");
  return *value;
}

const Json &Field::object() const {
  if (!value->is_object())
    expected("an object");
  return *value;
}

char32_t Field::character() const {
  const std::string &text = string();
  size_t at = 0;
  char32_t c = text.empty() ? 0 : nextChar(text, at);
  if (text.empty() || at != text.size())
    wrong(fmt::format("expected one character, not '{}'", printableName(text)));
  return c;
}

std::string Field::stringOr(std::string_view name,
                            std::string_view other) const {
  Field field = get(name);
  return field.isNull() ? std::string(other) : field.string();
}

bool Field::booleanOr(std::string_view name, bool other) const {
  Field field = get(name);
  return field.isNull() ? other : field.boolean();
}

size_t Field::choice(std::initializer_list<std::string_view> names) const {
  const std::string &text = string();
  const auto *found = std::ranges::find(names, std::string_view(text));
  if (found == names.end())
    unsupported(fmt::format("'{}' is none of {}", printableName(text),
                            fmt::join(names, ", ")));
  return size_t(found - names.begin());
}

void Field::onlyHas(std::initializer_list<std::string_view> known) const {
  std::vector<std::string> others;
  for (const auto &[name, member] : object().items()) {
    bool says = !member.is_null() && member != Json(false);
    if (says && std::ranges::find(known, std::string_view(name)) == known.end())
      others.push_back(printableName(name));
  }
  if (!others.empty())
    unsupported(fmt::format("unknown fields: {}", fmt::join(others, ", ")));
}

} // namespace sinter::text
