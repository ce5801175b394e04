/// ConfigValue: settings as they stand in files and on command lines, and the
/// reader that says what is wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::detail {

/// A value of JSON, or the words of an option, and where it stands.
struct ConfigValue {
  enum class Kind : uint8_t {
    null,
    boolean,
    integer, ///< below 0
    natural, ///< from 0 on
    real,
    text,
    words, ///< of the command line: what they mean, the field's type says
    list,
    object,
  };

  Kind kind = Kind::null;
  bool flag = false;
  int64_t integer = 0;
  uint64_t natural = 0;
  double real = 0;
  std::string text;               ///< of text and words; a number as it stands
  std::vector<ConfigValue> items; ///< of a list, and members of an object
  std::vector<std::string> keys;  ///< of an object, one an item
  uint32_t line = 0;              ///< of a file; 0 when of none
  std::string option = {};        ///< `--model.hidden`, when of one

  static ConfigValue of(bool flag);
  static ConfigValue of(double value);
  /// With the digits that tell floats apart.
  static ConfigValue of(float value);
  static ConfigValue of(int64_t value);
  static ConfigValue of(uint64_t value);
  static ConfigValue of(std::string text);
  static ConfigValue ofList() { return ofKind(Kind::list); }
  static ConfigValue ofObject() { return ofKind(Kind::object); }
  static ConfigValue ofKind(Kind kind);

  void add(ConfigValue item) { items.push_back(std::move(item)); }
  void add(std::string_view key, ConfigValue item);
  /// The member of that key, or null.
  const ConfigValue *find(std::string_view key) const;
};

/// Reads values into fields. What is wrong is noted, with the field's path and
/// the place, and thrown all at once by `finish`.
class ConfigReader {
public:
  /// `source` is the file's name, or what else stands before line numbers.
  explicit ConfigReader(std::string source) : source(std::move(source)) {}

  void setSource(std::string name) { source = std::move(name); }
  void enter(std::string_view name);
  void leave();
  size_t problems() const { return found.size(); }

  /// Each leaves `into` as it is when the value is no such one.
  void read(const ConfigValue &value, bool &into);
  void read(const ConfigValue &value, int64_t least, int64_t most,
            int64_t &into);
  void read(const ConfigValue &value, uint64_t most, uint64_t &into);
  /// Also "nan", "inf" and "-inf", which JSON has no numbers for.
  void read(const ConfigValue &value, double &into);
  void read(const ConfigValue &value, float &into);
  void read(const ConfigValue &value, std::string &into);
  /// The index of one of some names.
  void read(const ConfigValue &value, std::span<const std::string_view> names,
            size_t &into);
  bool isNull(const ConfigValue &value) const;
  /// The value as a list or an object, of words perhaps made in `own`; null
  /// when it is none.
  const ConfigValue *listOf(const ConfigValue &value, ConfigValue &own);
  const ConfigValue *objectOf(const ConfigValue &value, ConfigValue &own);

  /// A member that no field has the name of.
  void checkKeys(const ConfigValue &object,
                 std::span<const std::string_view> names);
  void expect(std::string_view wanted, const ConfigValue &value);
  void note(const ConfigValue &at, std::string what);
  /// A field that was given nowhere.
  void missing(std::string_view name);
  /// Throws all that was noted, as an Error of kind invalid_argument.
  void finish(std::source_location where);

private:
  struct Problem {
    std::string path, text;
  };
  bool parseWords(const ConfigValue &words, ConfigValue &own);
  std::string pathOf(std::string_view name = {}) const;

  std::string source;
  std::vector<std::string> path;
  std::vector<Problem> found;
  std::vector<std::string> absent;
};

/// One option of a command line, for one field.
struct ConfigOption {
  std::string path;  ///< `model.hidden`
  std::string type;  ///< `INT`
  std::string value; ///< the default as text
  std::string doc;
  bool required = false;
  bool isFlag = false;
};

/// Gathers the options of a config.
class ConfigOptions {
public:
  void enter(std::string_view name, std::string_view doc, bool required);
  void leave();
  /// The field that was entered last; one that is there already is left out.
  void add(std::string type, const ConfigValue &value, bool isFlag = false);
  /// A member of it.
  void add(std::string_view member, std::string type, const ConfigValue &value);
  void setRequired(bool on) { steps.back().required = on; }

  std::vector<ConfigOption> all;

private:
  struct Step {
    std::string name, doc;
    bool required = false;
  };
  std::vector<Step> steps;
};

/// JSON text with places; an Error names the line.
ConfigValue parseConfigText(std::string_view text, const std::string &source,
                            std::source_location where);
/// JSON with a line for each field, in the order of the fields.
std::string configText(const ConfigValue &value, std::source_location where);
/// Whole files, read and replaced.
std::string readConfigFile(const std::string &path, std::source_location where);
void writeConfigFile(const std::string &path, std::string_view text,
                     std::source_location where);

/// What a command line says.
struct ConfigArguments {
  std::string file;   ///< of --config, or empty
  ConfigValue values; ///< an object of words
  bool wantsHelp = false;
  std::string help; ///< its text
};
ConfigArguments parseConfigArguments(std::span<const std::string> arguments,
                                     const std::string &program,
                                     std::span<const ConfigOption> options,
                                     std::source_location where);
/// Prints and ends the process.
[[noreturn]] void showConfigHelp(const ConfigArguments &arguments);

/// Those of main, without the program's name.
std::vector<std::string> argumentsOf(int count, const char *const *values);
std::string programOf(int count, const char *const *values);

[[noreturn]] void throwUnset(std::source_location where);

} // namespace sinter::detail
