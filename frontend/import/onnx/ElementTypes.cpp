/// Names and sizes of ONNX's element types.
#include "frontend/import/onnx/Records.h"

#include <array>

namespace sinter::onnx {

namespace {
struct Entry {
  const char *name;
  unsigned bits;
  std::optional<DType> dtype;
};
} // namespace

/// By code.
static const std::array<Entry, lastElementType + 1> entries = {{
    {"UNDEFINED", 0, {}},
    {"FLOAT", 32, DType::f32},
    {"UINT8", 8, DType::u8},
    {"INT8", 8, DType::i8},
    {"UINT16", 16, DType::u16},
    {"INT16", 16, DType::i16},
    {"INT32", 32, DType::i32},
    {"INT64", 64, DType::i64},
    {"STRING", 0, {}},
    {"BOOL", 8, DType::boolean},
    {"FLOAT16", 16, DType::f16},
    {"DOUBLE", 64, DType::f64},
    {"UINT32", 32, DType::u32},
    {"UINT64", 64, DType::u64},
    {"COMPLEX64", 64, DType::c64},
    {"COMPLEX128", 128, DType::c128},
    {"BFLOAT16", 16, DType::bf16},
    {"FLOAT8E4M3FN", 8, DType::f8e4m3fn},
    {"FLOAT8E4M3FNUZ", 8, DType::f8e4m3fnuz},
    {"FLOAT8E5M2", 8, DType::f8e5m2},
    {"FLOAT8E5M2FNUZ", 8, DType::f8e5m2fnuz},
    {"UINT4", 4, DType::u4},
    {"INT4", 4, DType::i4},
    {"FLOAT4E2M1", 4, DType::f4e2m1},
    {"FLOAT8E8M0", 8, DType::f8e8m0fnu},
    {"UINT2", 2, DType::u2},
    {"INT2", 2, DType::i2},
}};

static const Entry *entryOf(ElementType type) {
  auto code = int32_t(type);
  if (code <= 0 || code > lastElementType)
    return nullptr;
  return &entries[size_t(code)];
}

std::string elementName(ElementType type) {
  const Entry *entry = entryOf(type);
  return entry ? entry->name : "type " + std::to_string(int32_t(type));
}

unsigned elementBits(ElementType type) {
  const Entry *entry = entryOf(type);
  return entry ? entry->bits : 0;
}

std::optional<DType> computedAs(ElementType type) {
  const Entry *entry = entryOf(type);
  if (!entry || !entry->dtype || !isStorable(*entry->dtype))
    return std::nullopt;
  return entry->dtype;
}

ElementType elementTypeOf(DType dtype) {
  for (int32_t code = 1; code <= lastElementType; ++code)
    if (entries[size_t(code)].dtype == dtype)
      return ElementType(code);
  return ElementType::undefined;
}

} // namespace sinter::onnx
