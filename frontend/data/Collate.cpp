/// Where a batch's numbers are written, and what batches refuse.
#include <sinter/data/Collate.h>

#include "frontend/Leaves.h"
#include "frontend/Raise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sinter::detail {

struct BatchRoom::Room {
  LeafRoom leaf;
};

BatchRoom::BatchRoom(DType dtype, const Dims &shape) try
    : room(new Room{
          LeafRoom(dtype, shape, {}, std::source_location::current())}),
      bytes(room->leaf.bytes()) {
} catch (...) {
  detail::raiseExhausted({});
}

BatchRoom::~BatchRoom() = default;

Tensor BatchRoom::tensor() { return room->leaf.finish(); }

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

void checkShape(size_t item, std::span<const int64_t> shape,
                std::span<const int64_t> first) try {
  if (!std::ranges::equal(shape, first))
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("collate: item {} of the batch is [{}], the "
                                "first is [{}]",
                                item, fmt::join(shape, ","),
                                fmt::join(first, ","))),
          {});
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::detail
