/// Base64: bytes in texts (RFC 4648), with padding.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

std::string toBase64(std::span<const std::byte> bytes);

/// What toBase64 gave; an `invalid_argument` error says what is wrong with
/// anything else.
Result<std::vector<std::byte>> fromBase64(std::string_view text);

} // namespace sinter
