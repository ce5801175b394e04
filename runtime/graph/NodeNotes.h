/// NodeNotes: what users attach to single nodes for the reverse sweep.
#pragma once

#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace sinter::graph {

/// Is given the gradient that arrived at a node, complete, and gives the one
/// that goes on: of the same type.
struct GradientHook {
  std::function<Result<NodeRef>(const NodeRef &gradient)> call;
  std::atomic<bool> removed{false};
};

/// The gradients of `inputs`, one each, of their types; an empty ref where no
/// gradient flows. `gradient` is that of `result`.
using CustomRule = std::function<Result<std::vector<NodeRef>>(
    std::span<const NodeRef> inputs, const NodeRef &result,
    const NodeRef &gradient)>;

/// A part of a recording whose inner values the reverse sweep computes again
/// (frontend's `checkpoint`).
struct CheckpointRegion {
  std::shared_ptr<const CheckpointRegion> outer; ///< null for none
  /// While it is recorded, a sweep takes its values as they are.
  std::atomic<bool> isOpen{true};
};

/// That a matrix is the sum of one and a product of low rank, which what
/// multiplies by it may do apart (frontend/adapt/LowRank.h).
struct LowRankSum {
  NodeRef own;
  NodeRef down, up; ///< [rank, columns] and [rows, rank]: own + scale * up down
  bool isTransposed = false; ///< own + scale * (up down)^T
  double scale = 1;
  double dropout = 0; ///< of what is multiplied by the product
};

/// Lives as long as its node. Thread-safe.
class NodeNotes {
public:
  void addHook(std::shared_ptr<GradientHook> hook) {
    std::lock_guard lock(mutex);
    hookList.push_back(std::move(hook));
  }
  /// Those there are now, in the order they were added.
  std::vector<std::shared_ptr<GradientHook>> hooks() const {
    std::lock_guard lock(mutex);
    return hookList;
  }
  /// Of the last link of a custom function (`graph::custom_gradient`), set
  /// before the node is shared: a chain of one link for each input.
  CustomRule customRule;
  size_t customInputs = 0;
  /// The rule is the value's own gradient in another form: nothing is lost
  /// where only the value is kept.
  bool isOwnGradient = false;
  void takeRule(const NodeNotes &other) {
    customRule = other.customRule;
    customInputs = other.customInputs;
    isOwnGradient = other.isOwnGradient;
  }
  /// Set before the node is shared; null for every other.
  std::unique_ptr<const LowRankSum> lowRank;
  /// The innermost one that the node was recorded in, set before the node is
  /// shared.
  std::shared_ptr<const CheckpointRegion> region;

  /// A leaf of the node's value with symbols in its dims, which ops that read
  /// the node are recorded on; null for none.
  const NodeRef *symbolicForm() const {
    return hasForm.load(std::memory_order_acquire) ? &form : nullptr;
  }
  void setSymbolicForm(NodeRef leaf) {
    std::lock_guard lock(mutex);
    if (hasForm.load(std::memory_order_relaxed))
      return;
    form = std::move(leaf);
    hasForm.store(true, std::memory_order_release);
  }

private:
  mutable std::mutex mutex;
  NodeRef form;
  std::atomic<bool> hasForm{false};
  std::vector<std::shared_ptr<GradientHook>> hookList;
};

} // namespace sinter::graph
