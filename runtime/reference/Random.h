/// The random number functions that docs/semantics.md defines.
#pragma once

#include <array>
#include <cstdint>

namespace sinter::reference {

/// Philox4x32-10 of one block.
std::array<uint32_t, 4> philox(uint64_t keyLow, uint64_t keyHigh,
                               uint64_t block);
/// The normal number of a lane of a block.
float normalOf(const std::array<uint32_t, 4> &lanes, unsigned lane);

} // namespace sinter::reference
