/// Replacing a file at once.
#pragma once

#include "runtime/support/Result.h"

#include <cstddef>
#include <span>
#include <string>

namespace sinter::runtime {

/// Writes `parts` one after another to a new file beside `path`, syncs it and
/// renames it over `path`: readers see the old file or the whole new one. On
/// an error the old file is untouched and the temporary one removed.
Status replaceFile(const std::string &path,
                   std::span<const std::span<const std::byte>> parts);

} // namespace sinter::runtime
