/// One value at a time, the one that saves most for its cost first.
#include "compiler/fuse/RecomputeValues.h"
#include "compiler/Passes.h"
#include "compiler/fuse/CutKernels.h"
#include "compiler/import/Locations.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_RECOMPUTEVALUES
#include "sinter/generated/Passes.h.inc"

using graph::PatternKind;

// Plans and changes that are tried at most, and ops that a value is computed
// again by: a bound on the time, not on what is right.
static constexpr unsigned maxTrials = 64;
static constexpr unsigned maxChain = 24;

namespace {

/// The launches that fusion would make, and the memory they need.
class Plan {
public:
  Plan(func::FuncOp function, const FuseOptions &options);

  unsigned size() const { return totals.size(); }
  /// Bytes of inputs, outputs and temporaries at the worst launch.
  double peak() const;
  unsigned worst() const;
  /// By how much the launches are above a limit, together.
  double excess(double limit) const;

  /// Whether a kernel writes the value, and until which launch it is there.
  bool isKept(unsigned index) const { return last[index] >= 0; }
  bool isThere(Value value, int at) const;
  int firstOf(unsigned index) const { return first[index]; }
  int lastOf(unsigned index) const { return last[index]; }
  /// The launches that read an op's value through `user`: the first and last.
  std::pair<int, int> launchesOf(Operation *user) const;

  FusionGraph graph;

private:
  void order();
  void measure(func::FuncOp function);

  SmallVector<int> launchOf;    ///< by group
  SmallVector<int> first, last; ///< by op; -1 for what is not kept
  std::vector<double> totals;   ///< by launch
  /// Of inlined ops: several ways may lead through one.
  mutable llvm::DenseMap<Operation *, std::pair<int, int>> launches;
};

/// A value and what computes it again.
struct Candidate {
  unsigned index;
  SmallVector<Operation *> chain; ///< in block order, the value's op last
  SmallVector<OpOperand *> late;  ///< uses that take the clone
  double bytes, microseconds;
};

class Recomputer {
public:
  Recomputer(func::FuncOp function, const FuseOptions &options, double limit)
      : function(function), options(options), limit(limit) {}

  std::vector<FusionDecision> run();

private:
  std::vector<Candidate> candidates(const Plan &plan) const;
  std::optional<Candidate> candidate(const Plan &plan, unsigned index) const;
  bool collect(const Plan &plan, Operation *op, int until,
               llvm::SetVector<Operation *> &chain) const;
  bool improve(std::optional<Plan> &plan);
  /// Clones the chain; the clones, in order.
  SmallVector<Operation *> apply(const Candidate &candidate);
  void undo(const Candidate &candidate, ArrayRef<Operation *> clones);
  void record(const Plan &plan, const Candidate &candidate);

  func::FuncOp function;
  const FuseOptions &options;
  double limit;
  unsigned trials = 0;
  llvm::DenseSet<Operation *> refused;
  std::vector<FusionDecision> decisions;
};

} // namespace

//===- The plan -----------------------------------------------------------===//

Plan::Plan(func::FuncOp function, const FuseOptions &options)
    : graph(function, options.fusion == Fusion::none) {
  formKernels(graph, options);
  order();
  measure(function);
}

// As launches are ordered later: those that only make results come last.
void Plan::order() {
  SmallVector<unsigned> inOrder = graph.executionOrder();
  auto onlyReturns = [&](unsigned group) {
    return llvm::all_of(graph.members(group), [&](unsigned index) {
      return llvm::all_of(graph.consumers(index), [&](unsigned user) {
        return graph.groupOf(user) == group;
      });
    });
  };
  std::stable_partition(inOrder.begin(), inOrder.end(),
                        [&](unsigned group) { return !onlyReturns(group); });
  launchOf.assign(graph.numGroups(), -1);
  for (auto [position, group] : llvm::enumerate(inOrder))
    launchOf[group] = position;
  totals.assign(inOrder.size(), 0);
}

static double alignedBytes(Type type) {
  constexpr double alignment = 256;
  return std::ceil(estimatedBytes(type) / alignment) * alignment;
}

void Plan::measure(func::FuncOp function) {
  double always = 0;
  for (Type type : function.getArgumentTypes())
    always += alignedBytes(type);
  first.assign(graph.size(), -1);
  last.assign(graph.size(), -1);
  for (unsigned index = 0; index < graph.size(); ++index) {
    if (!graph.isCore(index))
      continue;
    double bytes = alignedBytes(graph.op(index)->getResult(0).getType());
    int own = launchOf[graph.groupOf(index)];
    int until = -1;
    for (unsigned user : graph.consumers(index))
      if (graph.groupOf(user) != graph.groupOf(index))
        until = std::max(until, launchOf[graph.groupOf(user)]);
    if (graph.isReturned(index)) {
      always += bytes;
      until = size();
    }
    if (until < 0)
      continue;
    first[index] = own;
    last[index] = until;
    if (!graph.isReturned(index))
      for (int at = own; at <= until; ++at)
        totals[at] += bytes;
  }
  for (double &total : totals)
    total += always;
}

unsigned Plan::worst() const {
  return std::max_element(totals.begin(), totals.end()) - totals.begin();
}

double Plan::peak() const { return totals.empty() ? 0 : totals[worst()]; }

double Plan::excess(double limit) const {
  double sum = 0;
  for (double total : totals)
    sum += std::max(0.0, total - limit);
  return sum;
}

bool Plan::isThere(Value value, int at) const {
  int index = graph.indexOf(value);
  return index < 0 || last[index] >= at;
}

std::pair<int, int> Plan::launchesOf(Operation *user) const {
  std::pair<int, int> range(std::numeric_limits<int>::max(), -1);
  auto take = [&](int from, int to) {
    range = {std::min(range.first, from), std::max(range.second, to)};
  };
  if (user->hasTrait<OpTrait::IsTerminator>()) {
    take(size(), size());
    return range;
  }
  unsigned index = graph.indexOf(user->getResult(0));
  if (graph.isCore(index)) {
    int launch = launchOf[graph.groupOf(index)];
    take(launch, launch);
    return range;
  }
  if (auto known = launches.find(user); known != launches.end())
    return known->second;
  for (Operation *next : user->getUsers()) {
    auto [from, to] = launchesOf(next);
    take(from, to);
  }
  launches[user] = range;
  return range;
}

//===- Candidates ---------------------------------------------------------===//

static bool isCheap(Operation *op) {
  switch (kindOf(op)) {
  case PatternKind::pointwise:
  case PatternKind::view:
  case PatternKind::source:
  case PatternKind::reduction:
  case PatternKind::random:
    return true;
  default:
    return false;
  }
}

// The ops between `op` and what is in memory until launch `until` anyway.
bool Recomputer::collect(const Plan &plan, Operation *op, int until,
                         llvm::SetVector<Operation *> &chain) const {
  if (chain.contains(op))
    return true;
  if (!isCheap(op) || chain.size() >= maxChain)
    return false;
  for (Value operand : op->getOperands())
    if (!plan.isThere(operand, until) &&
        !collect(plan, operand.getDefiningOp(), until, chain))
      return false;
  chain.insert(op);
  return true;
}

std::optional<Candidate> Recomputer::candidate(const Plan &plan,
                                               unsigned index) const {
  Operation *op = plan.graph.op(index);
  int worst = plan.worst();
  if (!plan.isKept(index) || plan.graph.isReturned(index) ||
      plan.firstOf(index) > worst || plan.lastOf(index) <= worst ||
      refused.contains(op))
    return std::nullopt;
  Candidate result{index, {}, {}, 0, 0};
  for (OpOperand &use : op->getResult(0).getUses()) {
    auto [from, to] = plan.launchesOf(use.getOwner());
    if (from > worst)
      result.late.push_back(&use);
    else if (to > worst)
      return std::nullopt; // a view that both sides read
  }
  llvm::SetVector<Operation *> chain;
  if (result.late.empty() || !collect(plan, op, plan.lastOf(index), chain))
    return std::nullopt;
  result.chain = chain.takeVector();
  llvm::sort(result.chain,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  result.bytes = estimatedBytes(op->getResult(0).getType());
  for (Operation *each : result.chain)
    result.microseconds += options.caps.machine.microsecondsOfOperations(
        operationsOf(each) * estimatedElements(each->getResult(0).getType()),
        bitsOf(each->getResult(0)));
  return result;
}

std::vector<Candidate> Recomputer::candidates(const Plan &plan) const {
  std::vector<Candidate> result;
  for (unsigned index = 0; index < plan.graph.size(); ++index)
    if (auto found = candidate(plan, index))
      result.push_back(std::move(*found));
  llvm::stable_sort(result, [](const Candidate &a, const Candidate &b) {
    return a.bytes * (1 + b.microseconds) > b.bytes * (1 + a.microseconds);
  });
  return result;
}

//===- Changing -----------------------------------------------------------===//

SmallVector<Operation *> Recomputer::apply(const Candidate &candidate) {
  Operation *before = candidate.late.front()->getOwner();
  for (OpOperand *use : candidate.late)
    if (use->getOwner()->isBeforeInBlock(before))
      before = use->getOwner();
  OpBuilder builder(before);
  IRMapping mapping;
  SmallVector<Operation *> clones;
  for (Operation *op : candidate.chain) {
    clones.push_back(builder.clone(*op, mapping));
    clones.back()->setAttr(recomputedAttr, builder.getUnitAttr());
  }
  for (OpOperand *use : candidate.late)
    use->set(clones.back()->getResult(0));
  return clones;
}

void Recomputer::undo(const Candidate &candidate,
                      ArrayRef<Operation *> clones) {
  for (OpOperand *use : candidate.late)
    use->set(candidate.chain.back()->getResult(0));
  for (Operation *clone : llvm::reverse(clones))
    clone->erase();
}

void Recomputer::record(const Plan &plan, const Candidate &candidate) {
  FusionDecision decision;
  Operation *op = candidate.chain.back();
  decision.accepted = true;
  decision.rule = "memory";
  decision.bytes = int64_t(candidate.bytes);
  decision.estUs = -candidate.microseconds;
  auto nodes = nodesOf(op->getLoc());
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail = llvm::formatv(
      "{0} computed again by {1} ops, not kept from launch {2} to {3}",
      op->getName().stripDialect(), candidate.chain.size(),
      plan.firstOf(candidate.index), plan.lastOf(candidate.index));
  decisions.push_back(std::move(decision));
}

// Takes the first candidate with which the launches are less above the limit.
bool Recomputer::improve(std::optional<Plan> &plan) {
  for (const Candidate &candidate : candidates(*plan)) {
    if (trials++ == maxTrials)
      return false;
    SmallVector<Operation *> clones = apply(candidate);
    Plan next(function, options);
    if (next.excess(limit) < plan->excess(limit)) {
      record(*plan, candidate);
      for (Operation *op : llvm::reverse(candidate.chain))
        if (op->use_empty())
          op->erase();
      plan.emplace(function, options);
      return true;
    }
    undo(candidate, clones);
    refused.insert(candidate.chain.back());
  }
  return false;
}

std::vector<FusionDecision> Recomputer::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    ops.push_back(&op);
  cutToCaps(ops, options, decisions);
  std::optional<Plan> plan(std::in_place, function, options);
  while (plan->peak() > limit && improve(plan))
    refused.clear();
  if (plan->peak() > limit) {
    FusionDecision decision;
    decision.rule = "memory";
    decision.bytes = int64_t(plan->peak() - limit);
    decision.detail = llvm::formatv(
        "about {0} bytes are needed, the limit is {1}: nothing else is cheap "
        "to compute again",
        int64_t(plan->peak()), int64_t(limit));
    decisions.push_back(std::move(decision));
  }
  return std::move(decisions);
}

std::vector<FusionDecision> recomputeValues(func::FuncOp function,
                                            const FuseOptions &options,
                                            int64_t limit) {
  return Recomputer(function, options, double(limit)).run();
}

namespace {

struct RecomputeValuesPass : impl::RecomputeValuesBase<RecomputeValuesPass> {
  using Base::Base;
  // Costs are those of scalar bodies, which are emitted and looked at.
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() override {
    FuseOptions stage;
    stage.fusion = onePerOp ? Fusion::none : Fusion::full;
    stage.caps = capsOf(program::targetOf(getOperation()));
    if (!mainOf(getOperation()).getOps<program::ForOp>().empty())
      return addDecisions(
          getOperation(),
          {{false, "memory", 0, 0, {}, "a program with loops is left alone"}});
    addDecisions(getOperation(),
                 recomputeValues(mainOf(getOperation()), stage, memoryLimit));
  }
};

} // namespace

} // namespace sinter::compiler
