/// Names, sizes and promotion of element types.
#include "sinter/runtime/DType.h"

#include <algorithm>
#include <cassert>

namespace sinter {

namespace {
enum class Category : uint8_t { boolean, integer, floating, complex };

struct DTypeInfo {
  std::string_view name;
  uint8_t bits;
  Category category;
  bool isSigned;
};
} // namespace

static constexpr DTypeInfo infos[numDTypes] = {
    {"f64", 64, Category::floating, true},
    {"f32", 32, Category::floating, true},
    {"f16", 16, Category::floating, true},
    {"bf16", 16, Category::floating, true},
    {"i8", 8, Category::integer, true},
    {"i16", 16, Category::integer, true},
    {"i32", 32, Category::integer, true},
    {"i64", 64, Category::integer, true},
    {"u8", 8, Category::integer, false},
    {"bool", 8, Category::boolean, false},
    {"c64", 64, Category::complex, true},
    {"c128", 128, Category::complex, true},
    {"f8e4m3", 8, Category::floating, true},
    {"f8e5m2", 8, Category::floating, true},
    {"f8e8m0", 8, Category::floating, false},
    {"i4", 4, Category::integer, true},
    {"u4", 4, Category::integer, false},
    {"u16", 16, Category::integer, false},
    {"u32", 32, Category::integer, false},
    {"u64", 64, Category::integer, false},
};

static const DTypeInfo &infoOf(DType type) {
  auto index = static_cast<unsigned>(type);
  assert(index < numDTypes && "not a dtype");
  return infos[index];
}

unsigned bitWidth(DType type) { return infoOf(type).bits; }

bool isFloat(DType type) { return infoOf(type).category == Category::floating; }

bool isInteger(DType type) {
  return infoOf(type).category == Category::integer;
}

bool isSigned(DType type) { return infoOf(type).isSigned; }

bool isComputable(DType type) { return type <= DType::boolean; }

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
    return x.bits >= y.bits ? a : b;
  unsigned signedBits = x.isSigned ? x.bits : y.bits;
  unsigned unsignedBits = x.isSigned ? y.bits : x.bits;
  return signedOfWidth(std::max(signedBits, 2 * unsignedBits));
}

/// Two floats of one width are brought to the next one.
static DType promoteFloats(DType a, DType b) {
  unsigned x = infoOf(a).bits, y = infoOf(b).bits;
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
