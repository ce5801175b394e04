/// HostBytes: elements of evaluated nodes as C++ numbers.
#pragma once

#include "runtime/graph/Node.h"
#include "runtime/support/Result.h"

#include <span>
#include <vector>

namespace sinter::detail {

/// The bytes of an evaluated node or a scalar leaf.
Result<std::vector<std::byte>> readBytes(const graph::Node &node);

/// Its elements converted to T; `to` has room for all of them.
template <typename T>
Status readValues(const graph::Node &node, std::span<T> to);

} // namespace sinter::detail
