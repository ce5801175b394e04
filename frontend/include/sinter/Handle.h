/// Handle: what a Tensor points to; it makes live tensors known to evaluation.
#pragma once

#include <sinter/runtime/Node.h>

#include <sinter/Held.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace sinter::detail {

/// A counted, registered owner of one node. Evaluation must know which pending
/// and historic nodes a user can still reach: those have a handle.
class Handle {
public:
  graph::NodeRef node;

private:
  friend class HandleRef;
  friend class LiveHandles;
  std::atomic<uint32_t> refs{1};
  uint32_t shard = 0;
  Handle *previous = nullptr;
  Handle *next = nullptr;
};

/// What ops that read a value are recorded on: an evaluated one whose line has
/// shown several extents of an axis is a leaf that is symbolic there
/// (frontend/SymbolicResults.h); every other is the node itself.
const graph::NodeRef &symbolicFormOf(const graph::NodeRef &result);
const graph::NodeRef &symbolicFormOf(graph::NodeRef &&result) = delete;
inline const graph::NodeRef &usedForm(const graph::NodeRef &node) {
  return node->isLeaf() || !node->isReady() ? node : symbolicFormOf(node);
}
/// What is given is returned: it has to live on.
const graph::NodeRef &usedForm(graph::NodeRef &&node) = delete;

/// Owning pointer to a Handle; 8 bytes.
class HandleRef {
public:
  HandleRef() = default;
  explicit HandleRef(graph::NodeRef node);
  HandleRef(const HandleRef &other) : pointer(other.pointer) {
    if (pointer)
      pointer->refs.fetch_add(1, std::memory_order_relaxed);
  }
  HandleRef(HandleRef &&other) noexcept
      : pointer(std::exchange(other.pointer, nullptr)) {}
  HandleRef &operator=(HandleRef other) noexcept {
    std::swap(pointer, other.pointer);
    return *this;
  }
  ~HandleRef() {
    // Who holds the only reference needs no atomic write to give it up.
    if (pointer && (pointer->refs.load(std::memory_order_acquire) == 1 ||
                    pointer->refs.fetch_sub(1, std::memory_order_acq_rel) == 1))
      destroy(pointer);
  }
  explicit operator bool() const { return pointer != nullptr; }
  /// An Error of `call` when empty.
  const graph::NodeRef &node(const char *call = "tensor") const {
    return held(pointer, call).node;
  }

private:
  static void destroy(Handle *handle);
  Handle *pointer = nullptr;
};

} // namespace sinter::detail
