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

std::vector<int64_t> rowMajorStrides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t axis = dims.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
}

} // namespace sinter::runtime::weights
