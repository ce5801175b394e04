/// Work on many texts by several threads.
#pragma once

#include "frontend/tokenizers/Core.h"

#include <functional>

namespace sinter::text {

/// Calls `work` for each of `count` texts by up to `workers` threads, which end
/// before this does. The Failure of the first text that has one is thrown, with
/// its place.
void forEachText(const Core &core, size_t count, int64_t workers,
                 const std::function<void(size_t, Workspace &)> &work);

} // namespace sinter::text
