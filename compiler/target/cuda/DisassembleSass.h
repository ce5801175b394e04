/// DisassembleSass: the machine code that ptxas makes of an image's PTX.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>

namespace sinter::compiler {

/// Whether an image is one of PTX.
bool isPtx(std::span<const std::byte> image);

/// Each module assembled for the architecture that it names, and taken apart
/// again: by ptxas and nvdisasm of the CUDA toolkit, whose compiler need not be
/// the one of the driver that runs the image. An error says which one is
/// missing, or what it says.
Result<std::string> disassembleSass(std::span<const std::byte> image);

} // namespace sinter::compiler
