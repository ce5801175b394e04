/// Gathers elements by strides.
#include "runtime/params/weights/Strided.h"

#include <algorithm>
#include <cstring>

namespace sinter::runtime::weights {

void gather(std::span<const std::byte> from, std::span<const int64_t> dims,
            std::span<const int64_t> strides, size_t width,
            std::span<std::byte> to) {
  std::vector<int64_t> index(dims.size());
  int64_t source = 0;
  for (size_t at = 0; at < to.size(); at += width) {
    std::memcpy(&to[at], &from[static_cast<size_t>(source) * width], width);
    for (size_t axis = dims.size(); axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < dims[axis])
        break;
      source -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

bool isRowMajor(std::span<const int64_t> dims,
                std::span<const int64_t> strides) {
  if (std::ranges::find(dims, 0) != dims.end())
    return true;
  int64_t expected = 1;
  for (size_t axis = dims.size(); axis-- > 0; expected *= dims[axis])
    if (dims[axis] != 1 && strides[axis] != expected)
      return false;
  return true;
}

std::vector<int64_t> denseStrides(std::span<const int64_t> dims,
                                  bool columnMajor) {
  std::vector<int64_t> strides(dims.size());
  uint64_t stride = 1; // it may wrap
  for (size_t i = 0; i < dims.size(); ++i) {
    size_t axis = columnMajor ? i : dims.size() - 1 - i;
    strides[axis] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(dims[axis]);
  }
  return strides;
}

std::optional<Extent> extentOf(std::span<const int64_t> dims,
                               std::span<const int64_t> strides) {
  if (dims.size() != strides.size())
    return std::nullopt;
  Extent extent{1, 1};
  int64_t nonzero = 1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    int64_t dim = dims[axis], stride = strides[axis], step = 0;
    if (dim < 0 || stride < 0 ||
        __builtin_mul_overflow(nonzero, std::max<int64_t>(dim, 1), &nonzero))
      return std::nullopt;
    extent.count *= dim;
    if (dim > 0 && (__builtin_mul_overflow(dim - 1, stride, &step) ||
                    __builtin_add_overflow(extent.reach, step, &extent.reach)))
      return std::nullopt;
  }
  if (extent.count == 0)
    extent.reach = 0;
  return extent;
}

} // namespace sinter::runtime::weights
