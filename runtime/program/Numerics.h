/// The numerics modes by name.
#pragma once

#include "runtime/support/Result.h"

#include <cstdint>
#include <string_view>

namespace sinter::runtime {

/// The mode (a `compiler::NumericsMode`) that `exact`, `default` or `fast`
/// names; an error of kind `invalid_argument` that begins with `where` for
/// another name.
Result<uint8_t> parseNumerics(std::string_view where, std::string_view name);

} // namespace sinter::runtime
