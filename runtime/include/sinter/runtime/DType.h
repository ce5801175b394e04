/// Element types: codes (stable in files), sizes, names, promotion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sinter {

/// Element type of a tensor. The codes are part of the file format.
enum class DType : uint8_t {
  f64 = 0,
  f32 = 1,
  f16 = 2,
  bf16 = 3,
  i8 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  u8 = 8,
  boolean = 9, ///< one byte, 0 or 1; printed `bool`
  // Codes that parse and print; computing with them is an error by name.
  c64 = 10,
  c128 = 11,
  f8e4m3 = 12,
  f8e5m2 = 13,
  f8e8m0 = 14,
  i4 = 15,
  u4 = 16,
  u16 = 17,
  u32 = 18,
  u64 = 19,
};
inline constexpr unsigned numDTypes = 20;

/// Bits of one element in memory (4 for i4 and u4, 8 for bool).
unsigned bitWidth(DType type);
/// Bytes of one element; 0 for sub-byte types.
inline size_t byteWidth(DType type) { return bitWidth(type) / 8; }
bool isFloat(DType type);      ///< f64 f32 f16 bf16 and the f8 types
bool isInteger(DType type);    ///< signed and unsigned integers, not bool
bool isSigned(DType type);     ///< floats and signed integers
bool isComputable(DType type); ///< the first ten codes
/// Name as printed in shapes: `f32`, `bool`.
std::string_view name(DType type);
std::optional<DType> parseDType(std::string_view text);

/// The dtype that two tensor operands are brought to (docs/semantics.md):
/// the wider of one category; bool < integers < floats; f16 with bf16 is f32;
/// u8 with i8 is i16.
DType promote(DType a, DType b);
/// The dtype of a tensor combined with a weak (plain C++) number: the tensor's
/// own dtype unless the number's category is higher (i32 * 2.0 is f32).
enum class WeakKind : uint8_t { boolean, integer, floating };
DType promoteWeak(DType tensor, WeakKind number);

} // namespace sinter
