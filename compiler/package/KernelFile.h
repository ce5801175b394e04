/// KernelFile: a kernel's code as bytes and back, for the disk cache.
#pragma once

#include "compiler/lower/kernel/EmitKernel.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace sinter::compiler {

/// `key` is all that the code depends on. Texts are left out. The same code
/// gives the same bytes.
std::vector<std::byte> writeKernel(std::string_view key,
                                   const KernelCode &code);

/// The code in `bytes`, checked in full. An error of kind `io` says what is
/// wrong, which may be that they were written under another key.
Result<KernelCode> readKernel(std::string_view key,
                              std::span<const std::byte> bytes);

} // namespace sinter::compiler
