/// FloatCasts: arrays of floats from one dtype to another.
#pragma once

#include "sinter/runtime/DType.h"

#include <cstddef>
#include <span>

namespace sinter::runtime {

/// Casts all elements of `from`, which `to` has room for, to the nearest
/// numbers, of two the even one; f64 goes by way of f32 to narrower dtypes, as
/// in PyTorch. Both dtypes are floats. NaN stays NaN where there is one.
void castFloats(std::span<const std::byte> from, DType fromType,
                std::span<std::byte> to, DType toType);

} // namespace sinter::runtime
