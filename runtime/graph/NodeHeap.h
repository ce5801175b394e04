/// NodeHeap: where node blocks come from; one heap per thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::graph {

/// A block of at least `bytes` bytes, aligned to 16. Takes no lock but for a
/// fresh slab; a repeat costs a few nanoseconds.
void *allocateNodeBlock(uint32_t bytes);
/// Frees a block of any thread's heap.
void freeNodeBlock(void *block, uint32_t bytes);

} // namespace sinter::graph
