/// Grids: the codebooks of GGML's IQ formats.
#pragma once

#include <array>
#include <cstdint>

namespace sinter::runtime::gguf {

// Points of eight coordinates, 2 bits each.
extern const std::array<uint16_t, 256> iq2xxsGrid;
extern const std::array<uint16_t, 512> iq2xsGrid;
extern const std::array<uint16_t, 1024> iq2sGrid;
extern const std::array<uint16_t, 2048> iq1sGrid;
// Points of four coordinates, 4 bits each.
extern const std::array<uint16_t, 256> iq3xxsGrid;
extern const std::array<uint16_t, 512> iq3sGrid;

} // namespace sinter::runtime::gguf
