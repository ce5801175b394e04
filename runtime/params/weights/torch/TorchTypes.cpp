/// Tables of element types.
#include "runtime/params/weights/torch/TorchTypes.h"

#include <algorithm>
#include <span>
#include <utility>

namespace sinter::runtime::torch {

namespace {

using Row = std::pair<std::string_view, DType>;

constexpr Row storages[] = {
    {"DoubleStorage", DType::f64},
    {"FloatStorage", DType::f32},
    {"HalfStorage", DType::f16},
    {"BFloat16Storage", DType::bf16},
    {"LongStorage", DType::i64},
    {"IntStorage", DType::i32},
    {"ShortStorage", DType::i16},
    {"CharStorage", DType::i8},
    {"ByteStorage", DType::u8},
    {"BoolStorage", DType::boolean},
    {"ComplexDoubleStorage", DType::c128},
    {"ComplexFloatStorage", DType::c64},
    {"UntypedStorage", DType::u8},
};

constexpr Row scalars[] = {
    {"float64", DType::f64},
    {"double", DType::f64},
    {"float32", DType::f32},
    {"float", DType::f32},
    {"float16", DType::f16},
    {"half", DType::f16},
    {"bfloat16", DType::bf16},
    {"int64", DType::i64},
    {"long", DType::i64},
    {"int32", DType::i32},
    {"int", DType::i32},
    {"int16", DType::i16},
    {"short", DType::i16},
    {"int8", DType::i8},
    {"uint8", DType::u8},
    {"uint16", DType::u16},
    {"uint32", DType::u32},
    {"uint64", DType::u64},
    {"bool", DType::boolean},
    {"complex64", DType::c64},
    {"cfloat", DType::c64},
    {"complex128", DType::c128},
    {"cdouble", DType::c128},
    {"float8_e4m3fn", DType::f8e4m3fn},
    {"float8_e5m2", DType::f8e5m2},
    {"float8_e4m3fnuz", DType::f8e4m3fnuz},
    {"float8_e5m2fnuz", DType::f8e5m2fnuz},
    {"float8_e8m0fnu", DType::f8e8m0fnu},
};

constexpr Row arrays[] = {
    {"f8", DType::f64}, {"f4", DType::f32},   {"f2", DType::f16},
    {"i1", DType::i8},  {"i2", DType::i16},   {"i4", DType::i32},
    {"i8", DType::i64}, {"u1", DType::u8},    {"u2", DType::u16},
    {"u4", DType::u32}, {"u8", DType::u64},   {"b1", DType::boolean},
    {"c8", DType::c64}, {"c16", DType::c128}, {"bfloat16", DType::bf16},
};

std::optional<DType> find(std::span<const Row> rows, std::string_view name) {
  auto found = std::ranges::find(rows, name, &Row::first);
  if (found == rows.end())
    return std::nullopt;
  return found->second;
}

} // namespace

std::optional<DType> storageType(std::string_view className) {
  return find(storages, className);
}

std::optional<DType> scalarType(std::string_view dtype) {
  return find(scalars, dtype);
}

std::optional<DType> numpyType(std::string_view descr) {
  return find(arrays, descr);
}

} // namespace sinter::runtime::torch
