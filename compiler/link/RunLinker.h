/// Runs lld, which keeps its state in globals.
#pragma once

#include "sinter/runtime/Result.h"

#include <string>
#include <vector>

namespace sinter::compiler {

/// An error of kind `compile` of the link.
ErrorInfo linkError(std::string message);

/// Runs lld with these arguments, its own name first. Thread-safe (one run at
/// a time). When memory runs out in lld, a lock of it may stay taken: a run
/// after that waits for a while, and may find that no more links can be made.
Status runLinker(std::vector<std::string> arguments);

} // namespace sinter::compiler
