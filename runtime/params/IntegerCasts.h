/// IntegerCasts: arrays of integers from one dtype to another.
#pragma once

#include "sinter/runtime/DType.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace sinter::runtime {

/// Casts all elements of `from`, which `to` has room for; both dtypes are
/// integers of 8 bits and more. The first number that `toType` does not have,
/// as text, or nothing where all fit. Elements may be at any address.
std::optional<std::string> castIntegers(std::span<const std::byte> from,
                                        DType fromType, std::span<std::byte> to,
                                        DType toType);
/// Whether castIntegers knows it.
bool isPlainInteger(DType dtype);

} // namespace sinter::runtime
