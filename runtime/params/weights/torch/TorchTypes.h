/// What PyTorch calls its element types.
#pragma once

#include "sinter/runtime/DType.h"

#include <optional>
#include <string_view>

namespace sinter::runtime::torch {

/// The elements of `FloatStorage`; null for one that is not known, or whose
/// elements have no type here.
std::optional<DType> storageType(std::string_view className);
/// The type that `torch.float32` is.
std::optional<DType> scalarType(std::string_view dtype);
/// NumPy's `f4`, without its byte order.
std::optional<DType> numpyType(std::string_view descr);

} // namespace sinter::runtime::torch
