/// Values of settings, and what is wrong with them.
#include <sinter/ConfigValue.h>

#include "frontend/Raise.h"
#include "frontend/config/ConfigText.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace sinter::detail {

using Kind = ConfigValue::Kind;

//===- Values -------------------------------------------------------------===//

ConfigValue ConfigValue::ofKind(Kind kind) {
  ConfigValue value;
  value.kind = kind;
  return value;
}

ConfigValue ConfigValue::of(bool flag) {
  ConfigValue value = ofKind(Kind::boolean);
  value.flag = flag;
  return value;
}

/// The fewest digits that are read back as the same number; one that is not
/// finite is a text.
template <typename T> static ConfigValue ofFloat(T number) {
  if (std::isnan(number))
    return ConfigValue::of(std::string("nan"));
  if (std::isinf(number))
    return ConfigValue::of(std::string(number > 0 ? "inf" : "-inf"));
  ConfigValue value = ConfigValue::ofKind(Kind::real);
  value.real = number;
  char digits[64];
  auto end = std::to_chars(digits, std::end(digits), number).ptr;
  value.text.assign(digits, end);
  if (value.text.find_first_of(".e") == std::string::npos)
    value.text += ".0";
  return value;
}

ConfigValue ConfigValue::of(double value) { return ofFloat(value); }
ConfigValue ConfigValue::of(float value) { return ofFloat(value); }

ConfigValue ConfigValue::of(int64_t number) {
  if (number >= 0)
    return of(static_cast<uint64_t>(number));
  ConfigValue value = ofKind(Kind::integer);
  value.integer = number;
  value.text = fmt::to_string(number);
  return value;
}

ConfigValue ConfigValue::of(uint64_t number) {
  ConfigValue value = ofKind(Kind::natural);
  value.natural = number;
  value.text = fmt::to_string(number);
  return value;
}

ConfigValue ConfigValue::of(std::string text) {
  ConfigValue value = ofKind(Kind::text);
  value.text = std::move(text);
  return value;
}

void ConfigValue::add(std::string_view key, ConfigValue item) {
  keys.emplace_back(key);
  items.push_back(std::move(item));
}

const ConfigValue *ConfigValue::find(std::string_view key) const {
  auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &items[found - keys.begin()];
}

//===- Problems -----------------------------------------------------------===//

/// A value as an error shows it.
static std::string shown(const ConfigValue &value) {
  constexpr size_t most = 40;
  switch (value.kind) {
  case Kind::null:
    return "null";
  case Kind::boolean:
    return value.flag ? "true" : "false";
  case Kind::list:
    return fmt::format("a list of {}", value.items.size());
  case Kind::object:
    return "an object";
  case Kind::text:
  case Kind::words:
    return value.text.size() > most
               ? fmt::format("\"{}...\"", value.text.substr(0, most))
               : fmt::format("\"{}\"", value.text);
  case Kind::integer:
  case Kind::natural:
  case Kind::real:
    return value.text.substr(0, most);
  }
  return {};
}

std::string nearestName(std::string_view name,
                        std::span<const std::string_view> names) {
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  std::vector<size_t> row;
  for (std::string_view each : names) {
    if (each.size() > name.size() + least || name.size() > each.size() + least)
      continue;
    row.resize(each.size() + 1);
    for (size_t j = 0; j < row.size(); ++j)
      row[j] = j;
    for (size_t i = 0; i < name.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i + 1;
      for (size_t j = 0; j < each.size(); ++j) {
        size_t replaced = diagonal + (name[i] != each[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
      }
    }
    if (row.back() < least && row.back() < each.size()) {
      least = row.back();
      nearest = each;
    }
  }
  return nearest;
}

void ConfigReader::enter(std::string_view name) { path.emplace_back(name); }
void ConfigReader::leave() { path.pop_back(); }

std::string ConfigReader::pathOf(std::string_view name) const {
  std::string text;
  for (const std::string &part : path)
    text += (text.empty() ? "" : ".") + part;
  if (!name.empty())
    text += (text.empty() ? "" : ".") + std::string(name);
  return text;
}

void ConfigReader::note(const ConfigValue &at, std::string what) {
  std::string own = pathOf(), place;
  if (!at.option.empty())
    place = at.option;
  else if (at.line)
    place = fmt::format("{}:{}", source, at.line);
  else
    place = source;
  bool names = !own.empty() && at.option != "--" + own;
  found.push_back(
      {own, fmt::format("{}: {}{}", place, names ? own + ": " : "", what)});
}

void ConfigReader::expect(std::string_view wanted, const ConfigValue &value) {
  note(value, fmt::format("expected {}, there is {}", wanted, shown(value)));
}

void ConfigReader::missing(std::string_view name) {
  std::string own = pathOf(name);
  // One that was given wrongly is not also missing.
  if (std::ranges::find(found, own, &Problem::path) == found.end())
    absent.push_back(std::move(own));
}

void ConfigReader::checkKeys(const ConfigValue &object,
                             std::span<const std::string_view> names) {
  for (size_t i = 0; i < object.keys.size(); ++i) {
    const std::string &key = object.keys[i];
    if (std::ranges::find(names, key) != names.end())
      continue;
    std::string nearest = nearestName(key, names);
    enter(key.size() > 40 ? key.substr(0, 40) + "..." : key);
    note(object.items[i],
         nearest.empty()
             ? "there is no such field"
             : fmt::format("there is no such field; did you mean '{}'?",
                           nearest));
    leave();
  }
}

void ConfigReader::finish(std::source_location where) {
  if (!absent.empty()) {
    std::string text = source.empty() ? "" : source + ": ";
    text += absent.size() == 1 ? "a field that has no default was not given:"
                               : "fields that have no default were not given:";
    for (const std::string &name : absent)
      text += (&name == &absent.front() ? " " : ", ") + name;
    found.push_back({{}, std::move(text)});
  }
  if (found.empty())
    return;
  constexpr size_t most = 20;
  std::string text = "config: ";
  if (found.size() == 1) {
    text += found[0].text;
  } else {
    text += fmt::format("{} problems:", found.size());
    for (size_t i = 0; i < std::min(found.size(), most); ++i)
      text += "\n  " + found[i].text;
    if (found.size() > most)
      text += "\n  ...";
  }
  raise(makeError(ErrorKind::invalid_argument, std::move(text), "config"),
        where);
}

void throwUnset(std::source_location where) {
  raise(makeError(ErrorKind::invalid_argument,
                  "config: a required field was read that was never given",
                  "config"),
        where);
}

//===- Reading ------------------------------------------------------------===//

/// All of the text as a number.
template <typename T> static bool isNumber(std::string_view text, T &into) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  T value{};
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return false;
  into = value;
  return true;
}

bool ConfigReader::isNull(const ConfigValue &value) const {
  return value.kind == Kind::null ||
         (value.kind == Kind::words && value.text == "null");
}

void ConfigReader::read(const ConfigValue &value, bool &into) {
  if (value.kind == Kind::boolean)
    into = value.flag;
  else if (value.kind == Kind::words &&
           (value.text == "true" || value.text == "false"))
    into = value.text == "true";
  else
    expect("true or false", value);
}

/// Whether a value looks like a number, so that its range is worth telling.
static bool looksNumeric(const ConfigValue &value) {
  double number = 0;
  return value.kind == Kind::integer || value.kind == Kind::natural ||
         value.kind == Kind::real ||
         (value.kind == Kind::words && isNumber(value.text, number));
}

template <typename T>
static std::string integerText(const ConfigValue &value, T least, T most) {
  return looksNumeric(value)
             ? fmt::format("an integer from {} to {}", least, most)
             : "an integer";
}

void ConfigReader::read(const ConfigValue &value, int64_t least, int64_t most,
                        int64_t &into) {
  int64_t number = 0;
  bool fits = false;
  if (value.kind == Kind::integer) {
    number = value.integer;
    fits = true;
  } else if (value.kind == Kind::natural) {
    fits = value.natural <= uint64_t(std::numeric_limits<int64_t>::max());
    number = static_cast<int64_t>(value.natural);
  } else if (value.kind == Kind::words) {
    fits = isNumber(value.text, number);
  }
  if (fits && number >= least && number <= most)
    into = number;
  else
    expect(integerText(value, least, most), value);
}

void ConfigReader::read(const ConfigValue &value, uint64_t most,
                        uint64_t &into) {
  uint64_t number = value.natural;
  bool fits = value.kind == Kind::natural ||
              (value.kind == Kind::words && isNumber(value.text, number));
  if (fits && number <= most)
    into = number;
  else
    expect(integerText<uint64_t>(value, 0, most), value);
}

/// The number that a value is, if it is one.
static bool numberOf(const ConfigValue &value, double &into) {
  switch (value.kind) {
  case Kind::integer:
    into = static_cast<double>(value.integer);
    return true;
  case Kind::natural:
    into = static_cast<double>(value.natural);
    return true;
  case Kind::real:
    into = value.real;
    return true;
  case Kind::text:
  case Kind::words:
    break;
  default:
    return false;
  }
  using Limits = std::numeric_limits<double>;
  if (value.text == "nan")
    into = Limits::quiet_NaN();
  else if (value.text == "inf")
    into = Limits::infinity();
  else if (value.text == "-inf")
    into = -Limits::infinity();
  else
    return value.kind == Kind::words && isNumber(value.text, into);
  return true;
}

void ConfigReader::read(const ConfigValue &value, double &into) {
  if (!numberOf(value, into))
    expect("a number", value);
}

void ConfigReader::read(const ConfigValue &value, float &into) {
  double number = 0;
  constexpr double most = std::numeric_limits<float>::max();
  if (!numberOf(value, number))
    return expect("a number", value);
  if (std::isfinite(number) && std::fabs(number) > most)
    return expect("a number that a float holds", value);
  // Rounding twice would not give the float that the digits name.
  float own = 0;
  into = !value.text.empty() && isNumber(value.text, own)
             ? own
             : static_cast<float>(number);
}

void ConfigReader::read(const ConfigValue &value, std::string &into) {
  if (value.kind == Kind::text || value.kind == Kind::words)
    into = value.text;
  else
    expect("a text", value);
}

void ConfigReader::read(const ConfigValue &value,
                        std::span<const std::string_view> names, size_t &into) {
  bool isText = value.kind == Kind::text || value.kind == Kind::words;
  auto own = std::ranges::find(names, value.text);
  if (isText && own != names.end()) {
    into = static_cast<size_t>(own - names.begin());
    return;
  }
  std::string wanted = "one of ";
  for (std::string_view name : names)
    wanted += (name == names.front() ? "" : ", ") + std::string(name);
  std::string nearest = isText ? nearestName(value.text, names) : "";
  expect(wanted, value);
  if (!nearest.empty())
    found.back().text += fmt::format("; did you mean '{}'?", nearest);
}

/// Says of values that were made of an option's words where they stand.
static void setOption(ConfigValue &value, const std::string &option) {
  value.option = option;
  for (ConfigValue &item : value.items)
    setOption(item, option);
}

/// The words of an option as JSON, when they begin as a list or an object does.
bool ConfigReader::parseWords(const ConfigValue &words, ConfigValue &own) {
  ConfigTextResult parsed = parseConfigText(words.text);
  if (!parsed.problem.empty()) {
    note(words, parsed.problem);
    return false;
  }
  own = std::move(parsed.value);
  setOption(own, words.option);
  return true;
}

const ConfigValue *ConfigReader::listOf(const ConfigValue &value,
                                        ConfigValue &own) {
  if (value.kind == Kind::list)
    return &value;
  if (value.kind != Kind::words) {
    expect("a list", value);
    return nullptr;
  }
  if (value.text.starts_with('['))
    return parseWords(value, own) ? &own : nullptr;
  own = ConfigValue::ofList();
  for (size_t start = 0; !value.text.empty() && start != std::string::npos;) {
    size_t comma = value.text.find(',', start);
    ConfigValue item = ConfigValue::ofKind(Kind::words);
    item.option = value.option;
    item.text = value.text.substr(start, comma - start);
    own.add(std::move(item));
    start = comma == std::string::npos ? comma : comma + 1;
  }
  return &own;
}

const ConfigValue *ConfigReader::objectOf(const ConfigValue &value,
                                          ConfigValue &own) {
  if (value.kind == Kind::object)
    return &value;
  if (value.kind == Kind::words && value.text.starts_with('{'))
    return parseWords(value, own) ? &own : nullptr;
  expect("an object", value);
  return nullptr;
}

//===- Options ------------------------------------------------------------===//

void ConfigOptions::enter(std::string_view name, std::string_view doc,
                          bool required) {
  steps.push_back({std::string(name), std::string(doc), required});
}
void ConfigOptions::leave() { steps.pop_back(); }

void ConfigOptions::add(std::string type, const ConfigValue &value,
                        bool isFlag) {
  std::string path;
  for (const Step &step : steps)
    path += (path.empty() ? "" : ".") + step.name;
  if (std::ranges::find(all, path, &ConfigOption::path) != all.end())
    return;
  all.push_back({std::move(path), std::move(type), compactText(value),
                 steps.back().doc, steps.back().required, isFlag});
}

void ConfigOptions::add(std::string_view member, std::string type,
                        const ConfigValue &value) {
  enter(member, steps.back().doc, steps.back().required);
  add(std::move(type), value);
  leave();
}

} // namespace sinter::detail
