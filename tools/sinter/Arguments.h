/// Command line arguments by a table of flags.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::cli {

/// One flag. Without a value name it is a switch.
struct Flag {
  const char *name;  ///< with its dashes
  const char *value; ///< what the help calls its value, or null
  const char *help;
  const char *choices = nullptr; ///< values that a shell offers, or null: files
};

/// A command's interface: what `--help` and the manual say, what parsing obeys
/// and what shells complete.
struct Interface {
  const char *usage;
  const char *description;
  const char *examples; ///< a line each, as they are typed
  std::span<const Flag> flags;
  unsigned minPositional = 0;
  unsigned maxPositional = 1;
  const char *choices = nullptr; ///< of what is no flag, or null: files
};
/// A command's own flags, and those that every command takes.
std::vector<Flag> allFlags(const Interface &interface);

/// Parsed arguments. Every command takes `--quiet`, too. Flags may repeat and
/// may stand as `--x=v` or `--x v`.
class Arguments {
public:
  /// The arguments after argv[0]. When help was asked for, or something is
  /// wrong, prints it and leaves the exit code in `exit`.
  Arguments(int argc, char **argv, const Interface &interface);

  /// Set when the command has nothing more to do.
  std::optional<int> exit;

  bool has(std::string_view flag) const;
  std::string get(std::string_view flag, std::string_view fallback = "") const;
  std::vector<std::string> all(std::string_view flag) const;
  /// A copy with these flags and nothing else of what the user gave.
  Arguments only(std::initializer_list<std::string_view> flags) const;
  /// Gives a flag a value where the user gave it none.
  void setDefault(std::string_view flag, std::string_view value);
  /// The flag as a whole number; prints the error and sets `exit` when it is
  /// none.
  int64_t number(std::string_view flag, int64_t fallback);
  /// Likewise as seconds, at most an hour.
  double seconds(std::string_view flag, double fallback);
  const std::vector<std::string> &positional() const { return words; }

private:
  Arguments() = default;
  void parse(int argc, char **argv, const Interface &interface);
  void fail(const std::string &message);

  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::vector<std::string> words;
};

} // namespace sinter::cli
