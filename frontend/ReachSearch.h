/// ReachSearch: whether nodes were computed from certain leaves.
#pragma once

#include "runtime/graph/NodeNumbers.h"
#include "sinter/runtime/Node.h"

#include <vector>

namespace sinter::detail {

/// Searches operands of pending and of evaluated nodes (history). Answers are
/// remembered, so many questions cost one pass. Under evaluation's lock.
class ReachSearch {
public:
  /// Adds a leaf to look for; before the first question.
  void addTarget(const graph::Node *leaf);
  bool reaches(const graph::Node *node);
  /// Evaluated nodes with history that reach a target, met so far.
  const std::vector<const graph::Node *> &historic() const { return history; }

private:
  struct Frame {
    const graph::Node *node;
    uint32_t nextOperand;
    bool found;
  };
  enum Answer : uint32_t { no, yes };

  graph::NodeNumbers answers;
  std::vector<Frame> stack;
  std::vector<const graph::Node *> history;
};

} // namespace sinter::detail
