/// What the safetensors reader and writer agree on.
#pragma once

#include "sinter/runtime/DType.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace sinter::runtime::safetensors {

/// The format's own limit.
inline constexpr uint64_t maxHeaderBytes = 100'000'000;
inline constexpr std::string_view metadataKey = "__metadata__";

inline constexpr std::pair<std::string_view, DType> dtypeNames[] = {
    {"F64", DType::f64},
    {"F32", DType::f32},
    {"F16", DType::f16},
    {"BF16", DType::bf16},
    {"I8", DType::i8},
    {"I16", DType::i16},
    {"I32", DType::i32},
    {"I64", DType::i64},
    {"U8", DType::u8},
    {"BOOL", DType::boolean},
    {"C64", DType::c64},
    {"F8_E4M3", DType::f8e4m3fn},
    {"F8_E5M2", DType::f8e5m2},
    {"F8_E8M0", DType::f8e8m0fnu},
    {"U16", DType::u16},
    {"U32", DType::u32},
    {"U64", DType::u64},
    {"F8_E4M3FNUZ", DType::f8e4m3fnuz},
    {"F8_E5M2FNUZ", DType::f8e5m2fnuz},
};

} // namespace sinter::runtime::safetensors
