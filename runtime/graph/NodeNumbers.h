/// NodeNumbers: a flat map from nodes to post-order numbers, quick to reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter::graph {

class Node;

/// Linear probing at half load. Forgetting everything is one increment.
class NodeNumbers {
public:
  /// Small: many live for one short walk.
  NodeNumbers() : slots(64) {}

  void clear() {
    used = 0;
    if (++epoch == 0) {
      slots.assign(slots.size(), Slot());
      epoch = 1;
    }
  }
  /// Null when absent.
  const uint32_t *find(const Node *node) const {
    const Slot &slot = slots[slotOf(node)];
    return slot.epoch == epoch ? &slot.number : nullptr;
  }
  /// `node` is not in the map yet.
  void insert(const Node *node, uint32_t number) {
    if (2 * ++used > slots.size())
      grow();
    slots[slotOf(node)] = {node, number, epoch};
  }

private:
  struct Slot {
    const Node *node = nullptr;
    uint32_t number = 0;
    uint32_t epoch = 0;
  };

  size_t slotOf(const Node *node) const {
    auto address = reinterpret_cast<uintptr_t>(node);
    size_t mask = slots.size() - 1;
    size_t slot = (address * 0x9E3779B97F4A7C15ull >> 20) & mask;
    while (slots[slot].epoch == epoch && slots[slot].node != node)
      slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (const Slot &slot : old)
      if (slot.epoch == epoch)
        slots[slotOf(slot.node)] = slot;
  }

  std::vector<Slot> slots;
  size_t used = 0;
  uint32_t epoch = 1;
};

} // namespace sinter::graph
