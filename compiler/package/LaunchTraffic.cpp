/// Traffic and arithmetic of a launch.
#include "compiler/package/LaunchTraffic.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Attention.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

// Bytes that the kernel reads of an input. A view or gather that takes few
// elements of a large tensor counts with what it takes.
static AffineExpr bytesRead(BlockArgument input) {
  AffineExpr all = byteCount(input.getType());
  AffineExpr taken = getAffineConstantExpr(0, input.getContext());
  for (OpOperand &use : input.getUses()) {
    Operation *user = use.getOwner();
    if (isa<program::YieldOp>(user))
      return all;
    PatternKind kind = kindOf(user);
    bool picks = kind == PatternKind::view ||
                 (kind == PatternKind::gather && use.getOperandNumber() == 0);
    if (!picks || user->getNumOperands() > 2)
      return all;
    taken = taken + byteCount(user->getResult(0).getType());
  }
  return estimate(taken) < estimate(all) ? taken : all;
}

// Multiplications and additions of one op.
static AffineExpr flopsOf(Operation *op) {
  MLIRContext *context = op->getContext();
  AffineExpr count = elementCount(op->getResult(0).getType());
  switch (kindOf(op)) {
  case PatternKind::pointwise:
    return count;
  case PatternKind::reduction:
  case PatternKind::prefix:
    return elementCount(op->getOperand(0).getType());
  case PatternKind::scatter:
    return elementCount(op->getOperands().back().getType());
  case PatternKind::contraction:
    return count * depthOf(cast<ir::ContractionOpInterface>(op)) * 2;
  default:
    return getAffineConstantExpr(0, context);
  }
}

static AffineExpr rowsOf(Value matrices) {
  auto dims = dimsOf(matrices.getType());
  return dims[dims.size() - 2];
}

// Of parts of attention, which share the scores of their kernel: of queries by
// keys by what a row has, half of it where queries see no later keys. Forward
// there are two such products, scores and results. Gradients have five: one
// each, and those for the scores and their gradients, which the kernel that
// walks keys counts; that others compute them again is not counted.
static AffineExpr flopsOfAttention(program::KernelOp kernel) {
  constexpr unsigned gradient = 4; // operand of a gradient
  AffineExpr own = getAffineConstantExpr(0, kernel.getContext());
  AffineExpr shared = own;
  bool isCausal = false;
  for (Operation &op : kernel.getBlock().without_terminator()) {
    auto part = dyn_cast<ir::AttentionOpInterface>(&op);
    if (!part)
      continue;
    isCausal = part.getSpan() == "causal";
    bool walksKeys = part.getWalkedOperand() == 1;
    AffineExpr queries = rowsOf(part.getQuery());
    AffineExpr keys = rowsOf(part.getKey());
    AffineExpr scores = elementCount(part.getQuery().getType()) * keys;
    if (!isa<ir::AttentionLogsumexpOp>(op))
      own = own + elementCount(op.getResult(0).getType()) *
                      (walksKeys ? queries : keys);
    if (isa<ir::AttentionOp, ir::AttentionLogsumexpOp>(op))
      shared = scores;
    else if (walksKeys)
      shared = scores + elementCount(op.getOperand(gradient).getType()) * keys;
  }
  AffineExpr flops = (own + shared) * 2;
  return isCausal ? flops.floorDiv(2) : flops;
}

LaunchTraffic trafficOf(program::KernelOp kernel, program::LaunchOp launch) {
  AffineExpr zero = getAffineConstantExpr(0, kernel.getContext());
  LaunchTraffic traffic{zero, zero, zero};
  for (BlockArgument input : kernel.getInputs())
    traffic.bytesRead = traffic.bytesRead + bytesRead(input);
  for (Value output : kernel.getOutputs())
    traffic.bytesWritten = traffic.bytesWritten + byteCount(output.getType());
  for (Operation &op : kernel.getBlock().without_terminator())
    traffic.flops = traffic.flops + flopsOf(&op);
  traffic.flops = traffic.flops + flopsOfAttention(kernel);
  // From the kernel's symbols to the program's.
  ArrayRef<AffineExpr> dims = launch.getDims().getResults();
  traffic.bytesRead = traffic.bytesRead.replaceSymbols(dims);
  traffic.bytesWritten = traffic.bytesWritten.replaceSymbols(dims);
  traffic.flops = traffic.flops.replaceSymbols(dims);
  return traffic;
}

} // namespace sinter::compiler
