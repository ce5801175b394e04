/// Background: unfused programs answer while fused ones are compiled.
#pragma once

#include <source_location>

namespace sinter {

/// Whether a program that is in no cache is compiled twice: one op per kernel,
/// which answers now, and fused on a thread of its own, which answers from some
/// later evaluation on. It pays where the ops' kernels are in the kernel cache.
/// The results of the two may differ within the tolerances of the numerics
/// mode, so in `exact` turning it on is an error. Initially what
/// SINTER_BACKGROUND says.
void set_background_compile(
    bool on, std::source_location where = std::source_location::current());
bool background_compile();

/// Waits until every fused program that was begun is there, or has failed.
void wait_for_background();

} // namespace sinter
