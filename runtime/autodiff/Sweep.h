/// Sweep: gradients brought from outputs to what they were computed from.
#pragma once

#include "runtime/autodiff/Gradients.h"
#include "runtime/autodiff/Replicas.h"
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/Loops.h"
#include "runtime/graph/NodeNumbers.h"
#include "runtime/support/SmallVector.h"

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sinter::autodiff {

/// Restores the thread's recording scope.
class ScopeOf {
public:
  /// Records at `node`'s line.
  explicit ScopeOf(const graph::Node &node) : saved(graph::recordScope()) {
    graph::recordScope().site = node.site();
  }
  ~ScopeOf() { graph::recordScope() = saved; }

private:
  graph::RecordScope saved;
};

/// A loop on the way, from outside: what its end was computed from, and the
/// gradients that arrived at what the end gives.
struct LoopStep {
  explicit LoopStep(const graph::NodeRef &end);

  graph::NodeRef end;
  graph::RecordedBody body;
  /// First values of carries, sliced tensors, captures; each once.
  std::vector<graph::NodeRef> externals;
  struct Arrived {
    graph::NodeRef value; ///< of the body, in the last or in each step
    graph::NodeRef gradient;
    bool isStacked = false;
  };
  std::vector<Arrived> arrived;
};

/// The gradients of `externals`, recorded as a loop in the other direction. An
/// empty ref where none flows or `needs` is false.
Result<std::vector<graph::NodeRef>> loopGradients(const LoopStep &loop,
                                                  std::span<const bool> needs);

/// One reverse sweep: rules applied to nodes in reverse post-order.
class Sweep {
public:
  using NodeRef = graph::NodeRef;

  /// One node on the way from the outputs to a target.
  struct Step {
    NodeRef node;
    NodeRef gradient; ///< summed so far
    bool isTarget = false;
    bool carries = false; ///< a target is below
  };

  /// Without targets: every leaf that requires a gradient. `stopsAtTargets`
  /// takes targets as independent of each other.
  Sweep(std::span<const NodeRef> wrt, NodeRef *released,
        bool stopsAtTargets = false);

  /// `initial`: what to add the gradients of targets to.
  Status run(std::span<const Seed> seeds, std::span<const Seed> initial = {});
  Status run(const NodeRef &output, const NodeRef &cotangent) {
    Seed seed{output, cotangent};
    return run({&seed, 1});
  }
  NodeRef gradientAt(const NodeRef &node) const {
    const uint32_t *number = numbers.find(node.get());
    return number ? steps[*number].gradient : NodeRef();
  }
  /// In post-order. As many as a small net's have room without an allocation.
  SmallVector<Step, 64> steps;

private:
  Status collect(const NodeRef &output);
  bool isTarget(const graph::Node &node) const;
  std::span<const NodeRef> operandsBelow(const NodeRef &node);
  Status finish(NodeRef node);
  Status callHooks(Step &step);
  Status propagate(Step &step);
  Result<OperandGradients> applyRule(const Step &step,
                                     std::span<const bool> needs);
  Result<OperandGradients> applyCustomRule(const Step &step);
  Result<OperandGradients> expandAndSweep(const Step &step);
  Result<NodeRef> valueFor(const Step &step, const NodeRef &node);
  Result<OperandGradients> passOn(const Step &step,
                                  std::vector<NodeRef> gradients);
  void arriveAtLoop(const Step &step);
  Status accumulate(const NodeRef &operand, NodeRef gradient);
  LoopStep &loopAt(const NodeRef &end);
  Step *find(const NodeRef &node) {
    const uint32_t *number = numbers.find(node.get());
    return number ? &steps[*number] : nullptr;
  }

  graph::NodeNumbers numbers;
  graph::NodeNumbers targets;
  /// By link of a custom function below its last one: the gradients of the
  /// inputs from the first to the link's.
  std::unordered_map<const graph::Node *, std::vector<NodeRef>> custom;
  /// By the loop's end.
  std::unordered_map<const graph::Node *, std::unique_ptr<LoopStep>> loops;
  Replicas replicas;
  bool takesLeaves;
  bool stopsAtTargets;
  NodeRef *released;
};

} // namespace sinter::autodiff
