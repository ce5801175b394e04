/// Records regions once more, without recursion over their nodes.
#include "runtime/autodiff/Replicas.h"

#include "runtime/autodiff/Sweep.h"
#include "runtime/graph/Builders.h"

namespace sinter::autodiff {

using graph::Node;
using graph::NodeRef;

static const Replicas::Region *closed(const Replicas::Region *region) {
  while (region && region->isOpen.load(std::memory_order_acquire))
    region = region->outer.get();
  return region;
}

const Replicas::Region *Replicas::regionOf(const Node &node) {
  const graph::NodeNotes *notes = node.notes();
  return notes ? closed(notes->region.get()) : nullptr;
}

void Replicas::arrive(const Region &region, const NodeRef &gradient) {
  for (const Region *each = &region; each; each = closed(each->outer.get()))
    if (NodeRef &token = recordings[each].token; !token)
      token = gradient;
}

static bool isInside(const Node &node, const Replicas::Region &region) {
  for (auto *each = Replicas::regionOf(node); each;
       each = closed(each->outer.get()))
    if (each == &region)
      return true;
  return false;
}

static bool isKept(const Node &node) {
  return node.isLeaf() || node.operands().empty() || node.isReady() ||
         graph::info(node.op()).kind == graph::PatternKind::loop;
}

/// Read as it is by every replica: there anyway, or nothing to keep. Rewrites
/// look for such values.
static bool isShared(const Node &node) {
  if (node.isLeaf())
    return node.cellId() != 0 || node.leafKind() == graph::InputKind::scalar;
  return node.operands().empty() && !node.isReady();
}

/// `value`, which is there anyway, for use after the token.
static Result<NodeRef> afterToken(const NodeRef &value, const NodeRef &token) {
  ScopeOf scope(*value);
  graph::recordScope().gradEnabled = true;
  return graph::after(value, token);
}

Result<NodeRef> Replicas::fromOutside(const Region &region,
                                      const NodeRef &node) {
  if (isShared(*node))
    return node;
  NodeRef value = node;
  if (const Region *outer = closed(region.outer.get())) {
    SINTER_TRY_ASSIGN(value, valueIn(*outer, node));
  }
  return afterToken(value, recordings[&region].token);
}

/// The op on replicas of its operands.
Result<NodeRef> Replicas::again(Recording &recording, const NodeRef &node) {
  std::vector<NodeRef> operands;
  bool isMoved = false;
  for (const NodeRef &operand : node->operands()) {
    operands.push_back(*recording.values.find(operand));
    isMoved |= operands.back() != operand;
  }
  // What is made of parameters and numbers alone is shared, too, but for what
  // is drawn: it is as large as what it is used for.
  bool isDrawn = graph::info(node->op()).kind == graph::PatternKind::random;
  if (!isMoved && !isDrawn)
    return node;
  if (!isMoved) {
    SINTER_TRY_ASSIGN(operands.back(),
                      afterToken(operands.back(), recording.token));
  }
  ScopeOf scope(*node);
  SINTER_TRY_ASSIGN(
      NodeRef clone,
      graph::buildOp(node->op(), operands, node->attrs(), node->device()));
  graph::NodeFactory::setRequiresGrad(clone, node->requiresGrad());
  if (graph::NodeNotes *notes = node->notes(); notes && notes->customRule)
    clone->addNotes().takeRule(*notes);
  return clone;
}

Result<NodeRef> Replicas::valueIn(const Region &region, const NodeRef &root) {
  Recording &recording = recordings[&region];
  std::vector<NodeRef> stack{root};
  while (!stack.empty()) {
    NodeRef node = stack.back();
    if (recording.values.find(node)) {
      stack.pop_back();
      continue;
    }
    NodeRef value;
    if (!isInside(*node, region) || isKept(*node)) {
      SINTER_TRY_ASSIGN(value, fromOutside(region, node));
    } else {
      size_t waiting = stack.size();
      for (const NodeRef &operand : node->operands())
        if (!recording.values.find(operand))
          stack.push_back(operand);
      if (stack.size() > waiting)
        continue;
      SINTER_TRY_ASSIGN(value, again(recording, node));
    }
    recording.kept.push_back(node);
    recording.values.add(node, std::move(value));
    stack.pop_back();
  }
  return *recording.values.find(root);
}

} // namespace sinter::autodiff
