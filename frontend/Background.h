/// The thread that compiles fused programs while unfused ones answer.
#pragma once

#include "runtime/support/Key.h"
#include "sinter/runtime/Result.h"

#include <functional>

namespace sinter::detail {

/// Whether programs are compiled in the background. An error in `exact`.
Result<bool> compilesInBackground();

/// Compiles `key` on the background thread by `work`, unless that has been
/// asked for. When the process ends, what has not begun is dropped and what
/// has is waited for.
void compileInBackground(const runtime::Key &key, std::function<Status()> work);

} // namespace sinter::detail
