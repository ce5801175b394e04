/// Names, sizes and promotion of element types.
#include "sinter/runtime/DType.h"

#include <algorithm>
#include <cassert>

namespace sinter {

namespace {
enum class Category : uint8_t { boolean, integer, floating, complex };

/// What programs do with a dtype.
enum class Use : uint8_t { stored, computed };

struct DTypeInfo {
  std::string_view name;
  uint8_t bits;
  Category category;
  bool isSigned;
  Use use;
  uint8_t valueBits = bits;
};
} // namespace

using enum Category;
using enum Use;

static constexpr DTypeInfo infos[numDTypes] = {
    {"f64", 64, floating, true, computed},
    {"f32", 32, floating, true, computed},
    {"f16", 16, floating, true, computed},
    {"bf16", 16, floating, true, computed},
    {"i8", 8, integer, true, computed},
    {"i16", 16, integer, true, computed},
    {"i32", 32, integer, true, computed},
    {"i64", 64, integer, true, computed},
    {"u8", 8, integer, false, computed},
    {"bool", 8, boolean, false, computed, 1},
    {"c64", 64, complex, true, stored},
    {"c128", 128, complex, true, stored},
    {"f8e4m3fn", 8, floating, true, stored},
    {"f8e5m2", 8, floating, true, stored},
    {"f8e8m0fnu", 8, floating, false, stored},
    {"i4", 8, integer, true, stored, 4},
    {"u4", 8, integer, false, stored, 4},
    {"u16", 16, integer, false, computed},
    {"u32", 32, integer, false, computed},
    {"u64", 64, integer, false, computed},
    {"f8e4m3fnuz", 8, floating, true, stored},
    {"f8e5m2fnuz", 8, floating, true, stored},
    {"f4e2m1", 8, floating, true, stored, 4},
    {"i2", 8, integer, true, stored, 2},
    {"u2", 8, integer, false, stored, 2},
};

static const DTypeInfo &infoOf(DType type) {
  auto index = static_cast<unsigned>(type);
  assert(index < numDTypes && "not a dtype");
  return infos[index];
}

unsigned bitWidth(DType type) { return infoOf(type).bits; }

unsigned valueBits(DType type) { return infoOf(type).valueBits; }

bool isFloat(DType type) { return infoOf(type).category == Category::floating; }

bool isInteger(DType type) {
  return infoOf(type).category == Category::integer;
}

bool isSigned(DType type) { return infoOf(type).isSigned; }

bool isComputable(DType type) { return infoOf(type).use == Use::computed; }

bool isStorable(DType type) { return static_cast<unsigned>(type) < numDTypes; }

std::string_view name(DType type) { return infoOf(type).name; }

std::optional<DType> parseDType(std::string_view text) {
  for (unsigned i = 0; i < numDTypes; ++i)
    if (infos[i].name == text)
      return static_cast<DType>(i);
  return std::nullopt;
}

static DType signedOfWidth(unsigned bits) {
  if (bits <= 8)
    return DType::i8;
  if (bits <= 16)
    return DType::i16;
  return bits <= 32 ? DType::i32 : DType::i64;
}

/// Two integers: the wider one; of mixed signs, a signed one that holds both.
static DType promoteIntegers(DType a, DType b) {
  const DTypeInfo &x = infoOf(a), &y = infoOf(b);
  if (x.isSigned == y.isSigned)
    return x.valueBits >= y.valueBits ? a : b;
  unsigned signedBits = x.isSigned ? x.valueBits : y.valueBits;
  unsigned unsignedBits = x.isSigned ? y.valueBits : x.valueBits;
  return signedOfWidth(std::max(signedBits, 2 * unsignedBits));
}

/// Two floats of one width are brought to the next one.
static DType promoteFloats(DType a, DType b) {
  unsigned x = infoOf(a).valueBits, y = infoOf(b).valueBits;
  if (x != y)
    return x > y ? a : b;
  return DType::f32;
}

DType promote(DType a, DType b) {
  if (a == b)
    return a;
  Category x = infoOf(a).category, y = infoOf(b).category;
  if (x != y && (x == Category::complex || y == Category::complex)) {
    DType other = x == Category::complex ? b : a;
    return other == DType::f64 ? DType::c128 : (x == Category::complex ? a : b);
  }
  if (x != y)
    return x > y ? a : b;
  switch (x) {
  case Category::floating:
    return promoteFloats(a, b);
  case Category::integer:
    return promoteIntegers(a, b);
  case Category::complex:
    return DType::c128;
  case Category::boolean:
    break;
  }
  return a;
}

DType promoteWeak(DType tensor, WeakKind number) {
  Category category = infoOf(tensor).category;
  switch (number) {
  case WeakKind::boolean:
    return tensor;
  case WeakKind::integer:
    return category == Category::boolean ? DType::i64 : tensor;
  case WeakKind::floating:
    return category < Category::floating ? DType::f32 : tensor;
  }
  return tensor;
}

} // namespace sinter
