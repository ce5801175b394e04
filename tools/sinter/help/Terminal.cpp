/// Colours and guesses.
#include "tools/sinter/help/Terminal.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <unistd.h>

namespace sinter::cli {

const char *errorPrefix() {
  static const bool isPlain = [] {
    const char *no = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
    return !isatty(STDERR_FILENO) || (no && *no) || !term ||
           std::string_view(term) == "dumb";
  }();
  return isPlain ? "error: " : "\033[1;31merror:\033[0m ";
}

/// Letters to insert, remove, replace or swap with the next one.
static size_t distanceOf(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min(
          {last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

std::string meantText(std::string_view typed,
                      std::span<const std::string_view> names) {
  constexpr size_t longest = 64; // nobody mistypes more
  if (typed.size() > longest)
    return "";
  auto best = std::ranges::min_element(names, {}, [&](std::string_view name) {
    return distanceOf(typed, name);
  });
  // A third of the letters may be wrong.
  if (best == names.end() ||
      distanceOf(typed, *best) > std::max<size_t>(1, best->size() / 3))
    return "";
  return "; did you mean '" + std::string(*best) + "'?";
}

} // namespace sinter::cli
