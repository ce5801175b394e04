/// NodeMap: what belongs to single nodes.
#pragma once

#include "runtime/graph/NodeNumbers.h"
#include "sinter/runtime/Node.h"

#include <cstdint>
#include <deque>
#include <utility>

namespace sinter::autodiff {

/// What belongs to a node; looked up by address, so nodes must stay alive.
template <typename T> class NodeMap {
public:
  T *find(const graph::NodeRef &node) {
    const uint32_t *number = numbers.find(node.get());
    return number ? &values[*number] : nullptr;
  }
  T &add(const graph::NodeRef &node, T value) {
    numbers.insert(node.get(), uint32_t(values.size()));
    return values.emplace_back(std::move(value));
  }

private:
  graph::NodeNumbers numbers;
  std::deque<T> values;
};

} // namespace sinter::autodiff
