/// Common subexpressions: equal ops become one that keeps all nodes.
#include "compiler/Passes.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Scan.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_MERGEDUPLICATES
#include "sinter/generated/Passes.h.inc"

namespace {

/// Equality of ops by name, operands, attributes and types.
struct SameOp : public llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    if (a == getTombstoneKey() || a == getEmptyKey() ||
        b == getTombstoneKey() || b == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(
        const_cast<Operation *>(a), const_cast<Operation *>(b),
        OperationEquivalence::IgnoreLocations);
  }
};

} // namespace

/// So many nodes an op that stands for others names: a number that a long
/// recording uses everywhere is part of many kernels, each with these.
static constexpr size_t mostLocations = 256;

void mergeDuplicates(func::FuncOp function) {
  llvm::DenseSet<Operation *, SameOp> known;
  // Of those that stand for more than themselves; merged at the end, as each
  // merge copies what is there.
  llvm::MapVector<Operation *, SmallVector<Location>> locations;
  Block &block = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    // Loops and carries of one kind go their own ways.
    if (isa<ir::ScanIndexOp, ir::ScanCarryOp>(op))
      continue;
    auto [first, isNew] = known.insert(&op);
    if (isNew)
      continue;
    SmallVector<Location> &merged = locations[*first];
    if (merged.empty())
      merged.push_back((*first)->getLoc());
    if (merged.size() < mostLocations)
      merged.push_back(op.getLoc());
    op.replaceAllUsesWith(*first);
    op.erase();
  }
  for (const auto &[op, merged] : locations)
    op->setLoc(FusedLoc::get(op->getContext(), merged));
}

namespace {

struct MergeDuplicatesPass : impl::MergeDuplicatesBase<MergeDuplicatesPass> {
  using Base::Base;
  void runOnOperation() override { mergeDuplicates(mainOf(getOperation())); }
};

} // namespace

} // namespace sinter::compiler
