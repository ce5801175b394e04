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
  // Pairs of f32 and f64: moved, added and summed; the rest is of their parts.
  c64 = 10,
  c128 = 11,
  // Stored: they are cast and moved, and nothing else is computed with them.
  // Those of fewer than 8 bits take the low bits of a byte each.
  f8e4m3fn = 12,
  f8e5m2 = 13,
  f8e8m0fnu = 14, ///< a power of two, without a sign
  i4 = 15,
  u4 = 16,
  // Computed with, as the first ten are.
  u16 = 17,
  u32 = 18,
  u64 = 19,
  // Stored.
  f8e4m3fnuz = 20,
  f8e5m2fnuz = 21,
  f4e2m1 = 22,
  i2 = 23,
  u2 = 24,
};
inline constexpr unsigned numDTypes = 25;

/// Bits of one element in memory: at least 8, which bool and i4 take, too.
unsigned bitWidth(DType type);
/// Bits that its values differ in: 4 of i4's 8, 1 of bool's.
unsigned valueBits(DType type);
/// Bytes of one element.
inline size_t byteWidth(DType type) { return bitWidth(type) / 8; }
bool isFloat(DType type);      ///< f64 f32 f16 bf16 and those of 8 and 4 bits
bool isInteger(DType type);    ///< signed and unsigned integers, not bool
bool isSigned(DType type);     ///< floats and signed integers
bool isComputable(DType type); ///< has arithmetic: the first ten, u16 u32 u64
bool isStorable(DType type);   ///< tensors have it: all that have a code
/// Name as printed in shapes: `f32`, `bool`.
std::string_view name(DType type);
std::optional<DType> parseDType(std::string_view text);

/// The dtype that two tensor operands are brought to (docs/semantics.md):
/// the wider of one category; bool < integers < floats; f16 with bf16 is f32;
/// u8 with i8 is i16; u64 with a signed one is i64.
DType promote(DType a, DType b);
/// The dtype of a tensor combined with a weak (plain C++) number: the tensor's
/// own dtype unless the number's category is higher (i32 * 2.0 is f32).
enum class WeakKind : uint8_t { boolean, integer, floating };
DType promoteWeak(DType tensor, WeakKind number);

} // namespace sinter
