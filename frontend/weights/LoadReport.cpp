/// What loading says of itself.
#include "frontend/weights/LoadState.h"

#include "frontend/Raise.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace sinter {

namespace {

/// `kind` and the first of `names`, then how many more there are.
template <typename T, typename F>
void addLine(std::string &text, std::string_view kind,
             const std::vector<T> &all, size_t most, F &&textOf) {
  if (all.empty())
    return;
  text += fmt::format("\n{} {}:", all.size(), kind);
  for (size_t i = 0; i < std::min(most, all.size()); ++i)
    text += fmt::format("\n  {}", textOf(all[i]));
  if (all.size() > most)
    text += fmt::format("\n  and {} more", all.size() - most);
}

} // namespace

std::string LoadReport::text(size_t most) const try {
  std::string text = fmt::format("{} loaded", loaded.size());
  auto asName = [](const std::string &name) { return printableName(name); };
  addLine(text, "missing", missing, most, asName);
  addLine(text, "unused", unused, most, asName);
  addLine(text, "mismatched", mismatched, most, [](const Mismatch &each) {
    return fmt::format("{} is {}, the module has {}: {}",
                       printableName(each.path), printable(each.file),
                       each.module, each.why);
  });
  addLine(text, "converted", converted, most, [](const Conversion &each) {
    return fmt::format("{} from {} to {}", printableName(each.path),
                       printable(each.from), name(each.to));
  });
  addLine(text, notes.size() == 1 ? "note" : "notes", notes, most,
          [](const std::string &note) { return printable(note); });
  return text + "\n";
} catch (...) {
  detail::raiseExhausted({});
}

namespace detail {

static void addLines(std::vector<std::string> &all,
                     const std::vector<std::string> &lines,
                     std::string_view what) {
  constexpr size_t most = 20;
  size_t shown = std::min(most, lines.size());
  all.insert(all.end(), lines.begin(), lines.begin() + ptrdiff_t(shown));
  if (shown < lines.size())
    all.push_back(fmt::format("{} more {}", lines.size() - shown, what));
}

std::string LoadProblems::text() const {
  std::vector<std::string> lines;
  addLines(lines, missing, "are missing");
  addLines(lines, mismatched, "differ");
  addLines(lines, unused, "are unexpected");
  return fmt::format("{}", fmt::join(lines, "; "));
}

/// The prefix that would make most names fit: `model.`.
static std::string prefixOfFile(const LoadReport &report) {
  std::set<std::string_view> missing(report.missing.begin(),
                                     report.missing.end());
  std::map<std::string_view, size_t> counts;
  for (std::string_view name : report.unused)
    for (size_t dot = name.find('.'); dot != name.npos;
         dot = name.find('.', dot + 1))
      if (missing.contains(name.substr(dot + 1)))
        ++counts[name.substr(0, dot + 1)];
  auto best = std::ranges::max_element(
      counts, {}, [](const auto &each) { return each.second; });
  bool isLikely = best != counts.end() && 2 * best->second >= missing.size();
  return isLikely ? std::string(best->first) : std::string();
}

std::string hintOf(const LoadReport &report) {
  std::string prefix = prefixOfFile(report);
  if (prefix.empty())
    return {};
  return fmt::format("; names of the file begin with '{}': that is a prefix",
                     printableName(prefix));
}

} // namespace detail
} // namespace sinter
