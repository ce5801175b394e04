/// Links the objects of a program into one loadable image.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sinter::compiler {

/// Links relocatable objects into a shared ELF image. Deterministic in the
/// objects and their order. Thread-safe (one link at a time). An undefined or
/// twice-defined symbol is an error of kind `compile` that names it. `joined`:
/// constants and code are one segment, which saves room where pages are large.
Result<std::vector<std::byte>> linkImage(std::span<const std::string> objects,
                                         bool joined = false);

} // namespace sinter::compiler
