/// Op after op, in the order of the program: what an op reads is settled
/// before.
#include "compiler/fuse/StoreCopied.h"
#include "compiler/fuse/CountEmissions.h"
#include "compiler/import/Locations.h"

#include "llvm/Support/FormatVariadic.h"

#include <optional>
#include <string>

using namespace mlir;

namespace sinter::compiler {

namespace {

// An inlined value of so many elements is worth a kernel of its own where many
// others would repeat it.
constexpr uint64_t fewElements = 6;

class CopiedStorer {
public:
  CopiedStorer(FusionGraph &graph, const FuseOptions &options,
               std::vector<FusionDecision> &decisions)
      : graph(graph), options(options), decisions(decisions),
        copies(graph.size()) {}

  void run() {
    for (unsigned index = 0; index < graph.size(); ++index)
      if (!graph.isRename(index))
        consider(index);
    if (changed)
      graph.connectAgain();
  }

private:
  void consider(unsigned index);
  void countCopies(unsigned index, const OpSet &body,
                   const EmissionCounter &counter);
  uint64_t elementsOf(unsigned index) const {
    return EmissionCounter(graph, graph.body({index}), {index}).total();
  }
  std::optional<unsigned> mostCopied(unsigned index, const OpSet &body,
                                     const EmissionCounter &counter) const;
  void store(unsigned stored, unsigned index, std::string why);

  FusionGraph &graph;
  const FuseOptions &options;
  std::vector<FusionDecision> &decisions;
  /// By inlined op: how often the core ops so far have it.
  SmallVector<uint64_t> copies;
  bool changed = false;
};

} // namespace

// The inlined op that, once stored, leaves the fewest elements.
std::optional<unsigned>
CopiedStorer::mostCopied(unsigned index, const OpSet &body,
                         const EmissionCounter &counter) const {
  std::optional<unsigned> best;
  uint64_t most = 0;
  for (unsigned each : body) {
    if (each == index)
      continue;
    uint64_t saved = counter.of(each) * (elementsOf(each) - 1);
    if (saved <= most)
      continue;
    best = each;
    most = saved;
  }
  return best;
}

void CopiedStorer::store(unsigned stored, unsigned index, std::string why) {
  Operation *op = graph.op(stored), *reader = graph.op(index);
  FusionDecision decision;
  decision.rule = "cap_copies";
  decision.bytes = int64_t(2 * estimatedBytes(op->getResult(0).getType()));
  auto nodes = nodesOf(mergeLocations(op->getLoc(), reader->getLoc()));
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail =
      llvm::formatv("{0} into {1}: {2}", op->getName().stripDialect(),
                    reader->getName().stripDialect(), why);
  decisions.push_back(std::move(decision));
  graph.store(stored);
  changed = true;
}

// Of values that many kernels repeat, the nearest is stored. Single numbers are
// no worse than a read of them.
void CopiedStorer::countCopies(unsigned index, const OpSet &body,
                               const EmissionCounter &counter) {
  std::optional<unsigned> stored;
  for (unsigned each : body) {
    if (each == index || rankOf(graph.op(each)->getResult(0)) == 0)
      continue;
    copies[each] += counter.of(each);
    if (copies[each] > options.caps.copies && elementsOf(each) > fewElements)
      stored = each;
  }
  if (stored)
    store(*stored, index,
          llvm::formatv("{0} elements would be written out {1} times",
                        elementsOf(*stored), copies[*stored]));
}

void CopiedStorer::consider(unsigned index) {
  while (true) {
    OpSet body = graph.body({index});
    EmissionCounter counter(graph, body, {index});
    size_t inputs = graph.inputs(body).size();
    std::optional<unsigned> stored;
    if (counter.total() > mostEmissions(body, inputs, options.caps.copies))
      stored = mostCopied(index, body, counter);
    if (stored) {
      store(*stored, index,
            llvm::formatv(
                "{0} elements would be written out for {1} ops and inputs",
                counter.total(), body.size() + inputs));
      continue;
    }
    if (graph.isCore(index))
      countCopies(index, body, counter);
    return;
  }
}

void storeCopied(FusionGraph &graph, const FuseOptions &options,
                 std::vector<FusionDecision> &decisions) {
  CopiedStorer(graph, options, decisions).run();
}

} // namespace sinter::compiler
