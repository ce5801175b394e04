/// Conversions of single elements, and random ones.
#include "runtime/graph/Elements.h"

#include "runtime/support/HalfFloat.h"
#include "runtime/support/SmallFloat.h"
#include "sinter/runtime/Complex.h"

#include <algorithm>
#include <cstring>

using namespace sinter;

template <typename T> static void store(std::byte *to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <typename T> static T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

void sinter::storeNumber(std::byte *to, DType dtype, double number) {
  switch (dtype) {
  case DType::f64:
    return store(to, number);
  case DType::f32:
    return store(to, float(number));
  case DType::f16:
    return store(to, toHalf(float(number)));
  case DType::bf16:
    return store(to, toBfloat16(float(number)));
  case DType::i8:
    return store(to, int8_t(number));
  case DType::i16:
    return store(to, int16_t(number));
  case DType::i32:
    return store(to, int32_t(number));
  case DType::i64:
    return store(to, int64_t(number));
  case DType::u16:
    return store(to, uint16_t(number));
  case DType::u32:
    return store(to, uint32_t(number));
  case DType::u64:
    return store(to, uint64_t(number));
  case DType::i4:
  case DType::i2:
    return store(to, int8_t(number));
  case DType::c64:
  case DType::c128:
    storeNumber(to, partOf(dtype), number);
    return storeNumber(to + byteWidth(dtype) / 2, partOf(dtype), 0);
  default:
    if (isFloat(dtype))
      return store(to, toSmallFloat(dtype, float(number)));
    return store(to, uint8_t(number));
  }
}

double sinter::loadNumber(const std::byte *from, DType dtype) {
  switch (dtype) {
  case DType::f64:
    return load<double>(from);
  case DType::f32:
    return load<float>(from);
  case DType::f16:
    return fromHalf(load<uint16_t>(from));
  case DType::bf16:
    return fromBfloat16(load<uint16_t>(from));
  case DType::i8:
  case DType::i4:
  case DType::i2:
    return load<int8_t>(from);
  case DType::i16:
    return load<int16_t>(from);
  case DType::i32:
    return load<int32_t>(from);
  case DType::i64:
    return double(load<int64_t>(from));
  case DType::u16:
    return load<uint16_t>(from);
  case DType::u32:
    return load<uint32_t>(from);
  case DType::u64:
    return double(load<uint64_t>(from));
  case DType::c64:
  case DType::c128:
    return loadNumber(from, partOf(dtype));
  default:
    if (isFloat(dtype))
      return fromSmallFloat(dtype, load<uint8_t>(from));
    return load<uint8_t>(from);
  }
}

std::optional<size_t> sinter::elementsOf(std::span<const int64_t> dims) {
  constexpr uint64_t limit = uint64_t(1) << 31;
  uint64_t count = 1;
  bool isEmpty = false;
  for (int64_t dim : dims) {
    if (dim < 0 || uint64_t(dim) >= limit)
      return std::nullopt;
    isEmpty |= dim == 0;
    count *= uint64_t(std::max<int64_t>(dim, 1));
    if (count >= limit)
      return std::nullopt;
  }
  return isEmpty ? 0 : count;
}

uint64_t SplitMix::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::vector<std::byte> sinter::randomElements(DType dtype, size_t count,
                                              SplitMix &random) {
  if (isComplex(dtype))
    return randomElements(partOf(dtype), 2 * count, random);
  size_t width = byteWidth(dtype);
  std::vector<std::byte> bytes(count * width);
  for (size_t index = 0; index < count; ++index) {
    double number = isFloat(dtype) ? random.real() : double(random.next() & 1);
    storeNumber(bytes.data() + index * width, dtype, number);
  }
  return bytes;
}
