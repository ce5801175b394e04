/// Decoding, encoding and rounding of reference values.
#include "runtime/reference/HostValue.h"

#include "runtime/graph/Elements.h"
#include "runtime/support/HalfFloat.h"
#include "runtime/support/SmallFloat.h"
#include "sinter/runtime/Complex.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sinter::reference {

int64_t elementCount(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

int64_t HostTensor::elements() const { return elementCount(dims); }

HostValue::HostValue(DType dtype, std::vector<int64_t> shape)
    : dtype(dtype), dims(std::move(shape)) {
  auto count = static_cast<size_t>(elements());
  if (hasGradients(dtype))
    reals.resize(count);
  else
    ints.resize(count);
  if (isComplex(dtype))
    imaginary.resize(count);
}

int64_t HostValue::elements() const { return elementCount(dims); }

//===- Rounding -----------------------------------------------------------===//

double roundTo(DType dtype, double value) {
  if (dtype == DType::f64)
    return value;
  auto single = static_cast<float>(value);
  switch (dtype) {
  case DType::f32:
    return single;
  case DType::f16:
    return fromHalf(toHalf(single));
  case DType::bf16:
    return fromBfloat16(toBfloat16(single));
  default:
    return fromSmallFloat(dtype, toSmallFloat(dtype, single));
  }
}

/// Of the integers that have a part of a byte.
static int64_t lowBits(DType dtype, int64_t value) {
  unsigned unused = 64 - valueBits(dtype);
  uint64_t high = uint64_t(value) << unused;
  return isSigned(dtype) ? int64_t(high) >> unused : int64_t(high >> unused);
}

int64_t wrapTo(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::i8:
    return static_cast<int8_t>(value);
  case DType::i16:
    return static_cast<int16_t>(value);
  case DType::i32:
    return static_cast<int32_t>(value);
  case DType::u8:
    return static_cast<uint8_t>(value);
  case DType::u16:
    return static_cast<uint16_t>(value);
  case DType::u32:
    return static_cast<uint32_t>(value);
  case DType::i64:
  case DType::u64:
    return value;
  case DType::boolean:
    return value != 0;
  default:
    return lowBits(dtype, value);
  }
}

template <typename Int> static int64_t saturate(double value) {
  constexpr double lowest = std::numeric_limits<Int>::min();
  double beyond = -2.0 * std::numeric_limits<std::make_signed_t<Int>>::min();
  if (!std::is_unsigned_v<Int>)
    beyond = -lowest;
  if (value <= lowest)
    return std::numeric_limits<Int>::min();
  if (value >= beyond)
    return static_cast<int64_t>(std::numeric_limits<Int>::max());
  return static_cast<int64_t>(static_cast<Int>(value));
}

int64_t saturateTo(DType dtype, double value) {
  if (dtype == DType::boolean)
    return value != 0; // NaN too
  if (std::isnan(value))
    return 0;
  switch (dtype) {
  case DType::i8:
    return saturate<int8_t>(value);
  case DType::i16:
    return saturate<int16_t>(value);
  case DType::i32:
    return saturate<int32_t>(value);
  case DType::u8:
    return saturate<uint8_t>(value);
  case DType::u16:
    return saturate<uint16_t>(value);
  case DType::u32:
    return saturate<uint32_t>(value);
  case DType::u64:
    return saturate<uint64_t>(value);
  case DType::i64:
    return saturate<int64_t>(value);
  default: {
    int64_t count = int64_t(1) << (valueBits(dtype) - isSigned(dtype));
    int64_t least = isSigned(dtype) ? -count : 0;
    return std::clamp(saturate<int64_t>(value), least, count - 1);
  }
  }
}

double intToReal(DType dtype, int64_t value, DType from) {
  if (from == DType::u64) {
    auto whole = static_cast<uint64_t>(value);
    return dtype == DType::f64 ? static_cast<double>(whole)
                               : roundTo(dtype, static_cast<float>(whole));
  }
  if (dtype == DType::f64)
    return static_cast<double>(value);
  return roundTo(dtype, static_cast<float>(value));
}

//===- Elements -----------------------------------------------------------===//

void HostValue::set(int64_t index, double value) {
  reals[index] = roundTo(dtype, value);
}

void HostValue::set(int64_t index, int64_t value) {
  ints[index] = wrapTo(dtype, value);
}

void HostValue::set(int64_t index, Number value) {
  if (isReal())
    reals[index] = value.isReal ? roundTo(dtype, value.real)
                                : intToReal(dtype, value.integer, DType::i64);
  else
    ints[index] = value.isReal ? saturateTo(dtype, value.real)
                               : wrapTo(dtype, value.integer);
}

void HostValue::copy(int64_t index, const HostValue &from, int64_t fromIndex) {
  if (!imaginary.empty())
    imaginary[index] = from.imaginary[fromIndex];
  if (!reals.empty())
    reals[index] = from.reals[fromIndex];
  else
    ints[index] = from.ints[fromIndex];
}

template <typename T>
static T load(std::span<const std::byte> data, int64_t index) {
  T value;
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

static int64_t loadInt(const HostTensor &tensor, int64_t index) {
  switch (tensor.dtype) {
  case DType::i8:
  case DType::i4:
  case DType::i2:
    return load<int8_t>(tensor.data, index);
  case DType::i16:
    return load<int16_t>(tensor.data, index);
  case DType::i32:
    return load<int32_t>(tensor.data, index);
  case DType::i64:
  case DType::u64: // as its bits
    return load<int64_t>(tensor.data, index);
  case DType::u16:
    return load<uint16_t>(tensor.data, index);
  case DType::u32:
    return load<uint32_t>(tensor.data, index);
  default:
    return load<uint8_t>(tensor.data, index);
  }
}

//===- Complex numbers ----------------------------------------------------===//

HostValue partOf(const HostValue &value, bool isImaginary) {
  HostValue part;
  part.dtype = partOf(value.dtype);
  part.dims = value.dims;
  part.reals = isImaginary ? value.imaginary : value.reals;
  return part;
}

HostValue complexOf(HostValue re, HostValue im) {
  HostValue value = std::move(re);
  value.dtype = complexOf(value.dtype);
  value.imaginary = std::move(im.reals);
  return value;
}

HostValue asPairs(HostValue value) {
  if (!isComplex(value.dtype))
    return value;
  HostValue pairs;
  pairs.dtype = partOf(value.dtype);
  pairs.dims = std::move(value.dims);
  pairs.dims.push_back(2);
  for (size_t i = 0; i < value.reals.size(); ++i) {
    pairs.reals.push_back(value.reals[i]);
    pairs.reals.push_back(value.imaginary[i]);
  }
  return pairs;
}

static HostValue decodeComplex(const HostTensor &tensor) {
  HostValue value(tensor.dtype, tensor.dims);
  DType part = partOf(tensor.dtype);
  const std::byte *from = tensor.data.data();
  for (size_t i = 0; i < value.reals.size(); ++i) {
    value.reals[i] = loadNumber(from, part);
    value.imaginary[i] = loadNumber(from + byteWidth(part), part);
    from += byteWidth(tensor.dtype);
  }
  return value;
}

HostValue decode(const HostTensor &tensor) {
  if (isComplex(tensor.dtype))
    return decodeComplex(tensor);
  HostValue value(tensor.dtype, tensor.dims);
  size_t width = byteWidth(tensor.dtype);
  for (int64_t i = 0, count = value.elements(); i < count; ++i) {
    if (value.isReal())
      value.reals[i] = loadNumber(tensor.data.data() + i * width, tensor.dtype);
    else
      value.ints[i] = loadInt(tensor, i);
  }
  return value;
}

HostTensor encode(const HostValue &value) {
  if (isComplex(value.dtype))
    return {value.dtype, value.dims, encode(asPairs(value)).data};
  HostTensor tensor{value.dtype, value.dims, {}};
  size_t width = byteWidth(value.dtype);
  tensor.data.resize(static_cast<size_t>(value.elements()) * width);
  for (int64_t i = 0, count = value.elements(); i < count; ++i) {
    if (value.isReal())
      storeNumber(tensor.data.data() + i * width, value.dtype, value.reals[i]);
    else // little-endian: the low bytes come first
      std::memcpy(tensor.data.data() + i * width, &value.ints[i], width);
  }
  return tensor;
}

} // namespace sinter::reference
