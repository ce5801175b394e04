/// Retarget: a model file with programs for other targets or flags, out of its
/// portable graphs.
#pragma once

#include "runtime/program/CompilerHook.h"
#include "sinter/runtime/Result.h"
#include "tools/sinter/Arguments.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

/// For each of the targets that `request` lists, separated by commas.
std::vector<runtime::CompileRequest>
requestsOf(const runtime::CompileRequest &request);

/// The file at `path` with a program for each request in place of its own;
/// weights, state and lines stay. Without --numerics programs keep their mode.
Result<std::vector<std::byte>>
retargeted(const std::string &path,
           std::span<const runtime::CompileRequest> requests,
           const Arguments &arguments);

} // namespace sinter::cli
