/// Reductions along rows that blocks of threads work on.
#include "compiler/lower/reduce/RowSpace.h"

#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/reduce/BlockRows.h"
#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

bool RowSpace::add(Operation *op) {
  Shape own = shapeOf(op->getOperand(0));
  SmallVector<int64_t> axes = reductionAxes(op).axes;
  auto rank = int64_t(own.size()), count = int64_t(axes.size());
  if (rank == 0 || count == 0 || (!shape.empty() && own != shape))
    return false;
  shape = own;
  auto combiner = makeCombiner(op->getResult(0));
  bool areFirst = axes == llvm::to_vector(llvm::seq<int64_t>(0, count));
  bool areLast = axes == llvm::to_vector(llvm::seq(rank - count, rank));
  if (areLast && (reductions.empty() || tailRank == count)) {
    tailRank = unsigned(count);
    reductions.push_back({op, std::move(combiner)});
  } else if (areFirst && count == rank - 1) {
    columns.push_back({op, std::move(combiner)});
  } else {
    return false;
  }
  return true;
}

bool RowSpace::find() {
  for (Operation &op : kernel.getBlock()) {
    if (isa<program::YieldOp>(op))
      continue;
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    if (!described || !joinsBlockRows(&op) ||
        (described.getPatternKind() == PatternKind::reduction && !add(&op)))
      return false;
  }
  if (reductions.empty() || (tailRank > 1 && !columns.empty()))
    return false;
  // What is only summed over several axes has the order of a single axis as
  // long, which other kernels know for lengths that are symbols, too.
  if (tailRank > 1 && !storesFull())
    return false;
  size_t lead = shape.size() - tailRank;
  length = constantOf(product(shape, lead, shape.size(), context));
  rows = product(shape, 0, lead, context);
  return true;
}

bool RowSpace::isFull(Value value) const { return shapeOf(value) == shape; }

bool RowSpace::isNumber(Value value) const {
  Shape own = shapeOf(value);
  return product(own, 0, own.size(), context) == rows;
}

bool RowSpace::storesFull() {
  return llvm::any_of(kernel.getOutputs(),
                      [&](Value output) { return isFull(output); });
}

int64_t RowSpace::fullInputs() {
  return llvm::count_if(kernel.getInputs(),
                        [&](Value input) { return isFull(input); });
}

Index RowSpace::indexOf(Emission &emission, Value tensor, Value row,
                        Value column, int64_t neighbours) const {
  Shape own = shapeOf(tensor);
  Index flat;
  flat.tail = emission.uniform(row);
  flat.tailRank = own.size() - (column ? tailRank : 0);
  if (!column)
    return flat;
  Index index;
  if (flat.tailRank)
    index.lead = emission.coordinates(
        flat, Shape(own.begin(), own.begin() + flat.tailRank));
  index.tail = neighbours == 1 ? emission.uniform(column)
                               : emission.along(column, unsigned(neighbours));
  index.tailRank = tailRank;
  return index;
}

} // namespace sinter::compiler
