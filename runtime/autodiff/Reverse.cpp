/// The reverse sweep: rules applied to nodes in reverse post-order.
#include "runtime/autodiff/Reverse.h"

#include "runtime/autodiff/Sweep.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/OpIds.h"
#include "sinter/runtime/Complex.h"

namespace sinter::autodiff {

using graph::Node;
using graph::NodeRef;
using graph::OpId;

Sweep::Sweep(std::span<const NodeRef> wrt, NodeRef *released,
             bool stopsAtTargets)
    : takesLeaves(wrt.empty()), stopsAtTargets(stopsAtTargets),
      released(released) {
  for (const NodeRef &node : wrt)
    if (!targets.find(node.get()))
      targets.insert(node.get(), 0);
}

Status Sweep::run(std::span<const Seed> seeds, std::span<const Seed> initial) {
  for (const Seed &seed : seeds)
    if (!find(seed.output))
      SINTER_TRY(collect(seed.output));
  for (const Seed &seed : initial)
    if (Step *step = find(seed.output))
      step->gradient = seed.cotangent;
  for (const Seed &seed : seeds)
    SINTER_TRY(accumulate(seed.output, seed.cotangent));
  for (size_t i = steps.size(); i-- > 0;)
    if (steps[i].carries && steps[i].gradient) {
      if (!stopsAtTargets && steps[i].node->notes()) [[unlikely]]
        SINTER_TRY(callHooks(steps[i]));
      SINTER_TRY(propagate(steps[i]));
    }
  return {};
}

bool Sweep::isTarget(const Node &node) const {
  if (takesLeaves)
    return node.isLeaf() && node.requiresGrad();
  return targets.find(&node) != nullptr;
}

LoopStep::LoopStep(const NodeRef &end) : end(end), body(graph::bodyOf(*end)) {
  graph::NodeNumbers seen;
  auto add = [&](const NodeRef &node) {
    if (seen.find(node.get()))
      return;
    seen.insert(node.get(), 0);
    externals.push_back(node);
  };
  for (const NodeRef &node : body.nodes)
    if (body.isOwnPart(*node))
      add(node->operands()[1]);
  for (const NodeRef &capture : body.captures)
    add(capture);
}

LoopStep &Sweep::loopAt(const NodeRef &end) {
  std::unique_ptr<LoopStep> &loop = loops[end.get()];
  if (!loop)
    loop = std::make_unique<LoopStep>(end);
  return *loop;
}

/// The operands that a gradient may flow on to. A loop's body is not on the
/// way: it is swept by itself.
std::span<const NodeRef> Sweep::operandsBelow(const NodeRef &node) {
  if (!node->requiresGrad() || (stopsAtTargets && isTarget(*node)) ||
      node->operands().empty())
    return {};
  if (node->op() == OpId::scan_end)
    return loopAt(node).externals;
  if (graph::leavesLoop(node->op()))
    return node->operands().first(1);
  return node->operands();
}

/// Steps in post-order, without recursion.
Status Sweep::collect(const NodeRef &output) {
  SmallVector<std::pair<NodeRef, size_t>, 64> stack;
  stack.push_back({output, 0});
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    std::span<const NodeRef> operands = operandsBelow(node);
    if (next < operands.size()) {
      const NodeRef &operand = operands[next++];
      if (!numbers.find(operand.get()))
        stack.push_back({operand, 0});
      continue;
    }
    NodeRef done = std::move(node);
    stack.pop_back();
    SINTER_TRY(finish(std::move(done)));
  }
  return {};
}

Status Sweep::finish(NodeRef taken) {
  const Node *node = taken.get();
  Step step;
  step.node = taken;
  step.isTarget = isTarget(*node);
  step.carries = step.isTarget;
  for (const NodeRef &operand : operandsBelow(taken))
    step.carries |= find(operand)->carries;
  bool isReleased =
      node->requiresGrad() && !node->isLeaf() && node->operands().empty();
  numbers.insert(node, static_cast<uint32_t>(steps.size()));
  steps.push_back(std::move(step));
  if (!isReleased || steps.back().isTarget)
    return {};
  if (released)
    *released = steps.back().node;
  std::string op(graph::info(node->op()).name);
  return makeError(ErrorKind::invalid_argument,
                   "backward: the history of " + op + " was released",
                   "backward");
}

/// The step's gradient is complete: users may look at it, and change it.
Status Sweep::callHooks(Step &step) {
  ScopeOf scope(*step.node);
  for (const auto &hook : step.node->notes()->hooks())
    if (!hook->removed.load(std::memory_order_acquire)) {
      SINTER_TRY_ASSIGN(step.gradient, hook->call(step.gradient));
    }
  return {};
}

Status Sweep::propagate(Step &step) {
  ScopeOf scope(*step.node);
  std::span<const NodeRef> operands = operandsBelow(step.node);
  SmallVector<bool, 8> needs(operands.size());
  bool needsAny = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    // A loop's end is a token: what arrives at it is kept aside.
    needs[i] =
        find(operands[i])->carries && (hasGradients(operands[i]->dtype()) ||
                                       operands[i]->op() == OpId::scan_end);
    needsAny |= needs[i];
  }
  if (!needsAny)
    return {};
  if (graph::leavesLoop(step.node->op()) && step.node->op() != OpId::scan_end) {
    arriveAtLoop(step);
    return {};
  }
  SINTER_TRY_ASSIGN(OperandGradients found, applyRule(step, needs));
  for (size_t i = 0; i < operands.size(); ++i)
    if (needs[i] && found[i]) {
      SINTER_TRY(accumulate(operands[i], std::move(found[i])));
    }
  return {};
}

/// The loop's end is told once all of its results were.
void Sweep::arriveAtLoop(const Step &step) {
  std::span<const NodeRef> operands = step.node->operands();
  loopAt(operands[0])
      .arrived.push_back(
          {operands[1], step.gradient, step.node->op() == OpId::scan_stack});
  find(operands[0])->gradient = step.gradient; // so that the sweep comes by
}

/// What a rule reads: the value itself, or that of a checkpointed region once
/// more. Bodies of loops and expansions are swept as they are.
Result<NodeRef> Sweep::valueFor(const Step &step, const NodeRef &node) {
  if (stopsAtTargets)
    return node;
  const Replicas::Region *region = Replicas::regionOf(*step.node);
  if (!region) [[likely]]
    return node;
  return replicas.valueIn(*region, node);
}

Result<OperandGradients> Sweep::applyCustomRule(const Step &step) {
  const graph::NodeNotes &notes = *step.node->notes();
  std::vector<NodeRef> inputs(notes.customInputs);
  const Node *link = step.node.get();
  for (size_t i = inputs.size(); i-- > 0; link = link->operands()[0].get()) {
    SINTER_TRY_ASSIGN(inputs[i], valueFor(step, link->operands()[1]));
  }
  SINTER_TRY_ASSIGN(NodeRef result, valueFor(step, step.node));
  ScopeOf scope(*step.node);
  SINTER_TRY_ASSIGN(std::vector<NodeRef> gradients,
                    notes.customRule(inputs, result, step.gradient));
  return passOn(step, std::move(gradients));
}

/// A composite without a rule: that of its decomposition.
Result<OperandGradients> Sweep::expandAndSweep(const Step &step) {
  const Node &node = *step.node;
  std::vector<NodeRef> operands;
  for (const NodeRef &operand : node.operands()) {
    SINTER_TRY_ASSIGN(NodeRef value, valueFor(step, operand));
    operands.push_back(std::move(value));
  }
  graph::recordScope().gradEnabled = true; // the expansion is swept below
  SINTER_TRY_ASSIGN(NodeRef expansion,
                    graph::decompose(node.op(), operands, node.attrs()));
  // The operands count as independent here: what flows between them is the
  // outer sweep's.
  Sweep inner(operands, nullptr, true);
  SINTER_TRY(inner.run(expansion, step.gradient));
  OperandGradients found;
  for (const NodeRef &operand : operands) {
    Step *target = inner.find(operand);
    found.push_back(target ? std::exchange(target->gradient, {}) : NodeRef());
  }
  return found;
}

Result<OperandGradients> Sweep::applyRule(const Step &step,
                                          std::span<const bool> needs) {
  const Node &node = *step.node;
  if (auto below = custom.find(&node); below != custom.end())
    return passOn(step, std::move(below->second));
  if (!stopsAtTargets)
    if (const Replicas::Region *region = Replicas::regionOf(node))
      replicas.arrive(*region, step.gradient);
  if (graph::NodeNotes *notes = node.notes(); notes && notes->customRule)
    return applyCustomRule(step);
  if (node.op() == OpId::scan_end) {
    SINTER_TRY_ASSIGN(std::vector<NodeRef> gradients,
                      loopGradients(loopAt(step.node), needs));
    OperandGradients found;
    for (NodeRef &gradient : gradients)
      found.push_back(std::move(gradient));
    return found;
  }
  const GradientInfo &how = gradientOf(node.op());
  if (!how.rule && how.throughDecomposition)
    return expandAndSweep(step);
  if (!how.rule)
    return OperandGradients(node.operands().size());
  if (stopsAtTargets || !Replicas::regionOf(node)) [[likely]]
    return how.rule(
        {node.operands(), step.node, step.gradient, node.attrs(), needs});
  std::vector<NodeRef> operands;
  for (const NodeRef &operand : node.operands()) {
    SINTER_TRY_ASSIGN(NodeRef value, valueFor(step, operand));
    operands.push_back(std::move(value));
  }
  SINTER_TRY_ASSIGN(NodeRef result, valueFor(step, step.node));
  return how.rule({operands, result, step.gradient, node.attrs(), needs});
}

/// The last of the gradients goes to this link's input, the others down to the
/// next link.
Result<OperandGradients> Sweep::passOn(const Step &step,
                                       std::vector<NodeRef> gradients) {
  OperandGradients found(2);
  found[1] = std::move(gradients.back());
  gradients.pop_back();
  if (!gradients.empty()) {
    found[0] = step.gradient; // so that the sweep comes by
    custom.emplace(step.node->operands()[0].get(), std::move(gradients));
  }
  return found;
}

Status Sweep::accumulate(const NodeRef &operand, NodeRef gradient) {
  NodeRef &sum = find(operand)->gradient;
  if (!sum) {
    sum = std::move(gradient);
    return {};
  }
  SINTER_TRY_ASSIGN(sum, graph::add(sum, gradient));
  return {};
}

static Status checkCotangent(const NodeRef &output, const NodeRef &cotangent) {
  bool fits = output->dtype() == cotangent->dtype() &&
              output->rank() == cotangent->rank();
  for (unsigned i = 0; fits && i < output->rank(); ++i)
    fits = output->dims()[i].value == cotangent->dims()[i].value;
  if (fits)
    return {};
  ErrorInfo error =
      makeError(ErrorKind::invalid_argument,
                "backward: the cotangent differs in type from the output: " +
                    typeString(*cotangent) + " x " + typeString(*output),
                "backward");
  error.shapes = {typeString(*cotangent), typeString(*output)};
  error.site = graph::recordScope().site;
  return error;
}

Result<std::vector<NodeRef>> gradients(const NodeRef &output,
                                       const NodeRef &cotangent,
                                       std::span<const NodeRef> wrt,
                                       NodeRef *released) {
  Seed seed{output, cotangent};
  return gradients({&seed, 1}, wrt, released);
}

Result<std::vector<NodeRef>> gradients(std::span<const Seed> seeds,
                                       std::span<const NodeRef> wrt,
                                       NodeRef *released) {
  std::vector<NodeRef> result(wrt.size());
  if (wrt.empty())
    return result;
  for (const Seed &seed : seeds)
    SINTER_TRY(checkCotangent(seed.output, seed.cotangent));
  Sweep sweep(wrt, released);
  SINTER_TRY(sweep.run(seeds));
  for (size_t i = 0; i < wrt.size(); ++i)
    result[i] = sweep.gradientAt(wrt[i]);
  return result;
}

Result<std::vector<LeafGradient>> leafGradients(const NodeRef &output,
                                                const NodeRef &cotangent,
                                                NodeRef *released) {
  SINTER_TRY(checkCotangent(output, cotangent));
  Sweep sweep({}, released);
  SINTER_TRY(sweep.run(output, cotangent));
  std::vector<LeafGradient> result;
  for (const Sweep::Step &step : sweep.steps)
    if (step.isTarget && step.gradient)
      result.push_back({step.node, step.gradient});
  return result;
}

} // namespace sinter::autodiff
