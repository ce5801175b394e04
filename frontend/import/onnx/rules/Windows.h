/// Windows: strides, paddings and dilations as ONNX says them.
#pragma once

#include "frontend/import/onnx/rules/Rules.h"

namespace sinter::onnx {

/// The windows of a convolution or a pool along each axis of the space.
struct Windows {
  std::vector<int64_t> sizes, strides, dilations, low, high;

  size_t rank() const { return sizes.size(); }
  /// Elements from a window's first to its last.
  int64_t reach(size_t axis) const {
    return (sizes[axis] - 1) * dilations[axis] + 1;
  }
};

/// The attributes of a node with an image x of `sizes.size()` axes of space;
/// auto_pad asks for numbers.
Windows windowsOf(Call &call, const Tensor &x, std::vector<int64_t> sizes);

/// A list of an attribute with one number for each axis; `otherwise` when it is
/// not given.
std::vector<int64_t> listOf(Call &call, const char *name, size_t rank,
                            int64_t otherwise);

/// y + bias along axis 1.
Tensor withBias(const Tensor &y, const Tensor &bias);

/// The mean of each window of x, as AveragePool's attributes have it.
Tensor averagePooled(Call &call, const Tensor &x);

/// The convolution of operands 0 and 1, with a bias as operand 2.
Tensor plainConv(Call &call);

} // namespace sinter::onnx
