/// Digest: what tells whether bytes are those that were written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sinter::runtime {

/// xxh3-128 in its canonical (big-endian) byte order.
using Digest = std::array<uint8_t, 16>;

Digest digestOf(std::span<const std::byte> bytes);
/// Of a hash that was computed piece by piece.
Digest toDigest(uint64_t high, uint64_t low);

} // namespace sinter::runtime
