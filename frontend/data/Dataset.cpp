/// What data sets refuse.
#include <sinter/data/Dataset.h>

#include <sinter/data/Collate.h>

#include "frontend/Raise.h"

#include <fmt/format.h>

#include <cmath>

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

void checkRow(size_t row, size_t elements, size_t first) try {
  if (elements != first)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("collate: row {} of the batch has {} elements, "
                                "the first has {}",
                                row, elements, first)),
          {});
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::detail
