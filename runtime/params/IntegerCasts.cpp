/// Casts of arrays, by way of 64 bits.
#include "runtime/params/IntegerCasts.h"

#include <cassert>
#include <cstdint>
#include <cstring>
#include <utility>

namespace sinter::runtime {

/// Calls `function` with a number of the C++ type that a dtype is.
template <typename F> static auto withType(DType dtype, F &&function) {
  switch (dtype) {
  case DType::i8:
    return function(int8_t());
  case DType::i16:
    return function(int16_t());
  case DType::i32:
    return function(int32_t());
  case DType::u8:
    return function(uint8_t());
  case DType::u16:
    return function(uint16_t());
  case DType::u32:
    return function(uint32_t());
  case DType::u64:
    return function(uint64_t());
  default:
    assert(dtype == DType::i64 && "no plain integer");
    return function(int64_t());
  }
}

bool isPlainInteger(DType dtype) {
  return isInteger(dtype) && valueBits(dtype) >= 8;
}

template <typename From, typename To>
static std::optional<std::string> cast(std::span<const std::byte> from,
                                       std::span<std::byte> to) {
  size_t count = from.size() / sizeof(From);
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    if (!std::in_range<To>(value))
      return std::to_string(value);
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): i8 is a number.
    To result = static_cast<To>(value);
    std::memcpy(to.data() + i * sizeof(To), &result, sizeof(To));
  }
  return std::nullopt;
}

std::optional<std::string> castIntegers(std::span<const std::byte> from,
                                        DType fromType, std::span<std::byte> to,
                                        DType toType) {
  return withType(fromType, [&](auto fromNumber) {
    return withType(toType, [&](auto toNumber) {
      return cast<decltype(fromNumber), decltype(toNumber)>(from, to);
    });
  });
}

} // namespace sinter::runtime
