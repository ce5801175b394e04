/// Pending: what happens after each recorded op: eager evaluation and the cap
/// on how much may stay pending.
#pragma once

#include <sinter/Tensor.h>

namespace sinter::detail {

/// Above this many pending ops below one tensor, or this many bytes of
/// pending results, a flush happens by itself (reason `limit`). A thread looks
/// each time it recorded `nodes` ops.
struct PendingLimits {
  size_t nodes = 32768;
  size_t bytes = size_t(4) << 30;
};
/// For tests and programs that know better; not thread-safe.
PendingLimits &pendingLimits();

/// Called with every op that a public function recorded.
void noteRecorded(const Tensor &tensor, const SourceLine &where);

/// The thread's default device.
DeviceId currentDevice();

} // namespace sinter::detail
