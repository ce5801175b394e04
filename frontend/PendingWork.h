/// PendingWork: what one thread recorded and nothing has evaluated yet.
#pragma once

#include "frontend/Flush.h"
#include "sinter/runtime/Node.h"

#include <sinter/PendingLimits.h>

#include <vector>

namespace sinter::detail {

/// Where pending work was cut: after such an op.
struct CutPlace {
  graph::OpId op = graph::leafOp; ///< leaf: it was not
  SiteId site = 0;

  static CutPlace after(const graph::Node &node) {
    return {node.op(), node.site()};
  }
  bool operator==(const CutPlace &) const = default;
};

/// The pending ops below the live tensors and the state that this thread
/// recorded. Holds evaluation's lock.
class PendingWork {
public:
  PendingWork();

  size_t ops() const { return all.size(); }
  /// Of results that tensors or state hold, and of values that nothing but
  /// pending ops holds.
  size_t bytes() const { return heldBytes + keptBytes; }
  /// What the look cost: everything it went through.
  size_t visited() const { return numVisited; }

  /// What can be evaluated of what tensors and state hold.
  std::vector<graph::NodeRef> roots();

  /// A part of the work: what evaluating it gives values to.
  using Piece = std::vector<graph::NodeRef>;
  /// Cuts the work, from the beginning, into pieces of at most `limits` and at
  /// least half of that, where fewest bytes go from one to the next; of equal
  /// places the one that is like `last`, the place of the cut before, else the
  /// last. So what repeats is cut into equal pieces. What is left is smaller
  /// than the limits, or cannot be cut.
  std::vector<Piece> pieces(const PendingLimits &limits, CutPlace &last);

private:
  struct Op {
    graph::Node *node;
    // As `order` finds them.
    uint32_t lastUse = 0; ///< place of the last user
    bool isHeld = false;
    bool isInside = false; ///< of a loop: it has a value in each step
    bool isBroken = false; ///< it depends on what has no value, ever

    size_t bytes() const;
  };
  class Cuts;

  void collectRoots();
  void collectOps();
  void countKept();
  void order();
  bool isBrokenInput(const graph::Node &node) const;

  HistoryLock lock;
  std::vector<graph::NodeRef> held;
  std::vector<Op> all;
  size_t heldBytes = 0;
  size_t keptBytes = 0;
  size_t numVisited = 0;
};

} // namespace sinter::detail
