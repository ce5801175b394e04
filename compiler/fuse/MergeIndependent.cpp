/// Horizontal fusion of small pointwise kernels.
#include "compiler/fuse/MergeIndependent.h"

#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/lower/kernel/EmitKernel.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

// A kernel of more elements keeps all threads busy by itself, and takes much
// longer than its launch.
static constexpr double mostElements = 1 << 16;

// The parts of a set that no edge connects.
static SmallVector<OpSet> partsOf(const FusionGraph &graph,
                                  const OpSet &members) {
  llvm::SmallDenseSet<unsigned> inside(members.begin(), members.end());
  llvm::EquivalenceClasses<unsigned> classes;
  for (unsigned index : members)
    classes.insert(index);
  for (unsigned index : members)
    for (unsigned source : graph.producers(index))
      if (inside.contains(source))
        classes.unionSets(index, source);
  SmallVector<OpSet> parts;
  llvm::DenseMap<unsigned, unsigned> numbers;
  for (unsigned index : members) {
    auto [entry, isNew] =
        numbers.try_emplace(classes.getLeaderValue(index), parts.size());
    if (isNew)
      parts.emplace_back();
    parts[entry->second].push_back(index);
  }
  return parts;
}

static std::optional<Rejection> checkCaps(const FusionGraph &graph,
                                          const OpSet &members,
                                          const KernelCaps &caps) {
  OpSet body = graph.body(members);
  if (body.size() > caps.parallelOps)
    return Rejection{"cap_ops", llvm::formatv("{0} ops", body.size())};
  size_t buffers = graph.inputs(body).size() + graph.outputs(members).size();
  if (buffers > caps.parallelBuffers)
    return Rejection{"cap_live", llvm::formatv("{0} buffers", buffers)};
  return std::nullopt;
}

Classified classifyGroup(const FusionGraph &graph, const OpSet &members,
                         const KernelCaps &caps) {
  Classified whole = classifyKernel(graph, members, caps);
  SmallVector<OpSet> parts;
  if (std::holds_alternative<Rejection>(whole))
    parts = partsOf(graph, members);
  if (parts.size() < 2)
    return whole;
  KernelShape result{kernel_kinds::map, 0};
  for (const OpSet &part : parts) {
    Classified shape = classifyKernel(graph, part, caps);
    auto *kernel = std::get_if<KernelShape>(&shape);
    if (!kernel || kernel->kind != StringRef(kernel_kinds::map))
      return whole;
    result.recomputed += kernel->recomputed;
  }
  if (auto rejected = checkCaps(graph, members, caps))
    return *rejected;
  return result;
}

static bool isConstant(Type type) {
  return llvm::all_of(dimsOf(type), [](AffineExpr dim) {
    return isa<AffineConstantExpr>(dim);
  });
}

// Whether the group is a pointwise kernel of known sizes. One that checks
// indices is left alone: what replaces state runs after it.
static bool isPlainMap(const FusionGraph &graph, const OpSet &members,
                       const KernelCaps &caps) {
  for (unsigned index : members)
    if (!isConstant(graph.op(index)->getResult(0).getType()))
      return false;
  for (unsigned index : graph.body(members)) {
    PatternKind kind = kindOf(graph.op(index));
    if (kind != PatternKind::pointwise && kind != PatternKind::view &&
        kind != PatternKind::source && kind != PatternKind::random)
      return false;
  }
  Classified shape = classifyGroup(graph, members, caps);
  auto *kernel = std::get_if<KernelShape>(&shape);
  return kernel && kernel->kind == StringRef(kernel_kinds::map);
}

// Whether the group is such a kernel, small, and nothing waits for it.
static bool qualifies(const FusionGraph &graph, const OpSet &members,
                      const KernelCaps &caps) {
  if (graph.outputs(members).empty())
    return false;
  double elements = 0;
  for (unsigned index : members) {
    Type type = graph.op(index)->getResult(0).getType();
    bool isRead = llvm::any_of(graph.consumers(index), [&](unsigned user) {
      return !llvm::is_contained(members, user);
    });
    if (isRead || graph.isAwaited(index))
      return false;
    if (graph.isReturned(index))
      elements += estimatedElements(type);
  }
  return elements <= mostElements && isPlainMap(graph, members, caps);
}

static void record(const FusionGraph &graph, const OpSet &one,
                   const OpSet &other, const std::optional<Rejection> &rejected,
                   const MachineModel &machine,
                   std::vector<FusionDecision> &decisions) {
  Operation *first = graph.op(one.back()), *second = graph.op(other.back());
  FusionDecision decision;
  decision.accepted = !rejected;
  decision.rule = rejected ? rejected->rule : "horizontal";
  decision.estUs = rejected ? 0 : float(machine.launchMicroseconds());
  auto nodes = nodesOf(mergeLocations(first->getLoc(), second->getLoc()));
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail = llvm::formatv(
      "{0} side by side with {1}{2}{3}", first->getName().stripDialect(),
      second->getName().stripDialect(), rejected ? ": " : "",
      rejected ? rejected->detail : "");
  decisions.push_back(std::move(decision));
}

namespace {

/// The kernel that grows, and the tensors that it reads.
class Row {
public:
  Row(FusionGraph &graph, const FuseOptions &options,
      std::vector<FusionDecision> &decisions)
      : graph(graph), options(options), decisions(decisions) {}

  void take(unsigned group) {
    const OpSet members = graph.members(group);
    SmallVector<Value> tensors;
    for (Value input : graph.inputs(graph.body(members)))
      if (estimatedElements(input.getType()) != 1)
        tensors.push_back(input);
    if (current) {
      auto rejected = rejection(group, tensors);
      record(graph, graph.members(*current), members, rejected,
             options.caps.machine, decisions);
      if (rejected) {
        // One that is full makes room; one that is in the way stays behind.
        if (rejected->rule == StringRef("shared_input"))
          return;
        current = std::nullopt;
        inputs.clear();
      }
    }
    inputs.insert(tensors.begin(), tensors.end());
    if (!current) {
      current = group;
      return;
    }
    unsigned first = std::min(*current, group);
    graph.merge(first, std::max(*current, group));
    current = first;
  }

private:
  // An update overwrites what it reads at its own index only: the reads of one
  // tensor must not be spread over several walks.
  std::optional<Rejection> rejection(unsigned group,
                                     ArrayRef<Value> tensors) const {
    if (llvm::any_of(tensors,
                     [&](Value tensor) { return inputs.contains(tensor); }))
      return Rejection{"shared_input", "both read one tensor"};
    return checkCaps(graph, graph.united(*current, group), options.caps);
  }

  FusionGraph &graph;
  const FuseOptions &options;
  std::vector<FusionDecision> &decisions;
  std::optional<unsigned> current;
  llvm::SmallPtrSet<Value, 32> inputs;
};

} // namespace

static bool areNumbers(const FusionGraph &graph, const OpSet &members) {
  return llvm::all_of(members, [&](unsigned index) {
    return isNumber(graph.op(index)->getResult(0));
  });
}

// Whether a kernel of other shapes can store these numbers, too.
static bool takesAlong(const FusionGraph &graph, unsigned host,
                       unsigned numbers, const KernelCaps &caps) {
  const OpSet &members = graph.members(host);
  return !areNumbers(graph, members) && isPlainMap(graph, members, caps) &&
         isPlainMap(graph, graph.united(host, numbers), caps) &&
         !graph.wouldCycle(host, numbers);
}

// Numbers that are left, such as counts of steps, go with a kernel that runs
// anyway: the last one that can take them, because others read their old values
// before.
static void takeNumbersAlong(FusionGraph &graph, const FuseOptions &options,
                             std::vector<FusionDecision> &decisions) {
  constexpr unsigned mostHosts = 16;
  SmallVector<unsigned> order = graph.executionOrder();
  for (unsigned group : order) {
    const OpSet &members = graph.members(group);
    if (members.empty() || !areNumbers(graph, members) ||
        !qualifies(graph, members, options.caps))
      continue;
    unsigned tried = 0;
    for (unsigned host : llvm::reverse(order)) {
      if (graph.members(host).empty() || host == group)
        continue;
      if (takesAlong(graph, host, group, options.caps)) {
        record(graph, graph.members(host), members, std::nullopt,
               options.caps.machine, decisions);
        graph.merge(std::min(host, group), std::max(host, group));
        break;
      }
      if (++tried == mostHosts)
        break;
    }
  }
}

void mergeIndependent(FusionGraph &graph, const FuseOptions &options,
                      std::vector<FusionDecision> &decisions) {
  Row row(graph, options, decisions);
  for (unsigned group : graph.executionOrder())
    if (qualifies(graph, graph.members(group), options.caps))
      row.take(group);
  takeNumbersAlong(graph, options, decisions);
}

} // namespace sinter::compiler
