/// A program as text for people.
#pragma once

#include "runtime/program/ProgramData.h"

#include <string>

namespace sinter::cli {

/// Ports, kernels with their text, steps; with `memory` the buffers, too.
std::string programText(const runtime::ProgramData &program, bool memory);

/// The peak of memory for these dims and the values that make it, the largest
/// first, with their lines. Bindings need no buffers.
Result<std::string> memoryText(const runtime::Program &program,
                               std::span<const runtime::Binding> inputs);

/// `s0 * 40`: expression `index` of a list.
std::string exprText(std::span<const Expr> exprs, uint32_t index);

} // namespace sinter::cli
