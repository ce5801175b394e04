/// Stores what has many copies.
#include "compiler/fuse/StoreCopied.h"
#include "compiler/import/Locations.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

// An inlined value of so many elements is worth a kernel of its own where many
// others would repeat it.
static constexpr uint64_t fewElements = 6;

void storeValue(Operation *op, ClassifiedOps &ops, FusionDecision decision,
                std::vector<FusionDecision> &decisions) {
  op->setAttr(storedAttr, UnitAttr::get(op->getContext()));
  if (int index = ops.indexOf(op->getResult(0)); index >= 0)
    ops.store(index);
  decisions.push_back(std::move(decision));
}

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
  Operation *op = ops.op(stored), *reader = ops.op(index);
  FusionDecision decision;
  decision.rule = "cap_copies";
  decision.bytes = int64_t(2 * estimatedBytes(op->getResult(0).getType()));
  auto nodes = nodesOf(mergeLocations(op->getLoc(), reader->getLoc()));
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail =
      llvm::formatv("{0} into {1}: {2}", op->getName().stripDialect(),
                    reader->getName().stripDialect(), why);
  storeValue(op, ops, std::move(decision), decisions);
}

// Of values that many kernels repeat, the nearest is stored. Single numbers are
// no worse than a read of them.
bool CopiedStorer::storeNearest(unsigned index, const OpSet &body,
                                const EmissionCounter &counter) {
  std::optional<unsigned> stored;
  for (unsigned each : body) {
    if (each == index || rankOf(ops.op(each)->getResult(0)) == 0)
      continue;
    copies[each] += counter.of(each);
    if (copies[each] > options.caps.copies && elementsOf(each) > fewElements)
      stored = each;
  }
  if (stored)
    store(*stored, index,
          llvm::formatv("{0} elements would be written out {1} times",
                        elementsOf(*stored), copies[*stored]));
  return stored.has_value();
}

bool CopiedStorer::consider(unsigned index) {
  bool changed = false;
  while (true) {
    OpSet body = ops.body({index});
    EmissionCounter counter(ops, body, {index});
    size_t inputs = ops.inputs(body).size();
    std::optional<unsigned> stored;
    if (counter.total() > mostEmissions(body, inputs, options.caps.copies))
      stored = mostCopied(index, body, counter);
    if (!stored)
      return (ops.isCore(index) && storeNearest(index, body, counter)) ||
             changed;
    changed = true;
    store(*stored, index,
          llvm::formatv(
              "{0} elements would be written out for {1} ops and inputs",
              counter.total(), body.size() + inputs));
  }
}

} // namespace sinter::compiler
