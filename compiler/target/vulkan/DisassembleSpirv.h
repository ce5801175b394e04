/// DisassembleSpirv: the text of an image's SPIR-V modules.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>

namespace sinter::compiler {

/// Whether an image begins as one of SPIR-V does.
bool isSpirv(std::span<const std::byte> image);

/// Each module in MLIR's form, behind a line with its kernels' names, as
/// `inspect --stage spirv` prints them. An error says what is wrong with the
/// image.
Result<std::string> disassembleSpirv(std::span<const std::byte> image);

} // namespace sinter::compiler
