/// Machine code as text.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>

namespace sinter::compiler {

/// The functions of an ELF image as assembly, in the order of their addresses;
/// the modules of one of SPIR-V; of one of PTX its machine code. An error of
/// kind `io` when the bytes are no such image.
Result<std::string> disassemble(std::span<const std::byte> image);

} // namespace sinter::compiler
