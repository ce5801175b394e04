/// Finds the bodies of loops, in graphs and among recorded nodes.
#include "runtime/graph/Loops.h"

#include "runtime/graph/Builders.h"
#include "runtime/graph/NodeNumbers.h"
#include "runtime/graph/OpIds.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sinter::graph {

namespace {

/// Loops that a value depends on, and in whose bodies it is therefore.
using LoopSet = std::vector<uint32_t>;

void unite(LoopSet &to, const LoopSet &from) {
  for (uint32_t each : from)
    if (std::ranges::find(to, each) == to.end())
      to.push_back(each);
}

/// Loops in loops in loops.
constexpr size_t mostNested = 16;

/// Finds the loops of one graph.
class LoopFinder {
public:
  explicit LoopFinder(const Graph &graph) : graph(graph) {}

  Result<Loops> run();

private:
  ErrorInfo error(uint32_t number, const char *what) const;
  Status addLoops();
  Status addDependencies(uint32_t number);
  Status addPart(uint32_t number);
  Status closeAncestors();
  Result<uint32_t> innermost(uint32_t number, const LoopSet &set) const;
  Status check() const;
  uint32_t loopOf(uint32_t token) const {
    return token < byToken.size() ? byToken[token] : Loops::none;
  }

  const Graph &graph;
  Loops loops;
  std::vector<uint32_t> byToken; ///< by value: the loop of an index or an end
  std::vector<LoopSet> depends;  ///< by value
  std::vector<LoopSet> around;   ///< by loop: those that it stands in
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
  around.resize(loops.all.size());
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
  LoopSet &own = depends[number];
  for (uint32_t operand : value.operands)
    unite(own, depends[operand]);
  bool dependsOnOwn = std::erase(own, loop) > 0;
  if (isInside) {
    own.push_back(loop);
    return dependsOnOwn ? Status(error(number, "it begins with a value of its "
                                               "own loop"))
                        : Status();
  }
  unite(around[loop], own);
  if (value.op != OpId::scan_stack)
    return {};
  if (loops.all[loop].condition != 0)
    return error(number, "a loop with a condition keeps nothing of its steps");
  loops.all[loop].stacks.push_back(number);
  return {};
}

Status LoopFinder::addDependencies(uint32_t number) {
  const Value &value = graph.values[number];
  if (value.op == OpId::scan_index || value.op == leafOp)
    return {};
  if (info(value.op).kind == PatternKind::loop)
    SINTER_TRY(addPart(number));
  else
    for (uint32_t operand : value.operands)
      unite(depends[number], depends[operand]);
  if (depends[number].size() > mostNested)
    return error(number, "it is in the bodies of too many loops");
  return {};
}

/// A loop stands in all that those stand in that it stands in.
Status LoopFinder::closeAncestors() {
  for (size_t round = 0; round <= mostNested; ++round) {
    bool grew = false;
    for (LoopSet &set : around) {
      LoopSet all = set;
      for (uint32_t each : set)
        unite(all, around[each]);
      grew |= all.size() > set.size();
      set = std::move(all);
    }
    if (!grew)
      break;
  }
  for (uint32_t i = 0; i < around.size(); ++i) {
    uint32_t end = loops.all[i].end;
    if (around[i].size() > mostNested || std::ranges::count(around[i], i) != 0)
      return error(end, "two loops are each in the other");
    SINTER_TRY_ASSIGN(loops.all[i].parent, innermost(end, around[i]));
  }
  return {};
}

/// The one of the loops that stands in all others.
Result<uint32_t> LoopFinder::innermost(uint32_t number,
                                       const LoopSet &set) const {
  for (uint32_t candidate : set) {
    auto holds = [&](uint32_t other) {
      return other == candidate ||
             std::ranges::find(around[candidate], other) !=
                 around[candidate].end();
    };
    if (std::ranges::all_of(set, holds))
      return candidate;
  }
  if (set.empty())
    return Loops::none;
  return error(number, "it mixes values of two loops' bodies, neither of "
                       "which is in the other");
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
  depends.resize(graph.values.size());
  SINTER_TRY(addLoops());
  for (uint32_t i = 0; i < graph.values.size(); ++i)
    SINTER_TRY(addDependencies(i));
  SINTER_TRY(closeAncestors());
  for (uint32_t i = 0; i < graph.values.size(); ++i) {
    SINTER_TRY_ASSIGN(loops.owner[i], innermost(i, depends[i]));
    if (loops.owner[i] != Loops::none)
      loops.all[loops.owner[i]].body.push_back(i);
  }
  SINTER_TRY(check());
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
  using Indices = std::vector<const Node *>;

  /// Whether the walk goes below the node.
  bool isOpen(const Node &node) const {
    return !node.isLeaf() && !node.isReady() && node.op() != OpId::scan_index;
  }
  void finish(const NodeRef &node);
  void findInnerLoops();
  bool isInside(size_t number) const;

  const Node *index;
  NodeNumbers numbers;
  std::vector<NodeRef> order;
  std::vector<Indices> depends; ///< by number: loops, by their indices
  std::vector<std::pair<const Node *, Indices>> ends; ///< of other loops
  Indices bodies; ///< the loop, and those that stand in it
};

void unite(std::vector<const Node *> &to,
           const std::vector<const Node *> &from) {
  for (const Node *each : from)
    if (std::ranges::find(to, each) == to.end())
      to.push_back(each);
}

bool isLoopPart(const Node &node) {
  return !node.isLeaf() && info(node.op()).kind == PatternKind::loop;
}

} // namespace

bool OpenLoops::add(const Node &node) {
  bool isPart = isLoopPart(node);
  if (loops.empty() && !isPart)
    return false;
  std::vector<const Node *> own;
  for (const NodeRef &operand : node.operands())
    if (auto known = loops.find(operand.get()); known != loops.end())
      unite(own, known->second);
  if (isPart && node.op() != OpId::scan_index) {
    const Node *loop = loopIndexOf(node);
    std::erase(own, loop);
    if (!leavesLoop(node.op()))
      own.push_back(loop);
  }
  if (own.empty())
    return false;
  loops.emplace(&node, std::move(own));
  return true;
}

void BodyWalk::finish(const NodeRef &node) {
  Indices own;
  if (isOpen(*node)) {
    for (const NodeRef &operand : node->operands())
      unite(own, depends[*numbers.find(operand.get())]);
    if (isLoopPart(*node)) {
      const Node *loop = loopIndexOf(*node);
      std::erase(own, loop);
      if (!leavesLoop(node->op()))
        own.push_back(loop);
      else if (!own.empty())
        ends.push_back({loop, own});
    }
  }
  numbers.insert(node.get(), uint32_t(order.size()));
  order.push_back(node);
  depends.push_back(std::move(own));
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

/// A loop that depends on another one in the body is in the body, too.
void BodyWalk::findInnerLoops() {
  bodies = {index};
  for (size_t before = 0; before < bodies.size();) {
    before = bodies.size();
    for (const auto &[loop, around] : ends)
      for (const Node *each : around)
        if (std::ranges::find(bodies, each) != bodies.end())
          unite(bodies, {loop});
  }
}

bool BodyWalk::isInside(size_t number) const {
  return std::ranges::any_of(depends[number], [&](const Node *each) {
    return std::ranges::find(bodies, each) != bodies.end();
  });
}

RecordedBody BodyWalk::takeBody() {
  findInnerLoops();
  RecordedBody body;
  body.index = index;
  NodeNumbers seen;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!isInside(i))
      continue;
    body.nodes.push_back(order[i]);
    if (body.isOwnPart(*order[i]))
      continue;
    for (const NodeRef &operand : order[i]->operands())
      if (operand->op() != OpId::scan_index &&
          !isInside(*numbers.find(operand.get())) &&
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

bool RecordedBody::isOwnPart(const Node &node) const {
  return isLoopPart(node) && !leavesLoop(node.op()) &&
         loopIndexOf(node) == index;
}

bool RecordedBody::holdsLoops() const {
  return std::ranges::any_of(nodes, [&](const NodeRef &node) {
    return isLoopPart(*node) && !isOwnPart(*node);
  });
}

bool RecordedBody::requiresGrad() const {
  for (const NodeRef &capture : captures)
    if (capture->requiresGrad() && isFloat(capture->dtype()))
      return true;
  for (const NodeRef &node : nodes)
    if (isOwnPart(*node) && node->operands()[1]->requiresGrad())
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
