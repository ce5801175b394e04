/// Finds the bodies of loops, in graphs and among recorded nodes.
#include "runtime/graph/Loops.h"

#include "runtime/graph/Builders.h"
#include "runtime/graph/NodeNumbers.h"
#include "runtime/graph/OpIds.h"

#include <string>
#include <utility>

namespace sinter::graph {

namespace {

/// Finds the loops of one graph.
class LoopFinder {
public:
  explicit LoopFinder(const Graph &graph) : graph(graph) {}

  Result<Loops> run();

private:
  ErrorInfo error(uint32_t number, const char *what) const;
  Status addLoops();
  Status setOwner(uint32_t number);
  Status addPart(uint32_t number);
  Status check() const;
  uint32_t loopOf(uint32_t token) const {
    return token < byToken.size() ? byToken[token] : Loops::none;
  }

  const Graph &graph;
  Loops loops;
  std::vector<uint32_t> byToken; ///< by value: the loop of an index or an end
};

} // namespace

ErrorInfo LoopFinder::error(uint32_t number, const char *what) const {
  std::string op(info(graph.values[number].op).name);
  ErrorInfo error = makeError(ErrorKind::unsupported, op + ": " + what, op);
  if (number < graph.sites.size())
    error.site = graph.sites[number];
  return error;
}

/// An index and its end name each other.
Status LoopFinder::addLoops() {
  byToken.assign(graph.values.size(), Loops::none);
  for (uint32_t i = 0; i < graph.values.size(); ++i) {
    const Value &value = graph.values[i];
    if (value.op != OpId::scan_end)
      continue;
    uint32_t index = value.operands[0];
    if (graph.values[index].op != OpId::scan_index ||
        byToken[index] != Loops::none)
      return error(i, "does not end a loop of its own");
    Loop loop;
    loop.index = index;
    loop.end = i;
    loop.reverse = graph.values[index].attrs.back() != 0;
    loop.condition = int64_t(value.attrs[1]);
    for (size_t k = 1; k < 1 + 2 * value.attrs[0]; k += 2)
      loop.carries.push_back({value.operands[k], value.operands[k + 1]});
    byToken[index] = byToken[i] = uint32_t(loops.all.size());
    loops.all.push_back(std::move(loop));
  }
  return {};
}

/// Carries, slices, ends and results: what names its loop.
Status LoopFinder::addPart(uint32_t number) {
  const Value &value = graph.values[number];
  uint32_t loop = loopOf(value.operands[0]);
  bool isInside = !leavesLoop(value.op);
  OpId token = isInside ? OpId::scan_index : OpId::scan_end;
  if (loop == Loops::none || (value.op != OpId::scan_end &&
                              graph.values[value.operands[0]].op != token))
    return error(number, "the first operand is no loop, or one without end");
  for (size_t k = 1; k < value.operands.size(); ++k) {
    uint32_t owner = loops.owner[value.operands[k]];
    if (owner != Loops::none && (isInside || owner != loop))
      return error(number, isInside ? "a loop in a loop is not supported"
                                    : "a value of another loop's body");
  }
  if (isInside)
    loops.owner[number] = loop;
  if (value.op != OpId::scan_stack)
    return {};
  if (loops.all[loop].condition != 0)
    return error(number, "a loop with a condition keeps nothing of its steps");
  loops.all[loop].stacks.push_back(number);
  return {};
}

Status LoopFinder::setOwner(uint32_t number) {
  const Value &value = graph.values[number];
  if (value.op == OpId::scan_index || value.op == leafOp)
    return {};
  if (info(value.op).kind == PatternKind::loop)
    return addPart(number);
  for (uint32_t operand : value.operands) {
    uint32_t owner = loops.owner[operand];
    if (owner == Loops::none)
      continue;
    if (loops.owner[number] != Loops::none && loops.owner[number] != owner)
      return error(number, "it mixes values of two loops' bodies; a loop in a "
                           "loop is not supported");
    loops.owner[number] = owner;
  }
  return {};
}

Status LoopFinder::check() const {
  for (uint32_t output : graph.outputs)
    if (loops.owner[output] != Loops::none)
      return error(output, "a value of a scan's body has no value outside of "
                           "it; return it from the body");
  for (uint32_t i = 0; i < loops.all.size(); ++i)
    for (const Loop::Carry &each : loops.all[i].carries)
      if (graph.values[each.carry].op != OpId::scan_carry ||
          loops.owner[each.carry] != i)
        return error(loops.all[i].end, "what it passes on is no carry of it");
  std::vector<uint8_t> isPassedOn(graph.values.size(), 0);
  for (const Loop &loop : loops.all)
    for (const Loop::Carry &each : loop.carries)
      isPassedOn[each.carry] = 1;
  for (uint32_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].op == OpId::scan_carry && !isPassedOn[i])
      return error(i, "the loop's end does not pass it on");
  return {};
}

Result<Loops> LoopFinder::run() {
  loops.owner.assign(graph.values.size(), Loops::none);
  SINTER_TRY(addLoops());
  for (uint32_t i = 0; i < graph.values.size(); ++i)
    SINTER_TRY(setOwner(i));
  SINTER_TRY(check());
  for (uint32_t i = 0; i < graph.values.size(); ++i)
    if (loops.owner[i] != Loops::none)
      loops.all[loops.owner[i]].body.push_back(i);
  return std::move(loops);
}

bool leavesLoop(OpId op) {
  return op == OpId::scan_end || op == OpId::scan_last ||
         op == OpId::scan_stack;
}

Result<Loops> loopsOf(const Graph &graph) {
  for (const Value &value : graph.values)
    if (value.op != leafOp && info(value.op).kind == PatternKind::loop)
      return LoopFinder(graph).run();
  Loops nothing;
  nothing.owner.assign(graph.values.size(), Loops::none);
  return nothing;
}

//===- Recorded loops -----------------------------------------------------===//

const Node *loopIndexOf(const Node &part) {
  const Node *node = &part;
  while (node && node->op() != OpId::scan_index) {
    bool isPart = !node->isLeaf() && info(node->op()).kind == PatternKind::loop;
    node = isPart && !node->operands().empty() ? node->operands()[0].get()
                                               : nullptr;
  }
  return node;
}

namespace {

/// Walks below a loop's end, as far as values may depend on its index.
class BodyWalk {
public:
  explicit BodyWalk(const Node *index) : index(index) {}

  /// In post-order, without recursion.
  void visit(const NodeRef &root);
  RecordedBody takeBody();

private:
  /// Whether the walk goes below the node.
  bool isOpen(const Node &node) const {
    return !node.isLeaf() && !node.isReady() && node.op() != OpId::scan_index;
  }
  void finish(const NodeRef &node);

  const Node *index;
  NodeNumbers numbers;
  std::vector<NodeRef> order;
  std::vector<uint8_t> isInside;
};

} // namespace

void BodyWalk::finish(const NodeRef &node) {
  bool inside = false;
  bool isPart = !node->isLeaf() && info(node->op()).kind == PatternKind::loop;
  if (isPart && !leavesLoop(node->op()))
    inside = node.get() != index && loopIndexOf(*node) == index;
  else if (!isPart && isOpen(*node))
    for (const NodeRef &operand : node->operands())
      inside |= isInside[*numbers.find(operand.get())] != 0;
  numbers.insert(node.get(), uint32_t(order.size()));
  order.push_back(node);
  isInside.push_back(inside);
}

void BodyWalk::visit(const NodeRef &root) {
  std::vector<std::pair<NodeRef, size_t>> stack;
  if (!numbers.find(root.get()))
    stack.push_back({root, 0});
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    if (isOpen(*node) && next < node->operands().size()) {
      const NodeRef &operand = node->operands()[next++];
      if (!numbers.find(operand.get()))
        stack.push_back({operand, 0});
      continue;
    }
    NodeRef done = node;
    stack.pop_back();
    if (!numbers.find(done.get()))
      finish(done);
  }
}

RecordedBody BodyWalk::takeBody() {
  RecordedBody body;
  NodeNumbers seen;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!isInside[i])
      continue;
    body.nodes.push_back(order[i]);
    if (info(order[i]->op()).kind == PatternKind::loop)
      continue;
    for (const NodeRef &operand : order[i]->operands())
      if (!isInside[*numbers.find(operand.get())] &&
          !seen.find(operand.get())) {
        seen.insert(operand.get(), 0);
        body.captures.push_back(operand);
      }
  }
  return body;
}

RecordedBody bodyOf(const Node &end) {
  BodyWalk walk(loopIndexOf(end));
  for (const NodeRef &operand : end.operands())
    walk.visit(operand);
  return walk.takeBody();
}

bool RecordedBody::requiresGrad() const {
  for (const NodeRef &capture : captures)
    if (capture->requiresGrad() && isFloat(capture->dtype()))
      return true;
  for (const NodeRef &node : nodes)
    if (info(node->op()).kind == PatternKind::loop &&
        node->operands()[1]->requiresGrad())
      return true;
  return false;
}

//===- Recording ----------------------------------------------------------===//

static Result<NodeRef> begin(Result<NodeRef> part) {
  if (part)
    NodeFactory::setRequiresGrad(*part, recordScope().gradEnabled &&
                                            isFloat((*part)->dtype()));
  return part;
}

Result<NodeRef> beginCarry(const NodeRef &index, const NodeRef &init) {
  return begin(scan_carry(index, init));
}

Result<NodeRef> beginSlice(const NodeRef &index, const NodeRef &xs) {
  return begin(scan_slice(index, xs));
}

int64_t conditionOf(const Node &end) { return int64_t(end.attrs()[1]); }

Result<LoopResults> finishLoop(const LoopParts &parts) {
  std::vector<NodeRef> operands{parts.index};
  for (size_t i = 0; i < parts.carries.size(); ++i) {
    operands.push_back(parts.carries[i]);
    operands.push_back(parts.nexts[i]);
  }
  operands.insert(operands.end(), parts.ys.begin(), parts.ys.end());
  LoopResults results;
  SINTER_TRY_ASSIGN(
      results.end,
      scan_end(operands, int64_t(parts.carries.size()), parts.condition));
  bool requiresGrad =
      recordScope().gradEnabled && bodyOf(*results.end).requiresGrad();
  NodeFactory::setRequiresGrad(results.end, requiresGrad);
  for (const NodeRef &carry : parts.carries) {
    SINTER_TRY_ASSIGN(NodeRef last, scan_last(results.end, carry));
    results.lasts.push_back(std::move(last));
  }
  for (const NodeRef &y : parts.ys) {
    SINTER_TRY_ASSIGN(NodeRef stack, scan_stack(results.end, y));
    results.stacks.push_back(std::move(stack));
  }
  for (auto *list : {&results.lasts, &results.stacks})
    for (const NodeRef &result : *list)
      NodeFactory::setRequiresGrad(result,
                                   requiresGrad && isFloat(result->dtype()));
  return results;
}

} // namespace sinter::graph
