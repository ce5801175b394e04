/// Copies values to the host and converts them.
#include "frontend/HostBytes.h"

#include "frontend/Raise.h"
#include "runtime/device/Device.h"
#include "runtime/support/FloatingPoint.h"
#include "runtime/support/SmallFloat.h"
#include "sinter/runtime/Complex.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace sinter::detail {

// A scalar leaf is no buffer.
static bool hasBits(const graph::Node &node) {
  return node.isLeaf() && node.leafKind() == graph::InputKind::scalar;
}

Result<std::vector<std::byte>> readBytes(const graph::Node &node) try {
  std::vector<std::byte> bytes(node.elements() * byteWidth(node.dtype()));
  if (hasBits(node)) {
    uint64_t bits = node.scalarBits();
    std::memcpy(bytes.data(), &bits, bytes.size());
    return bytes;
  }
  if (!bytes.empty())
    SINTER_TRY(node.value()->device().copyOut(bytes, *node.value(), 0));
  return bytes;
} catch (...) {
  detail::raiseExhausted({});
}

Result<runtime::BufferRef> copyTo(runtime::Device &device,
                                  const graph::Node &node) {
  size_t bytes = node.elements() * byteWidth(node.dtype());
  SINTER_TRY_ASSIGN(runtime::BufferRef buffer, device.allocate(bytes));
  if (hasBits(node)) {
    SINTER_TRY_ASSIGN(std::vector<std::byte> scalar, readBytes(node));
    SINTER_TRY(device.copyIn(*buffer, 0, scalar));
  } else {
    SINTER_TRY(device.copyAcross(*buffer, *node.value(), bytes));
  }
  return buffer;
}

static float fromBfloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// One element from its bytes, as f64 or i64 that holds it exactly.
template <typename From, typename To>
static void convertAll(const std::byte *from, std::span<To> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(value);
  }
}

/// Signed bytes; int8_t is a character type, which is not what they are.
template <typename To>
static void convertBytes(const std::byte *from, std::span<To> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    int value = std::to_integer<int>(from[i]);
    to[i] = static_cast<To>(value < 128 ? value : value - 256);
  }
}

/// Reals to integers saturate; a cast in C++ would be undefined.
template <typename From, typename To>
static void convertReals(const std::byte *from, std::span<To> to) {
  if constexpr (std::is_floating_point_v<To> || std::is_same_v<To, bool>) {
    convertAll<From>(from, to);
  } else {
    constexpr double low = static_cast<double>(std::numeric_limits<To>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<To>::max());
    for (size_t i = 0; i < to.size(); ++i) {
      From value;
      std::memcpy(&value, from + i * sizeof(From), sizeof(From));
      double real = static_cast<double>(value);
      to[i] = std::isnan(real) ? To(0)
              : real <= low    ? std::numeric_limits<To>::min()
              : real >= high   ? std::numeric_limits<To>::max()
                               : static_cast<To>(real);
    }
  }
}

/// Floats of a byte and less, by way of f32.
template <typename To>
static void convertSmall(DType dtype, std::span<const std::byte> from,
                         std::span<To> to) {
  std::vector<float> wide(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    wide[i] = fromSmallFloat(dtype, std::to_integer<uint8_t>(from[i]));
  convertReals<float>(reinterpret_cast<const std::byte *>(wide.data()), to);
}

template <typename T>
static Status readReals(const graph::Node &node, std::span<T> to) {
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes, readBytes(node));
  const std::byte *from = bytes.data();
  DefaultFloats floats;
  switch (node.dtype()) {
  case DType::f64:
    convertReals<double>(from, to);
    return {};
  case DType::f32:
    convertReals<float>(from, to);
    return {};
  case DType::f16:
    convertReals<_Float16>(from, to);
    return {};
  case DType::bf16:
    for (size_t i = 0; i < to.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, from + 2 * i, 2);
      to[i] = static_cast<T>(fromBfloat(bits));
    }
    return {};
  case DType::i8:
  case DType::i4:
  case DType::i2:
    convertBytes(from, to);
    return {};
  case DType::i16:
    convertAll<int16_t>(from, to);
    return {};
  case DType::i32:
    convertAll<int32_t>(from, to);
    return {};
  case DType::i64:
    convertAll<int64_t>(from, to);
    return {};
  case DType::u8:
  case DType::u4:
  case DType::u2:
  case DType::boolean:
    convertAll<uint8_t>(from, to);
    return {};
  case DType::u16:
    convertAll<uint16_t>(from, to);
    return {};
  case DType::u32:
    convertAll<uint32_t>(from, to);
    return {};
  case DType::u64:
    convertAll<uint64_t>(from, to);
    return {};
  case DType::f8e4m3fn:
  case DType::f8e5m2:
  case DType::f8e8m0fnu:
  case DType::f8e4m3fnuz:
  case DType::f8e5m2fnuz:
  case DType::f4e2m1:
    convertSmall(node.dtype(), bytes, to);
    return {};
  case DType::c64:
  case DType::c128:
    break;
  }
  return makeError(ErrorKind::unsupported,
                   "reading " + std::string(name(node.dtype())) +
                       " values as real numbers: read std::complex, or real() "
                       "and imag()");
}

/// Pairs of numbers; real ones have no imaginary part.
template <typename T>
static Status readComplex(const graph::Node &node,
                          std::span<std::complex<T>> to) {
  if (!isComplex(node.dtype())) {
    std::vector<T> reals(to.size());
    SINTER_TRY(readReals<T>(node, reals));
    std::ranges::copy(reals, to.begin());
    return {};
  }
  SINTER_TRY_ASSIGN(std::vector<std::byte> bytes, readBytes(node));
  // The standard lets a complex number be looked at as two.
  std::span<T> parts(reinterpret_cast<T *>(to.data()), 2 * to.size());
  if (node.dtype() == DType::c64)
    convertAll<float>(bytes.data(), parts);
  else
    convertAll<double>(bytes.data(), parts);
  return {};
}

template <typename T> static constexpr bool isComplexNumber = false;
template <typename T>
static constexpr bool isComplexNumber<std::complex<T>> = true;

template <typename T>
Status readValues(const graph::Node &node, std::span<T> to) {
  if constexpr (isComplexNumber<T>)
    return readComplex(node, to);
  else
    return readReals(node, to);
}

#define SINTER_READ_AS(T)                                                      \
  template Status readValues<T>(const graph::Node &, std::span<T>);
SINTER_HOST_TYPES(SINTER_READ_AS)
#undef SINTER_READ_AS

} // namespace sinter::detail
