/// The merges: a queue of edges by the traffic they save, then siblings.
#include "compiler/fuse/FormKernels.h"
#include "compiler/fuse/MergeIndependent.h"
#include "compiler/fuse/MergeParts.h"
#include "compiler/fuse/RecomputeValues.h"
#include "compiler/fuse/RepeatValues.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/lower/kernel/EmitKernel.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

namespace {

/// A merge to consider: the groups of two core ops.
struct Candidate {
  unsigned first;
  unsigned second;
  double bytes;
  bool siblings;
};

/// Runs the queue.
class KernelFormer {
public:
  KernelFormer(FusionGraph &graph, const FuseOptions &options)
      : graph(graph), options(options) {}

  std::vector<FusionDecision> run();

private:
  void mergeEdges();
  void mergeSiblings();
  std::vector<Candidate> edges() const;
  std::vector<Candidate> siblings() const;
  /// Whether something changed. Arithmetic that is done twice is paid for by
  /// traffic, or also by the launch that goes.
  bool consider(std::vector<Candidate> &queue, bool byLaunches);
  bool tryMerge(const Candidate &candidate, bool byLaunches);
  KernelShape shapeOf(unsigned group);
  /// Of traffic, and of a launch where one goes.
  double microsecondsSaved(const Candidate &candidate, bool launch) const {
    const MachineModel &machine = options.caps.machine;
    return machine.microsecondsOfBytes(candidate.bytes) +
           (launch ? machine.launchMicroseconds() : 0);
  }
  void record(const Candidate &candidate, bool accepted, const char *rule,
              std::string detail);

  FusionGraph &graph;
  const FuseOptions &options;
  unsigned long work = 0;
  llvm::MapVector<std::pair<unsigned, unsigned>, FusionDecision> decisions;
};

} // namespace

// The traffic that a kernel of both saves: the read, and the write when no one
// else reads the value.
static double bytesSaved(const FusionGraph &graph, unsigned producer,
                         unsigned consumer) {
  double bytes = estimatedBytes(graph.op(producer)->getResult(0).getType());
  bool onlyReader = !graph.isReturned(producer) &&
                    graph.consumers(producer) == ArrayRef(consumer);
  return onlyReader ? 2 * bytes : bytes;
}

std::vector<Candidate> KernelFormer::edges() const {
  std::vector<Candidate> queue;
  for (unsigned consumer = 0; consumer < graph.size(); ++consumer)
    for (unsigned producer : graph.producers(consumer))
      queue.push_back(
          {producer, consumer, bytesSaved(graph, producer, consumer), false});
  llvm::stable_sort(queue, [](const Candidate &a, const Candidate &b) {
    return a.bytes > b.bytes;
  });
  return queue;
}

// What a kernel of these ops walks, and the axes that it reduces, if any.
static std::pair<Type, SmallVector<int64_t>> walkOf(const FusionGraph &graph,
                                                    const OpSet &members) {
  for (unsigned index : members)
    if (Operation *op = graph.op(index); kindOf(op) == PatternKind::reduction)
      return {op->getOperand(0).getType(), axesOf(op)};
  return {graph.op(members.back())->getResult(0).getType(), {}};
}

// Pairs of kernels that walk alike and read one tensor of as many elements as
// they walk.
std::vector<Candidate> KernelFormer::siblings() const {
  using Readers = std::map<SmallVector<int64_t>, SmallVector<unsigned>>;
  llvm::MapVector<Value, Readers> readers;
  for (unsigned group : graph.executionOrder()) {
    const OpSet &members = graph.members(group);
    if (llvm::any_of(members, [&](unsigned index) {
          return graph.op(index)->hasAttr(recomputedAttr);
        }))
      continue;
    auto [type, axes] = walkOf(graph, members);
    AffineExpr walked = elementCount(type);
    // Reductions of columns may join those of rows.
    if (options.caps.columnsOfRows && !axes.empty())
      axes = {0};
    for (Value input : graph.inputs(graph.body(members)))
      if (elementCount(input.getType()) == walked && !isNumber(input))
        readers[input][axes].push_back(members.front());
  }
  std::vector<Candidate> queue;
  for (auto &[value, byAxes] : readers)
    for (auto &[axes, kernels] : byAxes)
      for (size_t index = 1; index < kernels.size(); ++index)
        for (size_t other = index; other-- > 0 && other + 4 > index;)
          queue.push_back({kernels[other], kernels[index],
                           estimatedBytes(value.getType()), true});
  return queue;
}

KernelShape KernelFormer::shapeOf(unsigned group) {
  Classified shape = classifyKernel(graph, graph.members(group), options.caps);
  auto *kernel = std::get_if<KernelShape>(&shape);
  return kernel ? *kernel : KernelShape();
}

void KernelFormer::record(const Candidate &candidate, bool accepted,
                          const char *rule, std::string detail) {
  FusionDecision &decision = decisions[{candidate.first, candidate.second}];
  Operation *first = graph.op(candidate.first);
  Operation *second = graph.op(candidate.second);
  decision.accepted = accepted;
  decision.rule = rule;
  decision.bytes = int64_t(candidate.bytes);
  decision.estUs = float(microsecondsSaved(candidate, accepted));
  auto nodes = nodesOf(mergeLocations(first->getLoc(), second->getLoc()));
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail = llvm::formatv(
      "{0} {1} {2}{3}{4}", first->getName().stripDialect(),
      candidate.siblings ? "beside" : "into", second->getName().stripDialect(),
      detail.empty() ? "" : ": ", detail);
}

bool KernelFormer::tryMerge(const Candidate &candidate, bool byLaunches) {
  unsigned a = graph.groupOf(candidate.first);
  unsigned b = graph.groupOf(candidate.second);
  if (a == b) {
    // Through other merges.
    if (!candidate.siblings)
      record(candidate, true, "saves_traffic", "");
    return false;
  }
  auto onlyReduces = [](const KernelShape &shape) {
    return shape.kind == StringRef(kernel_kinds::reduce);
  };
  // Beside others reductions only stand where they can: no border of a kernel.
  bool isOption = candidate.siblings &&
                  (onlyReduces(shapeOf(a)) || onlyReduces(shapeOf(b)));
  auto reject = [&](const char *rule, std::string detail) {
    if (!isOption)
      record(candidate, false, rule, std::move(detail));
    return false;
  };
  OpSet both = graph.united(a, b);
  work += both.size();
  if (work > options.caps.work)
    return reject("budget", llvm::formatv("{0} ops were looked at before",
                                          options.caps.work));
  Classified shape = classifyKernel(graph, both, options.caps);
  if (auto *rejection = std::get_if<Rejection>(&shape))
    return reject(rejection->rule, rejection->detail);
  const KernelShape &kernel = std::get<KernelShape>(shape);
  bool goesBeside = kernel.kind == StringRef(kernel_kinds::map) ||
                    onlyReduces(kernel) || (kernel.reducesColumns && isOption);
  if (candidate.siblings && !goesBeside)
    return reject("two_roots",
                  "kernels side by side are pointwise, or only reduce");
  double extra =
      kernel.recomputed - shapeOf(a).recomputed - shapeOf(b).recomputed;
  if (extra > microsecondsSaved(candidate, byLaunches))
    return reject("recompute",
                  llvm::formatv("{0:f1} us of arithmetic twice", extra));
  if (graph.wouldCycle(a, b))
    return reject("cycle", "another kernel runs between the two");
  record(candidate, true, candidate.siblings ? "shares_input" : "saves_traffic",
         kernel.kind);
  graph.merge(std::min(a, b), std::max(a, b));
  return true;
}

bool KernelFormer::consider(std::vector<Candidate> &queue, bool byLaunches) {
  bool changed = false;
  for (const Candidate &candidate : queue)
    changed |= tryMerge(candidate, byLaunches);
  return changed;
}

// What was refused may fit after other merges: a few rounds, to a fixed point.
// What goes into its producer for nothing, as the division of a sum, is not
// computed again by those who read it.
void KernelFormer::mergeEdges() {
  std::vector<Candidate> queue = edges();
  consider(queue, /*byLaunches=*/false);
  for (unsigned round = 0; round < 3 && consider(queue, /*byLaunches=*/true);
       ++round)
    ;
}

void KernelFormer::mergeSiblings() {
  std::vector<Candidate> queue = siblings();
  consider(queue, /*byLaunches=*/true);
}

std::vector<FusionDecision> KernelFormer::run() {
  mergeEdges();
  mergeSiblings();
  std::vector<FusionDecision> result;
  for (auto &[pair, decision] : decisions)
    result.push_back(std::move(decision));
  return result;
}

std::vector<FusionDecision> formKernels(FusionGraph &graph,
                                        const FuseOptions &options) {
  if (options.fusion == Fusion::none)
    return {};
  std::vector<FusionDecision> decisions;
  mergeParts(graph, options, decisions);
  llvm::append_range(decisions, KernelFormer(graph, options).run());
  mergeIndependent(graph, options, decisions);
  repeatValues(graph, options, decisions);
  return decisions;
}

} // namespace sinter::compiler
