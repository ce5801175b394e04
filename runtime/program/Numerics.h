/// The numerics modes and the tiers of fusion by name.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstdint>
#include <string_view>

namespace sinter::runtime {

/// The mode (a `compiler::NumericsMode`) that `exact`, `default` or `fast`
/// names; an error of kind `invalid_argument` that begins with `where` for
/// another name.
Result<uint8_t> parseNumerics(std::string_view where, std::string_view name);
/// The tier (a `compiler::Fusion`) that `full` or `none` names; else an error.
Result<uint8_t> parseFusion(std::string_view where, std::string_view name);
/// The tier of one op per kernel.
inline constexpr uint8_t unfused = 1;
/// The name of a tier.
std::string_view fusionName(uint8_t tier);
/// The name of a mode.
std::string_view numericsName(uint8_t mode);

} // namespace sinter::runtime
