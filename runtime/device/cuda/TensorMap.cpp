/// Tensor maps as text, and as the driver encodes them.
#include "runtime/device/cuda/TensorMap.h"

#include "runtime/device/LineWords.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

namespace {

constexpr std::string_view keyword = "// tensor_map ";
constexpr size_t mostAxes = 5;
constexpr uint32_t longestBox = 256, mostWindows = 1024;
// Of windows (CUDA Driver API, cuTensorMapEncodeIm2col).
constexpr uint32_t longestStride = 8;

std::string textOf(const LaunchNumber &number) {
  std::string text = std::to_string(number.factor);
  for (uint32_t dim : number.dims)
    text += fmt::format("*s{}", dim);
  return text;
}

bool readNumber(LineWords &words, LaunchNumber &number) {
  std::string_view word = words.next();
  if (!LineWords::take(word, number.factor))
    return false;
  while (word.starts_with("*s")) {
    word.remove_prefix(2);
    if (!LineWords::take(word, number.dims.emplace_back()))
      return false;
  }
  return word.empty();
}

// What stands behind the axes where the map is of an image.
bool readWindows(LineWords &words, TensorMap &map) {
  size_t axes = map.extents.size();
  map.windows.resize(axes - 2);
  for (ImageAxis &axis : map.windows)
    if (!words.read(axis.low) || !words.read(axis.high) ||
        !words.read(axis.stride) || axis.stride == 0 ||
        axis.stride > longestStride)
      return false;
  return axes > 2 && words.ended();
}

// A line behind the kernel's name.
std::optional<TensorMap> readMap(std::string_view line) {
  LineWords words(line);
  TensorMap map;
  auto type = parseDType(words.next());
  size_t axes = 0;
  bool isKnown = (type == DType::bf16 || type == DType::f16) &&
                 words.read(map.buffer) && words.read(axes) &&
                 readNumber(words, map.offset) && axes >= 2 && axes <= mostAxes;
  if (!isKnown)
    return std::nullopt;
  map.element = *type;
  map.extents.resize(axes);
  map.strides.resize(axes);
  map.box.resize(axes);
  for (size_t axis = 0; axis < axes; ++axis)
    if (!readNumber(words, map.extents[axis]) ||
        !readNumber(words, map.strides[axis]) || !words.read(map.box[axis]) ||
        map.box[axis] == 0)
      return std::nullopt;
  if (!words.ended() && !readWindows(words, map))
    return std::nullopt;
  uint32_t most = map.windows.empty() ? longestBox : mostWindows;
  return map.box[0] <= longestBox && map.box[1] <= most ? std::optional(map)
                                                        : std::nullopt;
}

std::optional<uint64_t> valueOf(const LaunchNumber &number,
                                std::span<const int64_t> dims) {
  int64_t value = number.factor;
  for (uint32_t dim : number.dims)
    if (dim >= dims.size() || __builtin_mul_overflow(value, dims[dim], &value))
      return std::nullopt;
  if (value < 0)
    return std::nullopt;
  return uint64_t(value);
}

} // namespace

std::string sinter::runtime::tensorMapLine(std::string_view kernel,
                                           const TensorMap &map) {
  std::string line =
      fmt::format("{}{} {} {} {} {}", keyword, kernel, name(map.element),
                  map.buffer, map.extents.size(), textOf(map.offset));
  for (size_t axis = 0; axis < map.extents.size(); ++axis)
    line += fmt::format(" {} {} {}", textOf(map.extents[axis]),
                        textOf(map.strides[axis]), map.box[axis]);
  for (const ImageAxis &axis : map.windows)
    line += fmt::format(" {} {} {}", axis.low, axis.high, axis.stride);
  return line + "\n";
}

Result<std::vector<TensorMap>>
sinter::runtime::tensorMapsOf(std::string_view text, std::string_view kernel) {
  std::vector<TensorMap> maps;
  std::string begin = fmt::format("{}{} ", keyword, kernel);
  for (size_t at = text.find(begin); at != text.npos;
       at = text.find(begin, at)) {
    at += begin.size();
    auto map = readMap(text.substr(at, text.find('\n', at) - at));
    if (!map)
      return makeError(ErrorKind::io,
                       fmt::format("a tensor map of {} is damaged", kernel));
    maps.push_back(std::move(*map));
  }
  return maps;
}

Status sinter::runtime::encodeTensorMap(const Driver &driver,
                                        const TensorMap &map,
                                        std::span<const int64_t> dims,
                                        std::span<void *const> buffers,
                                        void *to) {
  size_t axes = map.extents.size(), bytes = byteWidth(map.element);
  uint64_t extents[mostAxes], strides[mostAxes];
  uint32_t steps[mostAxes];
  auto offset = valueOf(map.offset, dims);
  bool isEmpty = false;
  bool isKnown = offset && map.buffer < buffers.size();
  for (size_t axis = 0; isKnown && axis < axes; ++axis) {
    auto extent = valueOf(map.extents[axis], dims);
    auto stride = valueOf(map.strides[axis], dims);
    isKnown = extent && stride;
    extents[axis] = extent.value_or(0);
    isEmpty |= extents[axis] == 0;
    // The innermost one's is not said.
    strides[axis] = stride.value_or(0) * bytes;
    steps[axis] = 1;
  }
  if (!isKnown)
    return makeError(ErrorKind::device, "a tensor map has no size");
  // Kernels copy no part of what is empty, and the driver takes no such map.
  if (isEmpty) {
    std::memset(to, 0, tensorMapBytes);
    return {};
  }
  // An address of the device's, where nothing of this process is.
  auto first = reinterpret_cast<void *>(
      reinterpret_cast<uintptr_t>(buffers[map.buffer]) + *offset * bytes);
  int type = map.element == DType::bf16 ? tensorOfBf16 : tensorOfF16;
  if (map.windows.empty())
    return driver.check(
        "cuTensorMapEncodeTiled",
        driver.encodeTensorMap(to, type, uint32_t(axes), first, extents,
                               strides + 1, map.box.data(), steps,
                               tensorNotInterleaved, tensorSwizzled128,
                               tensorPromoted256, tensorZeros));
  int low[mostAxes], high[mostAxes];
  for (size_t axis = 0; axis < map.windows.size(); ++axis) {
    low[axis] = map.windows[axis].low;
    high[axis] = map.windows[axis].high;
    steps[axis + 1] = map.windows[axis].stride;
  }
  return driver.check(
      "cuTensorMapEncodeIm2col",
      driver.encodeImageMap(to, type, uint32_t(axes), first, extents,
                            strides + 1, low, high, map.box[0], map.box[1],
                            steps, tensorNotInterleaved, tensorSwizzled128,
                            tensorPromoted256, tensorZeros));
}
