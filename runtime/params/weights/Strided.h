/// Strided: elements that do not stand one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime::weights {

/// The row-major elements of `width` bytes that stand in `from` by these
/// strides, in elements. All of them lie in it: `stridedExtent` tells.
void gather(std::span<const std::byte> from, std::span<const int64_t> dims,
            std::span<const int64_t> strides, size_t width,
            std::span<std::byte> to);

/// Whether the strides are those of dense, row-major elements. Those of axes
/// of length 1 and of arrays without elements do not matter.
bool isRowMajor(std::span<const int64_t> dims,
                std::span<const int64_t> strides);

/// The strides of dense, row-major elements.
std::vector<int64_t> rowMajorStrides(std::span<const int64_t> dims);

} // namespace sinter::runtime::weights
