/// Names of files as paths of modules.
#include "frontend/weights/NameChanges.h"

#include "frontend/Raise.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

namespace sinter::detail {

static constexpr size_t mostNameBytes = 4096;

/// Without backtracking, which takes exponential time and deep recursion.
static std::regex compiled(const std::string &text, const char *call,
                           std::source_location where) {
  auto flags = std::regex::ECMAScript;
#ifdef __GLIBCXX__
  flags |= std::regex_constants::__polynomial;
#endif
  try {
    return std::regex(text, flags);
  } catch (const std::regex_error &error) {
    std::string why = error.code() == std::regex_constants::error_complexity
                          ? "references back to groups are not supported"
                          : error.what();
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("{}: pattern '{}': {}", call, text, why), call),
          where);
  }
}

NamePattern::NamePattern(const std::string &text, const char *call,
                         std::source_location where)
    : pattern(compiled(text, call, where)), call(call), where(where) {}

void NamePattern::checkLength(const std::string &name) const {
  if (name.size() > mostNameBytes)
    raise(makeError(ErrorKind::unsupported,
                    fmt::format("{}: a name of {} bytes is too long for "
                                "patterns: '{}'",
                                call, name.size(), printableName(name)),
                    call),
          where);
}

bool NamePattern::matches(const std::string &name) const {
  checkLength(name);
  return std::regex_search(name, pattern);
}

std::string NamePattern::replaced(const std::string &name,
                                  const std::string &replacement) const {
  checkLength(name);
  return std::regex_replace(name, pattern, replacement);
}

std::optional<std::string> withoutPrefix(const std::string &name,
                                         std::string_view prefix) {
  if (!name.starts_with(prefix))
    return std::nullopt;
  return name.substr(prefix.size());
}

NameChanges::NameChanges(const LoadStateOptions &options, const char *call,
                         std::source_location where)
    : options(options),
      top(options.top_level_key.empty() ? "" : options.top_level_key + ".") {
  for (const Rename &rename : options.rename)
    renames.emplace_back(NamePattern(rename.pattern, call, where),
                         rename.replacement);
  if (!options.only.empty())
    only.emplace(options.only, call, where);
}

ChangedName NameChanges::of(const std::string &name) const {
  using Fate = ChangedName::Fate;
  std::optional<std::string> path = withoutPrefix(name, top);
  if (!path)
    return {Fate::left, {}};
  path = withoutPrefix(*path, options.prefix);
  if (!path)
    return {Fate::unused, {}};
  for (const auto &[pattern, replacement] : renames)
    *path = pattern.replaced(*path, replacement);
  if (options.map_key)
    path = options.map_key(*path);
  if (!path || !isWanted(*path))
    return {Fate::unwanted, {}};
  return {Fate::wanted, std::move(*path)};
}

bool NameChanges::isWanted(const std::string &path) const {
  return !only || only->matches(path);
}

} // namespace sinter::detail
