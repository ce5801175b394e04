/// SINTER_CONFIG: makes a plain struct settings that are read from JSON and the
/// command line.
#pragma once

#include <sinter/ConfigFields.h>
#include <sinter/ForEach.h>

#include <array>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Stands at the end of a struct and names the struct and its fields, in their
/// order:
///
///     struct MlpConfig {
///       sn::Required<int64_t> inputs;   // no default: has to be given
///       int64_t hidden = 128;
///       SINTER_DOC(hidden, "units of the hidden layer")
///       SINTER_CONFIG(MlpConfig, inputs, hidden)
///     };
///
///     auto config = MlpConfig{.inputs = 784}.with_hidden(256);
///
/// Fields are bool, integers, floats, strings, paths, enums with SINTER_ENUM,
/// other configs, and Required, optional, vector, array, map with string keys
/// and variant (of configs) of these. A field that is not named is no part of
/// the settings. The struct stays an aggregate that is copied and compared.
///
/// Given to the struct, all public:
///   with_FIELD(value)   a copy with another value, once a field
///   to_json()           JSON, fields in their order
///   from_json(text)     the same from JSON; fields that it leaves out have
///                       their defaults
///   save(file)          to_json into a file, which is replaced at once
///   load(file)          from_json of a file
///   ==                  by all fields
///
/// What reads throws an Error of kind invalid_argument that says of everything
/// wrong at once where it stands, what was expected there and what there is:
/// other types and numbers out of a field's range, unknown fields (with the
/// name that was perhaps meant), fields given twice, Required ones not given.
/// Floats that are not finite are the strings "nan", "inf" and "-inf". In an
/// object of a variant "type" names the alternative's struct.
#define SINTER_CONFIG(ConfigType, ...)                                         \
  static constexpr std::string_view sinter_config_name() {                     \
    return #ConfigType;                                                        \
  }                                                                            \
  void sinter_config_walk(::sinter::detail::ConfigWalker &sinter_walker) {     \
    SINTER_FOR_EACH(SINTER_CONFIG_FIELD, __VA_ARGS__)                          \
  }                                                                            \
  using sinter_config_type = ConfigType;                                       \
  SINTER_FOR_EACH(SINTER_CONFIG_WITH, __VA_ARGS__)                             \
  std::string to_json(std::source_location where =                             \
                          std::source_location::current()) const {             \
    return ::sinter::detail::writeWholeConfig(*this, where);                   \
  }                                                                            \
  static ConfigType from_json(std::string_view text,                           \
                              std::source_location where =                     \
                                  std::source_location::current()) {           \
    return ::sinter::detail::readWholeConfig<ConfigType>(text, "JSON", where); \
  }                                                                            \
  void save(const std::string &file,                                           \
            std::source_location where = std::source_location::current())      \
      const {                                                                  \
    ::sinter::detail::writeConfigFile(file, to_json(where), where);            \
  }                                                                            \
  static ConfigType load(const std::string &file,                              \
                         std::source_location where =                          \
                             std::source_location::current()) {                \
    return ::sinter::detail::readWholeConfig<ConfigType>(                      \
        ::sinter::detail::readConfigFile(file, where), file, where);           \
  }                                                                            \
  bool operator==(const ConfigType &) const = default;

#define SINTER_CONFIG_FIELD(field)                                             \
  sinter_walker(                                                               \
      #field, this->field,                                                     \
      []<typename SinterSelf>(SinterSelf *) -> std::string_view {              \
        if constexpr (requires { SinterSelf::sinter_doc_##field(); })          \
          return SinterSelf::sinter_doc_##field();                             \
        else                                                                   \
          return {};                                                           \
      }(this));

#define SINTER_CONFIG_WITH(field)                                              \
  [[nodiscard]] auto with_##field(                                             \
      typename ::sinter::detail::ConfigGiven<decltype(field)>::Type            \
          sinterValue) const {                                                 \
    sinter_config_type sinterCopy = *this;                                     \
    sinterCopy.field = std::move(sinterValue);                                 \
    return sinterCopy;                                                         \
  }

/// What `--help` says of a field; stands anywhere in the struct.
#define SINTER_DOC(field, text)                                                \
  static constexpr std::string_view sinter_doc_##field() { return text; }

/// Names the enumerators of an enum that is a config's field. Stands in the
/// enum's namespace, or in the one around its class.
///
///     enum class Schedule { constant, cosine };
///     SINTER_ENUM(Schedule, constant, cosine)
#define SINTER_ENUM(EnumType, ...)                                             \
  constexpr auto sinter_enum_names(EnumType) {                                 \
    using enum EnumType;                                                       \
    using SinterName = ::sinter::detail::EnumName<EnumType>;                   \
    return std::to_array<SinterName>(                                          \
        {SINTER_FOR_EACH(SINTER_ENUM_ITEM, __VA_ARGS__)});                     \
  }
#define SINTER_ENUM_ITEM(item) SinterName{#item, item},

namespace sinter {

SINTER_ENUM(DType, f64, f32, f16, bf16, i8, i16, i32, i64, u8, boolean, u16,
            u32, u64)

/// The config that a command line says, over the one in the file that it names
/// by `--config FILE`, over `defaults`. Each field is an option by its path:
///
///     train --config train.json --epochs 20 --model.hidden 256 --shuffle
///
/// A bool is a flag: `--shuffle`, `--shuffle=false`, `--no-shuffle`. A list is
/// `1,2,3` or JSON, a map and a vector of configs are JSON, `null` empties an
/// optional. Throws as `load` does, naming the option.
template <detail::Config T>
T parse_config(std::span<const std::string> arguments, T defaults = {},
               const std::string &program = "program",
               std::source_location where = std::source_location::current()) {
  detail::ConfigOptions options;
  detail::describeMembers(options, defaults);
  detail::ConfigArguments given =
      detail::parseConfigArguments(arguments, program, options.all, where);
  if (given.wantsHelp)
    detail::showConfigHelp(given);
  detail::ConfigReader reader(given.file);
  if (!given.file.empty())
    detail::readConfig(
        reader,
        detail::parseConfigText(detail::readConfigFile(given.file, where),
                                given.file, where),
        defaults);
  detail::readConfig(reader, given.values, defaults);
  detail::findMissing(reader, defaults);
  reader.finish(where);
  return defaults;
}

/// The same for the arguments of `main`. `--help` prints every field with its
/// type, default and SINTER_DOC, and ends the process with status 0.
template <detail::Config T>
T parse_config(int argc, const char *const *argv, T defaults = {},
               std::source_location where = std::source_location::current()) {
  std::vector<std::string> arguments = detail::argumentsOf(argc, argv);
  return parse_config<T>(arguments, std::move(defaults),
                         detail::programOf(argc, argv), where);
}

/// What `--help` prints.
template <detail::Config T>
std::string config_help(const T &defaults = {},
                        const std::string &program = "program") {
  detail::ConfigOptions options;
  detail::describeMembers(options, defaults);
  std::vector<std::string> arguments = {"--help"};
  return detail::parseConfigArguments(arguments, program, options.all, {}).help;
}

} // namespace sinter
