/// NameChanges: what names of a file are called in a module.
#pragma once

#include <sinter/Weights.h>

#include <optional>
#include <regex>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::detail {

/// A pattern of the caller's, for names that a stranger's file may hold: it
/// takes time and stack in proportion to a name's length, which is limited.
class NamePattern {
public:
  /// An Error of `call` where it is no pattern.
  NamePattern(const std::string &text, const char *call,
              std::source_location where);

  bool matches(const std::string &name) const;
  std::string replaced(const std::string &name,
                       const std::string &replacement) const;

private:
  void checkLength(const std::string &name) const;

  std::regex pattern;
  const char *call;
  std::source_location where;
};

/// The rest of a name that begins with `prefix`.
std::optional<std::string> withoutPrefix(const std::string &name,
                                         std::string_view prefix);

/// A name of a file and what becomes of it.
struct ChangedName {
  enum class Fate : uint8_t {
    wanted,
    unused,   ///< it lacks the prefix
    left,     ///< it is of another part of the checkpoint
    unwanted, ///< as the caller said
  };
  Fate fate = Fate::wanted;
  std::string path; ///< of what is wanted
};

/// The name parts of LoadStateOptions, made ready once.
class NameChanges {
public:
  /// Refers to the options.
  NameChanges(const LoadStateOptions &options, const char *call,
              std::source_location where);

  ChangedName of(const std::string &name) const;
  /// Whether `only` lets a path through.
  bool isWanted(const std::string &path) const;

private:
  const LoadStateOptions &options;
  std::string top; ///< with its dot, or empty
  std::vector<std::pair<NamePattern, std::string>> renames;
  std::optional<NamePattern> only;
};

} // namespace sinter::detail
