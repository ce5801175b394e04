/// What SINTER_CONFIG does with fields of each type: reads, writes and
/// describes them.
#pragma once

#include <sinter/ConfigValue.h>
#include <sinter/IsOptional.h>

#include <sinter/runtime/DType.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sinter {

/// A field of a config that has no default: it is given where the config is
/// made, in its file or on the command line. Reads as a T; reading one that was
/// not given is an Error.
template <typename T> class Required {
public:
  Required() = default;
  template <typename U>
    requires(std::convertible_to<U, T> &&
             !std::same_as<std::remove_cvref_t<U>, Required>)
  Required(U &&value) : own(static_cast<T>(std::forward<U>(value))) {}

  bool has_value() const { return own.has_value(); }
  const T &
  value(std::source_location where = std::source_location::current()) const {
    if (!own)
      detail::throwUnset(where);
    return *own;
  }
  operator const T &() const { return value(); }
  const T &operator*() const { return value(); }
  const T *operator->() const { return &value(); }

  /// Two that were not given are equal; with anything else they compare as a T.
  template <std::same_as<Required> A, std::same_as<Required> B>
  friend bool operator==(const A &lhs, const B &rhs) {
    return lhs.own == rhs.own;
  }
  template <std::same_as<Required> A, typename U>
    requires(!std::same_as<U, Required>)
  friend bool operator==(const A &lhs, const U &rhs) {
    return lhs.value() == rhs;
  }

private:
  std::optional<T> own;
};

namespace detail {

class ConfigWalker;

template <typename T>
concept Config = requires(T &config, ConfigWalker &walker) {
  config.sinter_config_walk(walker);
};

/// An enumerator and its name.
template <typename T> struct EnumName {
  std::string_view name;
  T value;
};
template <typename T>
concept NamedEnum =
    std::is_enum_v<T> && requires(T value) { sinter_enum_names(value); };

template <typename T> struct IsRequired : std::false_type {};
template <typename T> struct IsRequired<Required<T>> : std::true_type {};
template <typename T> struct IsList : std::false_type {};
template <typename T, typename A>
struct IsList<std::vector<T, A>> : std::true_type {};
template <typename T, size_t n>
struct IsList<std::array<T, n>> : std::true_type {};
template <typename T> struct IsDictionary : std::false_type {};
template <typename T, typename C, typename A>
struct IsDictionary<std::map<std::string, T, C, A>> : std::true_type {};
template <typename T> struct IsChoice : std::false_type {};
template <typename... T> struct IsChoice<std::variant<T...>> : std::true_type {
  static_assert((Config<T> && ...),
                "the alternatives of a variant in a config are configs");
};

/// What `with_` takes for a field.
template <typename T> struct ConfigGiven {
  using Type = T;
};
template <typename T> struct ConfigGiven<Required<T>> {
  using Type = T;
};

/// Goes through the fields of one config, for one of four reasons.
class ConfigWalker {
public:
  enum class Task : uint8_t { names, read, write, describe, findMissing };

  explicit ConfigWalker(Task task) : task(task) {}

  /// Called by the code that SINTER_CONFIG generates, once a field.
  template <typename T>
  void operator()(std::string_view name, T &field, std::string_view doc);

  const Task task;
  std::vector<std::string_view> names = {};
  ConfigReader *reader = nullptr;
  const ConfigValue *from = nullptr;
  ConfigValue *to = nullptr;
  ConfigOptions *options = nullptr;
};

template <Config T> std::vector<std::string_view> configNames(const T &config) {
  ConfigWalker walker(ConfigWalker::Task::names);
  const_cast<T &>(config).sinter_config_walk(walker);
  return walker.names;
}

/// The key that says which alternative of a variant an object is.
constexpr std::string_view configTypeKey = "type";

//===- Reading ------------------------------------------------------------===//

template <typename T>
void readConfig(ConfigReader &reader, const ConfigValue &value, T &into);

template <Config T>
void readMembers(ConfigReader &reader, const ConfigValue &object, T &into,
                 bool isTagged = false) {
  std::vector<std::string_view> names = configNames(into);
  if (isTagged)
    names.push_back(configTypeKey);
  reader.checkKeys(object, names);
  ConfigWalker walker(ConfigWalker::Task::read);
  walker.reader = &reader;
  walker.from = &object;
  into.sinter_config_walk(walker);
}

template <typename T>
void readList(ConfigReader &reader, const ConfigValue &value, T &into) {
  ConfigValue own;
  const ConfigValue *list = reader.listOf(value, own);
  if (!list)
    return;
  auto readElement = [&](size_t index, auto &element) {
    reader.enter(std::to_string(index));
    readConfig(reader, list->items[index], element);
    reader.leave();
  };
  if constexpr (requires { into.resize(0); }) {
    T made;
    for (size_t i = 0; i < list->items.size(); ++i) {
      typename T::value_type element{};
      readElement(i, element);
      made.push_back(std::move(element));
    }
    into = std::move(made);
  } else if (list->items.size() != into.size()) {
    reader.expect("a list of " + std::to_string(into.size()), value);
  } else {
    for (size_t i = 0; i < into.size(); ++i)
      readElement(i, into[i]);
  }
}

template <typename T>
void readDictionary(ConfigReader &reader, const ConfigValue &value, T &into) {
  ConfigValue own;
  const ConfigValue *object = reader.objectOf(value, own);
  if (!object)
    return;
  into.clear();
  for (size_t i = 0; i < object->items.size(); ++i) {
    reader.enter(object->keys[i]);
    readConfig(reader, object->items[i], into[object->keys[i]]);
    reader.leave();
  }
}

/// Makes the alternative of that index, its fields by their defaults.
template <typename T, size_t at = 0> void emplaceAt(T &into, size_t index) {
  if constexpr (at < std::variant_size_v<T>) {
    if (at == index)
      into.template emplace<at>();
    else
      emplaceAt<T, at + 1>(into, index);
  }
}

template <typename... T>
constexpr auto choiceNames(const std::variant<T...> *) {
  return std::array<std::string_view, sizeof...(T)>{T::sinter_config_name()...};
}

template <typename T>
void readChoice(ConfigReader &reader, const ConfigValue &value, T &into) {
  ConfigValue own;
  const ConfigValue *object = reader.objectOf(value, own);
  if (!object)
    return;
  if (const ConfigValue *type = object->find(configTypeKey)) {
    auto names = choiceNames(static_cast<const T *>(nullptr));
    size_t index = into.index(), before = reader.problems();
    reader.enter(configTypeKey);
    reader.read(*type, names, index);
    reader.leave();
    if (reader.problems() != before)
      return;
    if (index != into.index())
      emplaceAt(into, index);
  }
  std::visit(
      [&](auto &alternative) {
        readMembers(reader, *object, alternative, /*isTagged=*/true);
      },
      into);
}

template <typename T>
void readNumber(ConfigReader &reader, const ConfigValue &value, T &into) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    reader.read(value, into);
  } else if constexpr (std::is_signed_v<T>) {
    int64_t wide = 0;
    reader.read(value, Limits::min(), Limits::max(), wide);
    into = static_cast<T>(wide);
  } else {
    uint64_t wide = 0;
    reader.read(value, Limits::max(), wide);
    into = static_cast<T>(wide);
  }
}

template <NamedEnum T>
void readEnum(ConfigReader &reader, const ConfigValue &value, T &into) {
  constexpr auto all = sinter_enum_names(T());
  std::array<std::string_view, all.size()> names;
  for (size_t i = 0; i < all.size(); ++i)
    names[i] = all[i].name;
  size_t index = all.size();
  reader.read(value, names, index);
  if (index < all.size())
    into = all[index].value;
}

template <typename T>
void readConfig(ConfigReader &reader, const ConfigValue &value, T &into) {
  if constexpr (Config<T>) {
    ConfigValue own;
    if (const ConfigValue *object = reader.objectOf(value, own))
      readMembers(reader, *object, into);
  } else if constexpr (IsRequired<T>::value) {
    using Own = typename ConfigGiven<T>::Type;
    Own made = into.has_value() ? into.value() : Own{};
    readConfig(reader, value, made);
    into = std::move(made);
  } else if constexpr (IsOptional<T>::value) {
    if (reader.isNull(value))
      return into.reset();
    if (!into)
      into.emplace();
    readConfig(reader, value, *into);
  } else if constexpr (IsList<T>::value) {
    readList(reader, value, into);
  } else if constexpr (IsDictionary<T>::value) {
    readDictionary(reader, value, into);
  } else if constexpr (IsChoice<T>::value) {
    readChoice(reader, value, into);
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(NamedEnum<T>, "an enum of a config's fields has its names by "
                                "SINTER_ENUM(Type, enumerators...)");
    readEnum(reader, value, into);
  } else if constexpr (std::is_same_v<T, bool> ||
                       std::is_same_v<T, std::string>) {
    reader.read(value, into);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    std::string text = into.string();
    reader.read(value, text);
    into = text;
  } else {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, long double>,
                  "a config has no fields of this type");
    readNumber(reader, value, into);
  }
}

//===- Writing ------------------------------------------------------------===//

template <typename T> ConfigValue writeConfig(const T &field);

template <Config T> void writeMembers(const T &config, ConfigValue &to) {
  ConfigWalker walker(ConfigWalker::Task::write);
  walker.to = &to;
  const_cast<T &>(config).sinter_config_walk(walker);
}

/// The enumerator's name; its number where it has none.
template <NamedEnum T> ConfigValue writeEnum(T value) {
  for (const auto &each : sinter_enum_names(T()))
    if (each.value == value)
      return ConfigValue::of(std::string(each.name));
  return ConfigValue::of(static_cast<int64_t>(value));
}

template <typename T> ConfigValue writeList(const T &list) {
  ConfigValue made = ConfigValue::ofList();
  for (const auto &element : list)
    made.add(writeConfig<typename T::value_type>(element));
  return made;
}

template <typename T> ConfigValue writeConfig(const T &field) {
  if constexpr (Config<T>) {
    ConfigValue made = ConfigValue::ofObject();
    writeMembers(field, made);
    return made;
  } else if constexpr (IsRequired<T>::value || IsOptional<T>::value) {
    return field.has_value() ? writeConfig(*field) : ConfigValue();
  } else if constexpr (IsList<T>::value) {
    return writeList(field);
  } else if constexpr (IsDictionary<T>::value) {
    ConfigValue made = ConfigValue::ofObject();
    for (const auto &[key, element] : field)
      made.add(key, writeConfig(element));
    return made;
  } else if constexpr (IsChoice<T>::value) {
    ConfigValue made = ConfigValue::ofObject();
    auto names = choiceNames(static_cast<const T *>(nullptr));
    made.add(configTypeKey, ConfigValue::of(std::string(names[field.index()])));
    std::visit([&](const auto &own) { writeMembers(own, made); }, field);
    return made;
  } else if constexpr (std::is_enum_v<T>) {
    return writeEnum(field);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return ConfigValue::of(field.string());
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, float> ||
                       std::is_same_v<T, std::string>) {
    return ConfigValue::of(field);
  } else if constexpr (std::is_floating_point_v<T>) {
    return ConfigValue::of(static_cast<double>(field));
  } else if constexpr (std::is_signed_v<T>) {
    return ConfigValue::of(static_cast<int64_t>(field));
  } else {
    return ConfigValue::of(static_cast<uint64_t>(field));
  }
}

//===- Describing ---------------------------------------------------------===//

template <Config T>
void describeMembers(ConfigOptions &options, const T &config) {
  ConfigWalker walker(ConfigWalker::Task::describe);
  walker.options = &options;
  const_cast<T &>(config).sinter_config_walk(walker);
}

template <NamedEnum T> std::string enumType() {
  std::string type;
  for (const auto &each : sinter_enum_names(T()))
    type += (type.empty() ? "" : "|") + std::string(each.name);
  return type;
}

/// What help says that a field takes.
template <typename T> std::string configType() {
  if constexpr (IsRequired<T>::value)
    return configType<typename ConfigGiven<T>::Type>();
  else if constexpr (IsOptional<T>::value)
    return configType<typename T::value_type>() + "|null";
  else if constexpr (IsList<T>::value)
    return configType<typename T::value_type>() + ",...";
  else if constexpr (Config<T> || IsDictionary<T>::value || IsChoice<T>::value)
    return "JSON";
  else if constexpr (std::is_enum_v<T>)
    return enumType<T>();
  else if constexpr (std::is_same_v<T, bool>)
    return "BOOL";
  else if constexpr (std::is_floating_point_v<T>)
    return "FLOAT";
  else if constexpr (std::is_integral_v<T>)
    return "INT";
  else
    return "TEXT";
}

template <typename... T>
void describeChoice(ConfigOptions &options, const std::variant<T...> &field) {
  std::string type;
  for (std::string_view name : choiceNames(&field))
    type += (type.empty() ? "" : "|") + std::string(name);
  auto names = choiceNames(&field);
  options.add(configTypeKey, type,
              ConfigValue::of(std::string(names[field.index()])));
  std::visit([&](const auto &own) { describeMembers(options, own); }, field);
  (describeMembers(options, T{}), ...);
}

template <typename T>
void describeConfig(ConfigOptions &options, const T &field) {
  if constexpr (Config<T>) {
    describeMembers(options, field);
  } else if constexpr (IsRequired<T>::value) {
    using Own = typename ConfigGiven<T>::Type;
    options.setRequired(!field.has_value());
    if constexpr (Config<Own> || IsChoice<Own>::value)
      describeConfig(options, field.has_value() ? *field : Own{});
    else
      options.add(configType<T>(), writeConfig(field),
                  std::is_same_v<Own, bool>);
  } else if constexpr (IsChoice<T>::value) {
    describeChoice(options, field);
  } else if constexpr (IsOptional<T>::value) {
    if constexpr (Config<typename T::value_type>)
      describeMembers(options, field ? *field : typename T::value_type{});
    else
      options.add(configType<T>(), writeConfig(field));
  } else {
    options.add(configType<T>(), writeConfig(field), std::is_same_v<T, bool>);
  }
}

//===- Missing fields -----------------------------------------------------===//

template <typename T> void findMissing(ConfigReader &reader, const T &field) {
  if constexpr (Config<T>) {
    ConfigWalker walker(ConfigWalker::Task::findMissing);
    walker.reader = &reader;
    const_cast<T &>(field).sinter_config_walk(walker);
  } else if constexpr (IsRequired<T>::value) {
    if (field.has_value())
      findMissing(reader, *field);
    else
      reader.missing({});
  } else if constexpr (IsOptional<T>::value) {
    if (field)
      findMissing(reader, *field);
  } else if constexpr (IsList<T>::value) {
    if constexpr (!std::is_arithmetic_v<typename T::value_type>)
      for (size_t i = 0; i < field.size(); ++i) {
        reader.enter(std::to_string(i));
        findMissing(reader, field[i]);
        reader.leave();
      }
  } else if constexpr (IsDictionary<T>::value) {
    for (const auto &[key, element] : field) {
      reader.enter(key);
      findMissing(reader, element);
      reader.leave();
    }
  } else if constexpr (IsChoice<T>::value) {
    std::visit([&](const auto &own) { findMissing(reader, own); }, field);
  }
}

template <typename T>
void ConfigWalker::operator()(std::string_view name, T &field,
                              std::string_view doc) {
  switch (task) {
  case Task::names:
    names.push_back(name);
    return;
  case Task::read:
    if (const ConfigValue *value = from->find(name)) {
      reader->enter(name);
      readConfig(*reader, *value, field);
      reader->leave();
    }
    return;
  case Task::write:
    to->add(name, writeConfig<T>(field));
    return;
  case Task::describe:
    options->enter(name, doc, IsRequired<T>::value);
    describeConfig<T>(*options, field);
    options->leave();
    return;
  case Task::findMissing:
    reader->enter(name);
    findMissing<T>(*reader, field);
    reader->leave();
    return;
  }
}

//===- Whole configs ------------------------------------------------------===//

template <Config T>
T readWholeConfig(std::string_view text, const std::string &source,
                  std::source_location where) {
  ConfigValue value = parseConfigText(text, source, where);
  ConfigReader reader(source);
  T config{};
  readConfig(reader, value, config);
  findMissing(reader, config);
  reader.finish(where);
  return config;
}

template <Config T>
std::string writeWholeConfig(const T &config, std::source_location where) {
  ConfigReader reader("");
  findMissing(reader, config);
  reader.finish(where);
  return configText(writeConfig(config), where);
}

} // namespace detail
} // namespace sinter
