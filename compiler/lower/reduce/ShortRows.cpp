/// Which rows are short enough for a thread.
#include "compiler/lower/reduce/ShortRows.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

// Fewer rows keep too few threads busy.
static constexpr int64_t leastRows = 1024;
// Where a row lies in memory as it is reduced, threads read it a line each: of
// longer rows lines would leave the first-level cache before they are used up.
static constexpr int64_t mostBytesOfRow = 64;

// The bytes of an element, as what the kernel reads of that shape has it.
static int64_t bytesOf(program::KernelOp kernel, Value operand) {
  int64_t bits = 8;
  for (Value input : kernel.getInputs())
    if (shapeOf(input) == shapeOf(operand))
      bits = std::max<int64_t>(
          bits, memoryType(elementOf(input)).getIntOrFloatBitWidth());
  return bits / 8;
}

static bool isShort(program::KernelOp kernel, Operation *reduction) {
  Value operand = reduction->getOperand(0);
  int64_t length = constantOf(reducedExtent(reduction));
  if (length < 2 || length > shortReduction || !reducesTrailing(reduction))
    return false;
  Shape shape = shapeOf(operand);
  unsigned last = shape.size() - 1;
  while (isOne(shape[last]))
    --last;
  bool liesInRow = neighboursAlong(operand, last) > 1;
  return !liesInRow || length * bytesOf(kernel, operand) <= mostBytesOfRow;
}

bool lanesHaveRows(program::KernelOp kernel, const Target &target) {
  if (!target.traits().apart)
    return false;
  AffineExpr rows;
  for (Operation &op : kernel.getBlock()) {
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    if (!described ||
        described.getPatternKind() != graph::PatternKind::reduction)
      continue;
    Shape shape = shapeOf(op.getResult(0));
    rows = product(shape, 0, shape.size(), kernel->getContext());
    if (canonicalOrder(&op) != CanonicalOrder::lanes || !isShort(kernel, &op))
      return false;
  }
  if (!rows || (constantOf(rows) >= 0 && constantOf(rows) < leastRows))
    return false;
  // One walk of numbers of rows: what one output takes the place of, no other
  // walk reads.
  Shape shape = shapeOf(kernel.getOutputs().front());
  return product(shape, 0, shape.size(), kernel->getContext()) == rows &&
         llvm::all_of(kernel.getOutputs(),
                      [&](Value output) { return shapeOf(output) == shape; });
}

} // namespace sinter::compiler
