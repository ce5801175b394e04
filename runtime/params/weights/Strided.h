/// Strided: elements that do not stand one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sinter::runtime::weights {

/// The row-major elements of `width` bytes that stand in `from` by these
/// strides, in elements. All of them lie in it: `extentOf` tells.
void gather(std::span<const std::byte> from, std::span<const int64_t> dims,
            std::span<const int64_t> strides, size_t width,
            std::span<std::byte> to);

/// Whether the strides are those of dense, row-major elements. Those of axes
/// of length 1 and of arrays without elements do not matter.
bool isRowMajor(std::span<const int64_t> dims,
                std::span<const int64_t> strides);

/// The strides of dense, row-major elements, or of column-major ones. Wrong
/// where the number of elements overflows, which is to be checked.
std::vector<int64_t> denseStrides(std::span<const int64_t> dims,
                                  bool columnMajor = false);

/// How many elements `dims` has and how many a storage must have from the first
/// of them on; nothing where a dim or stride is negative, their numbers differ,
/// or a product overflows.
struct Extent {
  int64_t count = 0, reach = 0;
};
std::optional<Extent> extentOf(std::span<const int64_t> dims,
                               std::span<const int64_t> strides);

} // namespace sinter::runtime::weights
