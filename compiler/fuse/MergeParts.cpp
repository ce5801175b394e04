/// Parts of attention that one walk over the scores makes, and results of one
/// sort.
#include "compiler/fuse/MergeParts.h"

#include "compiler/fuse/Classifier.h"
#include "compiler/import/Locations.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

static double bytesRead(Operation *op) {
  double bytes = 0;
  for (Value operand : op->getOperands())
    bytes += estimatedBytes(operand.getType());
  return bytes;
}

static std::optional<Rejection> tryMerge(FusionGraph &graph, unsigned first,
                                         unsigned second,
                                         const KernelCaps &caps) {
  unsigned a = graph.groupOf(first), b = graph.groupOf(second);
  Classified shape = classifyKernel(graph, graph.united(a, b), caps);
  if (auto *rejection = std::get_if<Rejection>(&shape))
    return *rejection;
  if (graph.wouldCycle(a, b))
    return Rejection{"cycle", "another kernel runs between the two"};
  graph.merge(std::min(a, b), std::max(a, b));
  return std::nullopt;
}

void mergeParts(FusionGraph &graph, const FuseOptions &options,
                std::vector<FusionDecision> &decisions) {
  SmallVector<unsigned> parts;
  for (unsigned index = 0; index < graph.size(); ++index)
    if (graph.isCore(index) && areParts(graph.op(index), graph.op(index)))
      parts.push_back(index);
  for (unsigned i = 0; i < parts.size(); ++i)
    for (unsigned j = 0; j < i; ++j) {
      Operation *first = graph.op(parts[j]), *second = graph.op(parts[i]);
      if (graph.groupOf(parts[i]) == graph.groupOf(parts[j]) ||
          !areParts(first, second))
        continue;
      auto rejected = tryMerge(graph, parts[j], parts[i], options.caps);
      FusionDecision decision;
      decision.accepted = !rejected;
      decision.rule = rejected                     ? rejected->rule
                      : shareScores(first, second) ? "shares_scores"
                                                   : "shares_order";
      decision.bytes = int64_t(std::min(bytesRead(first), bytesRead(second)));
      auto nodes = nodesOf(mergeLocations(first->getLoc(), second->getLoc()));
      decision.nodes.assign(nodes.begin(), nodes.end());
      decision.detail =
          llvm::formatv("{0} with {1}{2}{3}", first->getName().stripDialect(),
                        second->getName().stripDialect(), rejected ? ": " : "",
                        rejected ? rejected->detail : "");
      decisions.push_back(std::move(decision));
    }
}

} // namespace sinter::compiler
