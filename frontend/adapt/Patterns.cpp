/// Patterns: parameters of a module by patterns of their paths.
#include <sinter/Patterns.h>

#include "frontend/Raise.h"

#include <sinter/ModuleFile.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

namespace sinter {

namespace {

constexpr size_t mostAlternatives = 4096;

[[noreturn]] void reject(const char *call, const std::string &what,
                         std::source_location where) {
  detail::raise(makeError(ErrorKind::invalid_argument,
                          fmt::format("{}: {}", call, what), call),
                where);
}

/// Writes patterns without braces, one for each choice of alternatives.
class Expansion {
public:
  Expansion(const char *call, std::string_view pattern,
            std::source_location where)
      : call(call), pattern(pattern), where(where) {}

  std::vector<std::string> run() {
    if (pattern.empty())
      reject(call, "a pattern is empty", where);
    size_t at = 0;
    std::vector<std::string> all = sequence(at, false);
    if (at != pattern.size())
      fail("a brace is closed that was not opened");
    return all;
  }

private:
  [[noreturn]] void fail(const char *what) {
    reject(call, fmt::format("pattern '{}': {}", pattern, what), where);
  }

  /// Up to the end or, inside of braces, up to a comma or the closing brace.
  std::vector<std::string> sequence(size_t &at, bool isInside) {
    std::vector<std::string> all{""};
    while (at < pattern.size()) {
      char c = pattern[at];
      if (c == '}' || (c == ',' && isInside))
        break;
      ++at;
      append(all, c == '{' ? choice(at) : std::vector{std::string(1, c)});
    }
    return all;
  }

  std::vector<std::string> choice(size_t &at) {
    if (++depth > 16)
      fail("braces stand in more than 16 others");
    std::vector<std::string> all;
    while (true) {
      for (std::string &each : sequence(at, true))
        all.push_back(std::move(each));
      if (at == pattern.size())
        fail("a brace is not closed");
      if (pattern[at++] == '}')
        break;
    }
    --depth;
    return all;
  }

  void append(std::vector<std::string> &all,
              const std::vector<std::string> &ends) {
    if (ends.size() == 1) {
      for (std::string &each : all)
        each += ends[0];
      return;
    }
    if (all.size() * ends.size() > mostAlternatives)
      fail("it has more than 4096 alternatives");
    std::vector<std::string> joined;
    for (const std::string &start : all)
      for (const std::string &end : ends)
        joined.push_back(start + end);
    all = std::move(joined);
  }

  const char *call;
  std::string_view pattern;
  std::source_location where;
  size_t depth = 0;
};

/// Whether `pattern`, without braces, is all of `text`. Only the last star is
/// ever tried again, so the time is at most the product of the lengths.
bool isGlobOf(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == text[t] ||
                                      (pattern[p] == '?' && text[t] != '.'))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

/// Whether it is the path, or that of a module around it.
bool isAround(std::string_view pattern, std::string_view path) {
  for (size_t end = path.find('.'); end != std::string_view::npos;
       end = path.find('.', end + 1))
    if (isGlobOf(pattern, path.substr(0, end)))
      return true;
  return isGlobOf(pattern, path);
}

bool isSelectable(const detail::Fields &fields, const Param &param,
                  detail::Selectable kind) {
  if (kind == detail::Selectable::all)
    return true;
  if (!param.cell()->requiresGrad())
    return false;
  return kind == detail::Selectable::trained ||
         (param.rank() == 2 && !detail::isPart(fields, param));
}

const char *nameOf(detail::Selectable kind) {
  switch (kind) {
  case detail::Selectable::trained:
    return "parameter that can be trained";
  case detail::Selectable::matrices:
    return "weight of rank 2";
  default:
    return "parameter";
  }
}

/// The first few paths, to see what a pattern could have been.
std::string examples(const detail::Fields &fields) {
  constexpr size_t most = 12;
  std::vector<std::string> names;
  for (const auto &[path, param] : fields.params)
    if (names.size() < most)
      names.push_back(path);
  size_t left = fields.params.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "),
                     left ? fmt::format(" and {} more", left) : "");
}

} // namespace

bool matches(std::string_view pattern, std::string_view path,
             std::source_location where) try {
  return std::ranges::any_of(
      Expansion("matches", pattern, where).run(),
      [&](const std::string &each) { return isAround(each, path); });
} catch (...) {
  detail::raiseExhausted(where);
}

std::vector<bool> detail::selectParams(const Fields &fields,
                                       const Patterns &patterns,
                                       Selectable kind, const char *call,
                                       std::source_location where) try {
  if (patterns.list().empty())
    reject(call, "there is no pattern", where);
  std::vector<bool> chosen(fields.params.size());
  for (const std::string &pattern : patterns.list()) {
    std::vector<std::string> all = Expansion(call, pattern, where).run();
    bool found = false;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const auto &[path, param] = fields.params[i];
      auto fits = [&](const std::string &each) { return isAround(each, path); };
      if (!isSelectable(fields, *param, kind) ||
          !std::ranges::any_of(all, fits))
        continue;
      chosen[i] = found = true;
    }
    if (!found)
      reject(call,
             fmt::format("pattern '{}' selects no {} of: {}", pattern,
                         nameOf(kind), examples(fields)),
             where);
  }
  return chosen;
} catch (...) {
  detail::raiseExhausted(where);
}

bool detail::isPart(const Fields &fields, const Param &param) {
  return std::ranges::any_of(fields.params, [&](const auto &field) {
    const Parametrization *form = field.value->parametrization();
    return form && std::ranges::any_of(form->parts, [&](const auto &part) {
             return &part.second == &param;
           });
  });
}

Selection detail::reportOf(const Fields &fields,
                           const std::vector<bool> &chosen) try {
  Selection selection;
  std::vector<const runtime::Cell *> counted;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i])
      continue;
    const auto &[path, param] = fields.params[i];
    selection.paths.push_back(path);
    if (std::ranges::count(counted, param->cell().get()))
      continue;
    counted.push_back(param->cell().get());
    selection.elements += param->numel();
  }
  return selection;
} catch (...) {
  detail::raiseExhausted({});
}

std::ostream &operator<<(std::ostream &stream, const Selection &selection) {
  return stream << fmt::format(
             "{} parameter{}, {} elements: {}", selection.paths.size(),
             selection.paths.size() == 1 ? "" : "s", selection.elements,
             fmt::join(selection.paths, ", "));
}

} // namespace sinter
