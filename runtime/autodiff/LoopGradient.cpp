/// The gradient of a loop: a loop in the other direction.
///
/// What the backward body reads of the forward one is stacked by the forward
/// loop, or computed again where that takes arithmetic on what is stacked
/// anyway. The gradient of what the body captures is a carry.
///
/// A branch of `cond` is a loop of at most one step: its backward loop has the
/// same condition, and computes all of the branch again. Gradients of what it
/// reads are carries then, which stay zero where the branch is not taken.
#include "runtime/autodiff/NodeMap.h"
#include "runtime/autodiff/Sweep.h"

#include "runtime/graph/Builders.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/OpIds.h"

namespace sinter::autodiff {

using graph::Node;
using graph::NodeRef;
using graph::OpId;
using graph::PatternKind;

static Result<NodeRef> zerosLike(const NodeRef &node) {
  return graph::zeros(node->dims(), node->dtype(), node->device());
}

namespace {

/// Brings values over the forward body into the backward one.
class Residuals {
public:
  Residuals(const LoopStep &loop, const NodeRef &index);

  /// Rewrites `roots`, which were recorded over both bodies.
  Status rewrite(std::vector<NodeRef> &roots);

private:
  bool isForward(const NodeRef &node) { return forward.find(node); }
  void collect(const NodeRef &root);
  void finish(const NodeRef &node);
  bool isCheap(const NodeRef &node);
  Result<NodeRef> fetch(const NodeRef &node);
  Result<NodeRef> cloneOver(const NodeRef &node);
  Status computeAgain();

  const LoopStep &loop;
  NodeRef index;
  bool isBranch;
  NodeMap<char> forward;      ///< the forward body
  NodeMap<bool> seen;         ///< by node: computed from the forward body
  NodeMap<char> needed;       ///< of the forward body: read by the backward one
  NodeMap<bool> cheap;        ///< by node: whether it is computed again
  NodeMap<NodeRef> replaced;  ///< by node: what stands for it
  std::vector<NodeRef> order; ///< recorded ops that read the forward body
};

} // namespace

Residuals::Residuals(const LoopStep &loop, const NodeRef &index)
    : loop(loop), index(index), isBranch(graph::conditionOf(*loop.end) != 0) {
  for (const NodeRef &node : loop.body.nodes)
    forward.add(node, 0);
}

/// In post-order; the walk ends at the forward body and at other loops.
void Residuals::collect(const NodeRef &root) {
  auto isOpen = [this](const NodeRef &node) {
    return !node->isLeaf() && !node->isReady() && !isForward(node) &&
           graph::info(node->op()).kind != PatternKind::loop;
  };
  std::vector<std::pair<NodeRef, size_t>> stack;
  if (!seen.find(root))
    stack.push_back({root, 0});
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    if (isOpen(node) && next < node->operands().size()) {
      const NodeRef &operand = node->operands()[next++];
      if (!seen.find(operand))
        stack.push_back({operand, 0});
      continue;
    }
    NodeRef done = node;
    stack.pop_back();
    if (!seen.find(done))
      finish(done);
  }
}

void Residuals::finish(const NodeRef &node) {
  bool reads = isForward(node);
  if (reads) {
    needed.add(node, 0);
  } else if (!node->isLeaf() && !node->isReady() &&
             graph::info(node->op()).kind != PatternKind::loop) {
    for (const NodeRef &operand : node->operands())
      reads |= *seen.find(operand);
    if (reads)
      order.push_back(node);
  }
  seen.add(node, reads);
}

/// Whether a forward value is arithmetic on what there is in the backward body
/// in any case. Called for operands first.
bool Residuals::isCheap(const NodeRef &node) {
  PatternKind kind = graph::info(node->op()).kind;
  if (node->op() == OpId::scan_slice)
    return true; // of a tensor that exists
  if (isBranch)
    return true;
  if (kind != PatternKind::pointwise && kind != PatternKind::view)
    return false;
  for (const NodeRef &operand : node->operands())
    if (isForward(operand) && !*cheap.find(operand) && !needed.find(operand))
      return false;
  return true;
}

Result<NodeRef> Residuals::cloneOver(const NodeRef &node) {
  ScopeOf scope(*node);
  std::vector<NodeRef> operands;
  for (const NodeRef &operand : node->operands()) {
    if (isForward(operand)) {
      SINTER_TRY_ASSIGN(NodeRef there, fetch(operand));
      operands.push_back(std::move(there));
    } else {
      NodeRef *there = replaced.find(operand);
      operands.push_back(there ? *there : operand);
    }
  }
  SINTER_TRY_ASSIGN(
      NodeRef clone,
      graph::buildOp(node->op(), operands, node->attrs(), node->device()));
  if (graph::NodeNotes *notes = node->notes(); notes && notes->customRule)
    clone->addNotes().takeRule(*notes);
  return clone;
}

/// The value of the forward body's `node` in the same step.
Result<NodeRef> Residuals::fetch(const NodeRef &node) {
  if (NodeRef *known = replaced.find(node))
    return *known;
  NodeRef value;
  if (node->op() == OpId::scan_slice) {
    SINTER_TRY_ASSIGN(value, graph::beginSlice(index, node->operands()[1]));
  } else if (isBranch && node->op() == OpId::scan_carry) {
    value = node->operands()[1]; // there is no other step
  } else if (*cheap.find(node)) {
    SINTER_TRY_ASSIGN(value, cloneOver(node));
  } else {
    SINTER_TRY_ASSIGN(NodeRef stack, graph::scan_stack(loop.end, node));
    SINTER_TRY_ASSIGN(value, graph::beginSlice(index, stack));
  }
  return replaced.add(node, std::move(value));
}

/// Of a branch: what is needed, operands first.
Status Residuals::computeAgain() {
  const std::vector<NodeRef> &nodes = loop.body.nodes;
  for (size_t i = nodes.size(); i-- > 0;)
    if (needed.find(nodes[i]) &&
        graph::info(nodes[i]->op()).kind != PatternKind::loop)
      for (const NodeRef &operand : nodes[i]->operands())
        if (isForward(operand) && !needed.find(operand))
          needed.add(operand, 0);
  for (const NodeRef &node : nodes)
    if (needed.find(node))
      SINTER_TRY(fetch(node));
  return {};
}

Status Residuals::rewrite(std::vector<NodeRef> &roots) {
  for (const NodeRef &root : roots)
    collect(root);
  for (const NodeRef &node : loop.body.nodes)
    cheap.add(node, isCheap(node));
  if (isBranch)
    SINTER_TRY(computeAgain());
  for (const NodeRef &node : order) {
    SINTER_TRY_ASSIGN(NodeRef clone, cloneOver(node));
    replaced.add(node, std::move(clone));
  }
  for (NodeRef &root : roots) {
    if (isForward(root)) {
      SINTER_TRY_ASSIGN(root, fetch(root));
    } else if (NodeRef *there = replaced.find(root)) {
      root = *there;
    }
  }
  return {};
}

namespace {

/// Records the backward loop of one forward loop.
class BackwardLoop {
public:
  BackwardLoop(const LoopStep &loop, std::span<const bool> needs)
      : loop(loop), needs(needs) {}

  Result<std::vector<NodeRef>> record();

private:
  Status begin();
  Status seedCarries();
  Status seedStacks();
  Status beginSum(const NodeRef &of);
  Status beginSums();
  Status sweepBody();
  Status finish();
  Status addTo(NodeRef &sum, const NodeRef &gradient);

  /// A carry of the backward loop: of a carry's gradient, or a sum over steps.
  struct Carry {
    NodeRef of; ///< the forward body's carry, or the capture
    NodeRef carry;
    NodeRef next;
  };
  const LoopStep &loop;
  std::span<const bool> needs;
  NodeRef index;
  NodeRef flag; ///< of a branch: the carry that says whether it is taken
  std::vector<Carry> carries, sums;
  std::vector<NodeRef> slices; ///< forward slices that want a gradient
  std::vector<NodeRef> sliceGradients;
  std::vector<Seed> seeds;
  std::vector<NodeRef> results; ///< per external
};

} // namespace

static std::pair<NodeRef, NodeRef> carryOf(const Node &end, size_t i) {
  return {end.operands()[1 + 2 * i], end.operands()[2 + 2 * i]};
}
static size_t carryCount(const Node &end) { return end.attrs()[0]; }

Status BackwardLoop::addTo(NodeRef &sum, const NodeRef &gradient) {
  if (!sum) {
    sum = gradient;
    return {};
  }
  SINTER_TRY_ASSIGN(sum, graph::add(sum, gradient));
  return {};
}

Status BackwardLoop::begin() {
  auto refuse = [this](const char *message) {
    ErrorInfo error = makeError(ErrorKind::unsupported, message, "scan");
    error.site = loop.end->site();
    return error;
  };
  if (loop.body.holdsLoops())
    return refuse("scan: a loop in a loop has no gradient");
  const Node &forward = *graph::loopIndexOf(*loop.end);
  bool isReverse = forward.attrs().back() != 0;
  SINTER_TRY_ASSIGN(index, graph::scan_index(forward.dims()[0], !isReverse,
                                             forward.device()));
  int64_t condition = graph::conditionOf(*loop.end);
  if (condition == 0)
    return {};
  Dim most = forward.dims()[0];
  if (!most.isConstant() || most.value > 1)
    return refuse("while_loop: it has no gradient, as nothing says how many "
                  "rounds it makes; a scan has one");
  auto [carry, next] = carryOf(*loop.end, size_t(std::abs(condition)) - 1);
  SINTER_TRY_ASSIGN(flag, graph::beginCarry(index, carry->operands()[1]));
  return {};
}

/// The gradient of what a step passes on is a carry; it starts with that of the
/// last value.
Status BackwardLoop::seedCarries() {
  for (size_t i = 0; i < carryCount(*loop.end); ++i) {
    auto [carry, next] = carryOf(*loop.end, i);
    if (!isFloat(carry->dtype()))
      continue;
    NodeRef first;
    for (const LoopStep::Arrived &each : loop.arrived)
      if (!each.isStacked && each.value == carry)
        SINTER_TRY(addTo(first, each.gradient));
    if (!first) {
      SINTER_TRY_ASSIGN(first, zerosLike(carry));
    }
    SINTER_TRY_ASSIGN(NodeRef passed, graph::beginCarry(index, first));
    seeds.push_back({next, passed});
    carries.push_back({carry, passed, {}});
  }
  return {};
}

Status BackwardLoop::seedStacks() {
  for (const LoopStep::Arrived &each : loop.arrived) {
    if (!each.isStacked)
      continue;
    SINTER_TRY_ASSIGN(NodeRef gradient,
                      graph::beginSlice(index, each.gradient));
    seeds.push_back({each.value, gradient});
  }
  return {};
}

Status BackwardLoop::beginSum(const NodeRef &of) {
  SINTER_TRY_ASSIGN(NodeRef zeros, zerosLike(of));
  SINTER_TRY_ASSIGN(NodeRef sum, graph::beginCarry(index, zeros));
  sums.push_back({of, sum, {}});
  return {};
}

/// Gradients of captures add up from step to step, those of slices are stacked;
/// a branch has them in one step or none.
Status BackwardLoop::beginSums() {
  for (const NodeRef &capture : loop.body.captures) {
    size_t external = 0;
    while (loop.externals[external] != capture)
      ++external;
    if (!needs[external])
      continue;
    SINTER_TRY(beginSum(capture));
  }
  for (const NodeRef &node : loop.body.nodes)
    for (size_t i = 0; i < loop.externals.size(); ++i)
      if (node->op() == OpId::scan_slice && needs[i] &&
          loop.externals[i] == node->operands()[1]) {
        if (flag)
          SINTER_TRY(beginSum(node));
        else
          slices.push_back(node);
      }
  return {};
}

Status BackwardLoop::sweepBody() {
  std::vector<NodeRef> targets;
  std::vector<Seed> initial;
  for (const Carry &each : carries)
    targets.push_back(each.of);
  for (const Carry &each : sums) {
    targets.push_back(each.of);
    initial.push_back({each.of, each.carry});
  }
  targets.insert(targets.end(), slices.begin(), slices.end());
  if (targets.empty())
    return {};
  Sweep sweep(targets, nullptr, true);
  SINTER_TRY(sweep.run(seeds, initial));
  for (Carry &each : carries) {
    each.next = sweep.gradientAt(each.of);
    if (!each.next) {
      SINTER_TRY_ASSIGN(each.next, zerosLike(each.of));
    }
  }
  for (Carry &each : sums)
    each.next = sweep.gradientAt(each.of);
  std::erase_if(sums, [](const Carry &each) {
    return !each.next || each.next == each.carry;
  });
  for (const NodeRef &slice : slices)
    sliceGradients.push_back(sweep.gradientAt(slice));
  return {};
}

Status BackwardLoop::finish() {
  graph::LoopParts parts;
  parts.index = index;
  std::vector<NodeRef> values;
  for (auto *list : {&carries, &sums})
    for (Carry &each : *list) {
      parts.carries.push_back(each.carry);
      values.push_back(each.next);
    }
  for (const NodeRef &gradient : sliceGradients)
    if (gradient)
      values.push_back(gradient);
  SINTER_TRY(Residuals(loop, index).rewrite(values));
  if (flag) {
    parts.carries.push_back(flag);
    values.insert(values.begin() + ptrdiff_t(parts.carries.size()) - 1, flag);
    auto number = int64_t(parts.carries.size());
    parts.condition = graph::conditionOf(*loop.end) > 0 ? number : -number;
  }
  size_t numCarries = parts.carries.size();
  parts.nexts.assign(values.begin(), values.begin() + numCarries);
  parts.ys.assign(values.begin() + numCarries, values.end());
  SINTER_TRY_ASSIGN(graph::LoopResults found, graph::finishLoop(parts));
  auto give = [&](const NodeRef &external, const NodeRef &gradient) -> Status {
    for (size_t i = 0; i < loop.externals.size(); ++i)
      if (loop.externals[i] == external && needs[i])
        return addTo(results[i], gradient);
    return {};
  };
  for (size_t i = 0; i < carries.size(); ++i)
    SINTER_TRY(give(carries[i].of->operands()[1], found.lasts[i]));
  for (size_t i = 0; i < sums.size(); ++i) {
    NodeRef external = sums[i].of, sum = found.lasts[carries.size() + i];
    if (external->op() == OpId::scan_slice && flag) {
      external = external->operands()[1];
      SINTER_TRY_ASSIGN(sum, graph::reshape(sum, external->dims()));
    }
    SINTER_TRY(give(external, sum));
  }
  size_t stack = 0;
  for (size_t i = 0; i < slices.size(); ++i)
    if (sliceGradients[i])
      SINTER_TRY(give(slices[i]->operands()[1], found.stacks[stack++]));
  return {};
}

Result<std::vector<NodeRef>> BackwardLoop::record() {
  results.resize(loop.externals.size());
  SINTER_TRY(begin());
  SINTER_TRY(seedCarries());
  SINTER_TRY(seedStacks());
  SINTER_TRY(beginSums());
  SINTER_TRY(sweepBody());
  SINTER_TRY(finish());
  return std::move(results);
}

Result<std::vector<NodeRef>> loopGradients(const LoopStep &loop,
                                           std::span<const bool> needs) {
  return BackwardLoop(loop, needs).record();
}

} // namespace sinter::autodiff
