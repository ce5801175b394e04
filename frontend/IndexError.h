/// IndexError: which index it was that an op found out of range.
#pragma once

#include "sinter/runtime/Node.h"

#include <optional>
#include <string>

namespace sinter::detail {

/// `index 12 at position 1, not in [0,10)`: the first index of a recorded op
/// that is out of range, where it stands in the op's tensor of indices, and the
/// range. Empty when there is none, or when finding it would take long. The
/// node is pending and belongs to a flush of this thread.
std::optional<std::string> describeBadIndex(const graph::Node &node);

} // namespace sinter::detail
