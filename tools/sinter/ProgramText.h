/// A program as text for people.
#pragma once

#include "runtime/program/ProgramData.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace sinter::cli {

/// Ports, kernels with their text, steps; with `memory` the buffers, too. An
/// error where that is more than `limit` bytes: a file may name long names
/// often.
Result<std::string> programText(const runtime::ProgramData &program,
                                bool memory, size_t limit);

/// A peak of memory and the values that make it, the largest first, with their
/// lines: `siteOf` gives that of a node, or nothing.
std::string
memoryText(const runtime::PeakMemory &peak,
           std::span<const runtime::Port> inputs,
           std::span<const runtime::Port> outputs,
           const std::function<std::string_view(uint32_t node)> &siteOf);

/// `in0`, `t8`: what texts call a buffer of the plan.
std::string bufferName(const runtime::ProgramData &program, uint32_t buffer);

/// `s0 * 40`: expression `index` of a list, shortened where it is long.
std::string exprText(std::span<const Expr> exprs, uint32_t index);

} // namespace sinter::cli
