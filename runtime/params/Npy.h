/// NumPy's `.npy` files: one array each.
#pragma once

#include "runtime/params/Safetensors.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// An array in host memory: dense, row-major, little-endian.
struct HostArray {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;
};

/// How the elements of a file stand in it.
struct NpyLayout {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  size_t dataAt = 0; ///< position of the first element in the file
  size_t bytes = 0;  ///< of all elements
  size_t word = 1;   ///< bytes that a byte order is about
  bool swapped = false;
  bool columnMajor = false;
};

/// The most bytes that stand before the elements.
inline constexpr size_t maxNpyFront = 12 + (1 << 16);

/// Reads what stands before the elements; errors as in `parseNpy`. `front` is
/// the file or the first `maxNpyFront` bytes of it, `size` is the length of the
/// file.
Result<NpyLayout> readNpyLayout(std::span<const std::byte> front,
                                uint64_t size);

/// The elements of a file as parseNpy gives them. Where they stand in order, no
/// second copy of them is made.
Result<std::vector<std::byte>> takeNpyElements(std::vector<std::byte> file);

/// Reads a file of version 1 to 3, with data of either byte order, row-major or
/// column-major. Every dtype that NumPy has is read; bf16 is `<V2`, as
/// ml_dtypes writes it. Trusts nothing: an error of kind `io` (`unsupported`
/// for other element types) says what is wrong, and no more memory is taken
/// than the file has bytes.
Result<HostArray> parseNpy(std::span<const std::byte> file);
/// The same of a file on disk; errors name the path.
Result<HostArray> readNpy(const std::string &path);

/// What stands before the data of an array: its length is a multiple of 64. A
/// dtype that NumPy lacks is an `unsupported` error.
Result<std::string> npyHeader(DType dtype, std::span<const int64_t> dims);
/// Writes one tensor; its name is not stored. The file at `path` is replaced
/// at once or stays as it was.
Status writeNpy(const std::string &path, const NamedTensor &tensor);

/// The array as something to write, without a copy.
NamedTensor viewOf(const HostArray &array, std::string name = {});

/// The same error, its message after `path: `.
ErrorInfo inFile(const std::string &path, ErrorInfo error);

} // namespace sinter::runtime
