/// What data sets refuse.
#include <sinter/data/Dataset.h>

#include "frontend/Raise.h"
#include "frontend/data/NotedLine.h"

#include <sinter/Arguments.h>
#include <sinter/data/Combine.h>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace sinter::detail {

void checkItem(int64_t index, int64_t size) {
  if (index < 0 || index >= size)
    raise(makeError(
              ErrorKind::invalid_argument,
              fmt::format("dataset: there is no item {} of {}", index, size)),
          {});
}

int64_t countOf(double share, int64_t size) try {
  if (!(share >= 0 && share <= 1))
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("split: a share of {} is not between 0 and 1",
                                share)),
          {});
  return std::llround(share * static_cast<double>(size));
} catch (...) {
  detail::raiseExhausted({});
}

std::pair<std::vector<int64_t>, std::vector<int64_t>>
everyNth(int64_t size, int64_t step) try {
  if (step < 1)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("split_every: a step of {}", step)),
          {});
  std::pair<std::vector<int64_t>, std::vector<int64_t>> parts;
  for (int64_t i = 0; i < size; ++i)
    (i % step == step - 1 ? parts.second : parts.first).push_back(i);
  return parts;
} catch (...) {
  detail::raiseExhausted({});
}

void checkRange(int64_t begin, int64_t end, int64_t size,
                const SourceLine &where) {
  if (begin < 0 || begin > end || end > size)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("partial: there are no items {} to {} of {}",
                                begin, end, size),
                    "partial"),
          where);
}

int64_t countWindows(int64_t size, int64_t length, int64_t step,
                     const SourceLine &where) {
  Arguments("windows", where).positive("length", length).positive("step", step);
  return size < length ? 0 : (size - length) / step + 1;
}

void checkSameSizes(const int64_t *sizes, size_t count,
                    const SourceLine &where) {
  for (size_t i = 1; i < count; ++i)
    if (sizes[i] != sizes[0])
      raise(makeError(ErrorKind::invalid_argument,
                      fmt::format("zip: data set {} has {} items, the first "
                                  "has {}",
                                  i, sizes[i], sizes[0]),
                      "zip"),
            where);
}

//===- Whose line it was --------------------------------------------------===//

namespace {
struct NotedLine {
  bool isSet = false;
  SourceLine line;
};
} // namespace

static NotedLine &notedLine() {
  static thread_local NotedLine noted;
  return noted;
}

void noteLine(const SourceLine &where) noexcept {
  // Of functions within each other the innermost is the first to say so.
  if (!notedLine().isSet)
    notedLine() = {true, where};
}

std::optional<SourceLine> takeNotedLine() {
  NotedLine noted = std::exchange(notedLine(), {});
  return noted.isSet ? std::optional(noted.line) : std::nullopt;
}

} // namespace sinter::detail
