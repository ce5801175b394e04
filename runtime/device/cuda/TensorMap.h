/// TensorMap: a matrix in a kernel's buffer of which the device copies parts to
/// and from shared memory by itself (compute capability 9.0 and newer).
#pragma once

#include "runtime/device/cuda/Driver.h"
#include "sinter/runtime/DType.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// A number that a launch knows: `factor` times some of the kernel's dims.
struct LaunchNumber {
  int64_t factor = 0;
  std::vector<uint32_t> dims; ///< numbers of the kernel's symbols
};

/// How windows stand along an axis of an image.
struct ImageAxis {
  /// Where the first begins, and, from the axis' last place on, the last may.
  int32_t low = 0, high = 0;
  uint32_t stride = 1; ///< from one window to the next
};

/// What a launch encodes for its driver. Axes go from the innermost one on, in
/// which elements are neighbours. A part is `box` elements, of which an inner
/// row is 128 bytes, swizzled by the 16 bytes in it.
struct TensorMap {
  uint32_t buffer = 0; ///< number among the kernel's
  DType element = DType::bf16;
  LaunchNumber offset; ///< elements before the first
  std::vector<LaunchNumber> extents;
  std::vector<LaunchNumber> strides; ///< in elements; the first is 1
  std::vector<uint32_t> box;
  /// Of an image, whose axes are channels, its own, and images: a part is the
  /// first channels, box[0], of one place under box[1] windows, one after
  /// another. Empty for a matrix.
  std::vector<ImageAxis> windows;
};

/// Bytes of an encoded map, and what its place is a multiple of.
inline constexpr size_t tensorMapBytes = 128, tensorMapAlignment = 64;

/// Where a kernel's maps stand behind so many words of arguments, in words.
constexpr size_t wordsBeforeMaps(size_t words) {
  constexpr size_t step = tensorMapAlignment / sizeof(uint64_t);
  return (words + step - 1) / step * step;
}

/// The line of PTX, a comment, that says a map of `kernel`. PTX has no other
/// place for it.
std::string tensorMapLine(std::string_view kernel, const TensorMap &map);

/// The maps that the lines of a text say of `kernel`, in order; an error of
/// kind `io` where a line is damaged.
Result<std::vector<TensorMap>> tensorMapsOf(std::string_view text,
                                            std::string_view kernel);

/// Encodes a map into tensorMapBytes at `to`, for these dims and buffers.
Status encodeTensorMap(const cuda::Driver &driver, const TensorMap &map,
                       std::span<const int64_t> dims,
                       std::span<void *const> buffers, void *to);

} // namespace sinter::runtime
