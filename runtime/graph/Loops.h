/// Loops: which values of a graph are the body of which loop over steps.
///
/// A loop is flat in a graph (dialects/sinter/ops/Scan.td): everything that is
/// computed from its index, other than through its end, is computed anew in
/// each step. What a body reads from outside needs no mark, and is computed
/// once.
#pragma once

#include "sinter/runtime/Graph.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace sinter::graph {

/// One loop, by post-order numbers.
struct Loop {
  struct Carry {
    uint32_t carry;
    uint32_t next;
  };
  uint32_t index = 0;
  uint32_t end = 0;
  /// The loop in whose body it stands; Loops::none outside.
  uint32_t parent = 0;
  bool reverse = false;
  int64_t condition = 0; ///< as of scan_end
  std::vector<Carry> carries;
  /// Ascending; carries and slices among them, and what inner loops give, but
  /// not what is in their bodies.
  std::vector<uint32_t> body;
  std::vector<uint32_t> stacks; ///< of type scan_stack
};

struct Loops {
  static constexpr uint32_t none = ~0u;
  std::vector<Loop> all;       ///< in the order of their ends
  std::vector<uint32_t> owner; ///< by value: the innermost loop it depends on
};

/// The graph's loops. An error of kind unsupported, with the site of the
/// value concerned, when a value of a body is used outside of it, a carry is
/// not passed on, or two loops are not one in the other.
Result<Loops> loopsOf(const Graph &graph);

/// Whether the op is computed outside of the loop that it names: its end, and
/// what the end gives.
bool leavesLoop(OpId op);

/// The loop that a part names: its scan_index. Null when the first operand is
/// none.
const Node *loopIndexOf(const Node &part);

/// Which recorded values have one in each step of a loop.
class OpenLoops {
public:
  /// Whether the node is such a value; called in post-order.
  bool add(const Node &node);

private:
  /// The loops, by their indices, of those that are.
  std::unordered_map<const Node *, std::vector<const Node *>> loops;
};

/// The body of a recorded loop, in post-order.
struct RecordedBody {
  const Node *index = nullptr;
  /// Carries and slices among them, and all of loops in the loop.
  std::vector<NodeRef> nodes;
  std::vector<NodeRef> captures; ///< read in the body, computed outside
  /// Whether the node is a carry or a slice of the loop itself.
  bool isOwnPart(const Node &node) const;
  /// Whether a loop stands in it.
  bool holdsLoops() const;
  /// Whether a gradient may flow to something outside.
  bool requiresGrad() const;
};
RecordedBody bodyOf(const Node &end);

/// scan_carry and scan_slice. Whether a gradient flows through them is known at
/// the end: until then it does, where it can.
Result<NodeRef> beginCarry(const NodeRef &index, const NodeRef &init);
Result<NodeRef> beginSlice(const NodeRef &index, const NodeRef &xs);

/// Whether the rounds of a recorded loop end when a carry says so: its
/// scan_end's condition, or 0.
int64_t conditionOf(const Node &end);

/// What a loop is made of, once its body is recorded.
struct LoopParts {
  NodeRef index;
  int64_t condition = 0; ///< as of scan_end
  std::vector<NodeRef> carries;
  std::vector<NodeRef> nexts; ///< one per carry
  std::vector<NodeRef> ys;
};
struct LoopResults {
  NodeRef end;
  std::vector<NodeRef> lasts;  ///< one per carry
  std::vector<NodeRef> stacks; ///< one per y
};
Result<LoopResults> finishLoop(const LoopParts &parts);

} // namespace sinter::graph
