/// ConfigReader: takes values out of config.json, and knows which were taken.
#include "frontend/huggingface/ConfigReader.h"

#include "frontend/Raise.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::hf {

using runtime::json::Kind;
using runtime::json::Value;

std::string describe(const Value &value) {
  constexpr size_t most = 60;
  switch (value.kind) {
  case Kind::null:
    return "null";
  case Kind::boolean:
    return value.boolean ? "true" : "false";
  case Kind::unsignedInteger:
    return std::to_string(value.integer);
  case Kind::number:
    return fmt::format("{}", value.number);
  case Kind::string:
    return value.string.size() <= most
               ? runtime::json::quote(value.string)
               : fmt::format("a string of {} bytes", value.string.size());
  case Kind::array:
    return fmt::format("a list of {}", value.elements.size());
  case Kind::object:
    return fmt::format("an object of {}", value.elements.size());
  }
  return {};
}

/// Whether a key with this value asks for nothing.
static bool isNothing(const Value &value) {
  switch (value.kind) {
  case Kind::null:
    return true;
  case Kind::boolean:
    return !value.boolean;
  case Kind::unsignedInteger:
    return value.integer == 0;
  case Kind::number:
    return value.number == 0;
  case Kind::string:
    return value.string.empty();
  case Kind::array:
  case Kind::object:
    return value.elements.empty();
  }
  return false;
}

ConfigReader::ConfigReader(const Value &object, std::string file,
                           const SourceLine &where, std::string inside)
    : value(object), path(std::move(file)), inside(std::move(inside)),
      where(where) {}

void ConfigReader::refuse(std::string_view key, const std::string &why) const {
  detail::raise(makeError(ErrorKind::io,
                          fmt::format("{}: '{}{}' {}", path, inside, key, why)),
                where);
}

void ConfigReader::lack(std::string_view key, const std::string &why) const {
  detail::raise(makeError(ErrorKind::unsupported,
                          fmt::format("{}: '{}{}' {}", path, inside, key, why)),
                where);
}

bool ConfigReader::has(std::string_view key) const {
  const Value *found = value.find(key);
  return found && !found->is(Kind::null);
}

bool ConfigReader::isNull(std::string_view key) const {
  const Value *found = value.find(key);
  return found && found->is(Kind::null);
}

const Value *ConfigReader::take(std::string_view key) {
  const Value *found = value.find(key);
  if (found)
    taken.emplace(key);
  return found && !found->is(Kind::null) ? found : nullptr;
}

int64_t ConfigReader::integer(std::string_view key, const Value &found,
                              int64_t least, int64_t most) const {
  if (!found.is(Kind::unsignedInteger) ||
      found.integer < static_cast<uint64_t>(least) ||
      found.integer > static_cast<uint64_t>(most))
    refuse(key, fmt::format("is {}, no integer from {} to {}", describe(found),
                            least, most));
  return static_cast<int64_t>(found.integer);
}

std::optional<int64_t> ConfigReader::size(std::string_view key, int64_t most) {
  const Value *found = take(key);
  if (!found)
    return {};
  return integer(key, *found, 1, most);
}

int64_t ConfigReader::size(std::string_view key, int64_t fallback,
                           int64_t most) {
  return size(key, most).value_or(fallback);
}

std::optional<int64_t> ConfigReader::count(std::string_view key, int64_t most) {
  const Value *found = take(key);
  if (!found)
    return {};
  return integer(key, *found, 0, most);
}

std::optional<double> ConfigReader::number(std::string_view key, double least,
                                           double most) {
  const Value *found = take(key);
  if (!found)
    return {};
  bool isNumber = found->is(Kind::unsignedInteger) || found->is(Kind::number);
  if (!isNumber || !(found->number >= least && found->number <= most))
    refuse(key, fmt::format("is {}, no number from {} to {}", describe(*found),
                            least, most));
  return found->number;
}

double ConfigReader::number(std::string_view key, double fallback, double least,
                            double most) {
  return number(key, least, most).value_or(fallback);
}

bool ConfigReader::flag(std::string_view key, bool fallback) {
  const Value *found = take(key);
  if (!found)
    return fallback;
  if (!found->is(Kind::boolean))
    refuse(key, fmt::format("is {}, neither true nor false", describe(*found)));
  return found->boolean;
}

std::string ConfigReader::text(std::string_view key,
                               std::string_view fallback) {
  const Value *found = take(key);
  if (!found)
    return std::string(fallback);
  if (!found->is(Kind::string))
    refuse(key, fmt::format("is {}, no string", describe(*found)));
  return found->string;
}

Activation ConfigReader::activation(std::string_view key, Activation fallback) {
  if (!has(key))
    return fallback;
  std::string name = text(key, "");
  if (std::optional<Activation> known = activation_named(name))
    return *known;
  lack(key, fmt::format("is {}, which is not supported",
                        describe(*value.find(key))));
}

std::vector<std::string> ConfigReader::texts(std::string_view key) {
  const Value *found = take(key);
  if (!found)
    return {};
  std::vector<std::string> list;
  bool isList = found->is(Kind::array);
  for (const Value &element : found->elements) {
    isList &= element.is(Kind::string);
    list.push_back(element.string);
  }
  if (!isList)
    refuse(key, fmt::format("is {}, no list of strings", describe(*found)));
  return list;
}

std::pair<int64_t, int64_t> ConfigReader::area(std::string_view key,
                                               int64_t fallback, int64_t most) {
  const Value *found = take(key);
  if (!found)
    return {fallback, fallback};
  if (!found->is(Kind::array)) {
    int64_t both = integer(key, *found, 1, most);
    return {both, both};
  }
  if (found->elements.size() != 2)
    refuse(key, fmt::format("is {}, not of two", describe(*found)));
  return {integer(key, found->elements[0], 1, most),
          integer(key, found->elements[1], 1, most)};
}

const Value *ConfigReader::object(std::string_view key) {
  const Value *found = take(key);
  if (found && !found->is(Kind::object))
    refuse(key, fmt::format("is {}, no object", describe(*found)));
  return found;
}

std::optional<int64_t> ConfigReader::members(std::string_view key) {
  const Value *found = object(key);
  if (!found)
    return {};
  return static_cast<int64_t>(found->elements.size());
}

void ConfigReader::expectText(std::string_view key, std::string_view wanted) {
  const Value *found = take(key);
  if (found && (!found->is(Kind::string) || found->string != wanted))
    lack(key, fmt::format("is {}; only \"{}\" is supported", describe(*found),
                          wanted));
}

void ConfigReader::expectFlag(std::string_view key, bool wanted) {
  if (flag(key, wanted) != wanted)
    lack(key, fmt::format("is {}, which is not supported", !wanted));
}

void ConfigReader::ignore(std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys)
    if (value.find(key) && taken.emplace(key).second)
      unread.emplace_back(key);
}

std::vector<std::string>
ConfigReader::finish(std::span<const std::string> permitted) {
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const std::string &key = value.keys[i];
    if (taken.contains(key))
      continue;
    if (!isNothing(value.elements[i]) && !std::ranges::count(permitted, key))
      lack(key, fmt::format("is {}, and it is not known what that means",
                            describe(value.elements[i])));
    unread.push_back(key);
  }
  return unread;
}

} // namespace sinter::hf
