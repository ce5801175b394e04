/// Sizes of tensors whose axes have numbers.
#pragma once

#include <sinter/Tensor.h>

#include <cstdint>
#include <vector>

using Sizes = std::vector<int64_t>;

inline Sizes sizesOf(const sinter::Tensor &x) {
  Sizes sizes;
  for (sinter::Dim dim : x.shape())
    sizes.push_back(dim.value);
  return sizes;
}
