/// Reads and writes settings as JSON, by nlohmann's parser.
#include "frontend/config/ConfigText.h"

#include "frontend/Raise.h"
#include "runtime/files/ReplaceFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sinter::detail {

using Kind = ConfigValue::Kind;

namespace {

/// No settings are larger, or deeper.
constexpr size_t mostBytes = size_t(16) << 20;
constexpr size_t mostDepth = 64;

/// Counts the lines of what a parser took.
struct Lines {
  uint32_t taken = 1;  ///< of the character that comes next
  uint32_t before = 1; ///< of the last that was taken
};

/// The text, character by character.
class CountedText {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountedText(const char *at, Lines *lines) : at(at), lines(lines) {}
  reference operator*() const { return *at; }
  CountedText &operator++() {
    lines->before = lines->taken;
    lines->taken += *at == '\n';
    ++at;
    return *this;
  }
  CountedText operator++(int) {
    CountedText before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedText &other) const { return at == other.at; }

private:
  const char *at;
  Lines *lines;
};

/// Builds a value of a parser's events.
class TreeBuilder {
public:
  explicit TreeBuilder(const Lines &lines) : lines(lines) {}

  bool null() { return add({}); }
  bool boolean(bool value) { return add(ConfigValue::of(value)); }
  bool number_integer(int64_t value) { return add(ConfigValue::of(value)); }
  bool number_unsigned(uint64_t value) { return add(ConfigValue::of(value)); }
  bool number_float(double value, const std::string &text) {
    ConfigValue made = ConfigValue::ofKind(Kind::real);
    made.real = value;
    made.text = text;
    return add(std::move(made));
  }
  bool string(std::string &value) {
    return add(ConfigValue::of(std::move(value)));
  }
  bool binary(nlohmann::json::binary_t &) { return false; }
  bool start_object(size_t) { return open(ConfigValue::ofObject()); }
  bool start_array(size_t) { return open(ConfigValue::ofList()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string &name) {
    ConfigValue &object = *opened.back();
    if (object.find(name))
      return fail(fmt::format("'{}' stands there twice", name.substr(0, 40)));
    object.keys.push_back(std::move(name));
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::json::exception &error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what"
    std::string what = error.what();
    for (const char *end : {"] ", ": "})
      if (size_t found = what.find(end);
          found != what.npos && (what[0] == '[' || what.starts_with("parse")))
        what.erase(0, found + 2);
    return fail(what);
  }

  ConfigTextResult result;

private:
  bool fail(std::string what) {
    result.problem = std::move(what);
    result.line = lines.before;
    return false;
  }
  bool add(ConfigValue value) {
    value.line = lines.before;
    place(std::move(value));
    return true;
  }
  bool open(ConfigValue value) {
    if (opened.size() == mostDepth)
      return fail(fmt::format("more than {} levels of brackets", mostDepth));
    value.line = lines.before;
    opened.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    opened.pop_back();
    return true;
  }
  /// Containers that are open are the last ones of theirs, so nothing moves
  /// them.
  ConfigValue &place(ConfigValue value) {
    if (opened.empty())
      return result.value = std::move(value);
    return opened.back()->items.emplace_back(std::move(value));
  }

  const Lines &lines;
  std::vector<ConfigValue *> opened;
};

} // namespace

ConfigTextResult parseConfigText(std::string_view text) {
  Lines lines;
  TreeBuilder builder(lines);
  if (text.size() > mostBytes) {
    builder.result.problem = "it has more than 16 MiB";
    return std::move(builder.result);
  }
  CountedText begin(text.data(), &lines);
  CountedText end(text.data() + text.size(), &lines);
  nlohmann::json::sax_parse(begin, end, &builder);
  return std::move(builder.result);
}

ConfigValue parseConfigText(std::string_view text, const std::string &source,
                            std::source_location where) try {
  ConfigTextResult parsed = parseConfigText(text);
  if (!parsed.problem.empty())
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("config: {}:{}: {}", source, parsed.line,
                                parsed.problem),
                    "config"),
          where);
  return std::move(parsed.value);
} catch (...) {
  raiseExhausted(where);
}

//===- Writing ------------------------------------------------------------===//

static std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump();
}

static bool isPlain(const ConfigValue &value) {
  return value.kind != Kind::list && value.kind != Kind::object;
}

static std::string plainText(const ConfigValue &value) {
  switch (value.kind) {
  case Kind::null:
    return "null";
  case Kind::boolean:
    return value.flag ? "true" : "false";
  case Kind::text:
  case Kind::words:
    return quoted(value.text);
  default:
    return value.text;
  }
}

/// Appends a value; where `indent` is below 0, in one line.
static void append(std::string &text, const ConfigValue &value, int indent) {
  if (isPlain(value)) {
    text += plainText(value);
    return;
  }
  bool isList = value.kind == Kind::list;
  bool isShort = indent < 0 || value.items.empty() ||
                 (isList && std::ranges::all_of(value.items, isPlain));
  int inner = isShort ? -1 : indent + 2;
  auto breakLine = [&](int spaces) {
    if (!isShort)
      text += "\n" + std::string(static_cast<size_t>(spaces), ' ');
  };
  text += isList ? '[' : '{';
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i)
      text += isShort ? ", " : ",";
    breakLine(inner);
    if (!isList)
      text += quoted(value.keys[i]) + ": ";
    append(text, value.items[i], inner);
  }
  breakLine(indent);
  text += isList ? ']' : '}';
}

std::string configText(const ConfigValue &value,
                       std::source_location where) try {
  std::string text;
  append(text, value, 0);
  return text + "\n";
} catch (const nlohmann::json::exception &) {
  raise(makeError(ErrorKind::invalid_argument,
                  "config: a text is not UTF-8, which JSON is", "config"),
        where);
} catch (...) {
  raiseExhausted(where);
}

std::string compactText(const ConfigValue &value) try {
  if (value.kind == Kind::text)
    return value.text;
  std::string text;
  append(text, value, -1);
  return text;
} catch (const nlohmann::json::exception &) {
  return "?";
}

//===- Files --------------------------------------------------------------===//

[[noreturn]] static void refuseFile(const std::string &path,
                                    const std::string &what,
                                    const SourceLine &where) {
  raise(makeError(ErrorKind::io, fmt::format("config: {}: {}", path, what),
                  "config"),
        where);
}

std::string readConfigFile(const std::string &path,
                           std::source_location where) try {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    refuseFile(path, "it is a folder", where);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    refuseFile(path, std::strerror(errno ? errno : ENOENT), where);
  std::string text;
  char part[1 << 14];
  while (text.size() <= mostBytes &&
         (file.read(part, sizeof(part)), file.gcount() > 0))
    text.append(part, static_cast<size_t>(file.gcount()));
  if (file.bad())
    refuseFile(path, "it cannot be read", where);
  return text;
} catch (...) {
  raiseExhausted(where);
}

void writeConfigFile(const std::string &path, std::string_view text,
                     std::source_location where) try {
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  unwrap(runtime::replaceFile(path, {&bytes, 1}), where);
} catch (...) {
  raiseExhausted(where);
}

} // namespace sinter::detail
