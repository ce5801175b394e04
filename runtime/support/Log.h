/// Messages to the person who runs the program.
#pragma once

#include <cstdint>
#include <string_view>

namespace sinter {

/// Prints `sinter: warning: message` to the standard error, once per distinct
/// message, and counts it. Thread-safe.
void logWarning(std::string_view message);
/// Distinct and repeated warnings so far.
uint64_t warningCount();

} // namespace sinter
