/// LiveHandles: the registry of every live Tensor.
#pragma once

#include <sinter/Handle.h>

#include <functional>

namespace sinter::detail {

/// Handles stand in lists, one per shard; a thread adds to its own shard. A
/// repeat costs one uncontended lock, about ten nanoseconds.
class LiveHandles {
public:
  static Handle *add(graph::NodeRef node);
  static void remove(Handle *handle);
  /// Calls `visit` for the node of every live handle, one shard's lock held:
  /// `visit` must not make or drop tensors.
  static void forEach(const std::function<void(const graph::NodeRef &)> &visit);
};

} // namespace sinter::detail
