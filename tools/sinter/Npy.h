/// NumPy's `.npy` files: one array each.
#pragma once

#include "runtime/graph/DType.h"
#include "runtime/support/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

/// An array: row-major, little-endian.
struct Array {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;
};

/// Versions 1 to 3 of the format. Column-major files, big-endian ones and those
/// of other element types are errors that say so. bf16 is stored as `<V2`.
Result<Array> parseNpy(std::span<const std::byte> file);
std::vector<std::byte> formatNpy(const Array &array);

} // namespace sinter::cli
