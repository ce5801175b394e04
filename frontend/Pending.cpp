/// Eager evaluation, and the flush that a full backlog causes.
#include "frontend/Pending.h"

#include "frontend/Capture.h"
#include "frontend/Flush.h"
#include "frontend/Initialize.h"
#include "frontend/ScanBodies.h"
#include "runtime/graph/NodeNumbers.h"
#include "runtime/support/Flags.h"

#include <vector>

namespace sinter::detail {

using graph::Node;
using graph::NodeRef;

constinit static PendingLimits limits;

PendingLimits &pendingLimits() { return limits; }

/// Whether the pending ops below `root` exceed the limits.
static bool exceedsLimits(const NodeRef &root) {
  HistoryLock lock(root);
  graph::NodeNumbers seen;
  std::vector<const Node *> stack{root.get()};
  size_t nodes = 0, bytes = 0;
  while (!stack.empty()) {
    const Node *node = stack.back();
    stack.pop_back();
    if (node->isLeaf() || node->isReady() || seen.find(node))
      continue;
    seen.insert(node, 0);
    bytes += node->elements() * byteWidth(node->dtype());
    if (++nodes > limits.nodes || bytes > limits.bytes)
      return true;
    for (const NodeRef &operand : node->operands())
      stack.push_back(operand.get());
  }
  return false;
}

void noteRecorded(const Tensor &tensor, const SourceLine &where) {
  if (recordsScanBody() || Capture::current()) [[unlikely]]
    return; // the loop, and the function's result, are evaluated as a whole
  static const bool evaluatesEagerly = flags().eager;
  if (evaluatesEagerly && !holdsHistory()) [[unlikely]] {
    NodeRef node = tensor.node();
    evaluate({&node, 1}, FlushReason::eval, where);
    return;
  }
  // Looking at what is pending costs as much as recording it did: rarely.
  __attribute__((
      tls_model("initial-exec"))) static thread_local size_t recorded = 0;
  if (++recorded < limits.nodes || holdsHistory()) [[likely]]
    return;
  recorded = 0;
  NodeRef node = tensor.node();
  if (exceedsLimits(node))
    evaluate({&node, 1}, FlushReason::limit, where);
}

} // namespace sinter::detail
