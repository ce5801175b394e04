/// TileContest: the tiles of one product, one after the other on a device.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/program/CompilerHook.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// A kernel whose schedule has several tiles to choose from.
struct TiledKernel {
  std::string name;
  std::string text;               ///< as a model file has it
  std::vector<std::string> tiles; ///< the one that is taken unasked first
  std::vector<int64_t> symbols;   ///< values of its symbols to time it with
};

/// The fastest of the tiles, whose results agree with those of the first one:
/// to the bit in `exact`, else by `agree`. A tile that differs, or does not
/// run, is left out with a warning; the first one stays unless another one is
/// faster by more than timing is off. No tile is begun after `limit`, and what
/// has not answered by then is left out; timing takes half of it more. Inputs
/// are random. An error when the first tile does not run.
Result<std::string> fastestTile(const TiledKernel &kernel, Device &device,
                                const CompileRequest &request,
                                std::chrono::milliseconds limit);

/// Whether the elements of one output, computed in two ways, agree: floats to
/// within 8 roundings of their dtype and 4 sqrt(depth) of f32, of the largest
/// element that is finite; all others, NaNs and infinities are alike.
bool agree(std::span<const std::byte> a, std::span<const std::byte> b,
           DType dtype, int64_t depth);

} // namespace sinter::runtime
