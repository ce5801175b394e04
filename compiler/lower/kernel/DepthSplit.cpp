/// DepthSplit: which contractions have one, and how long its parts are.
#include "compiler/lower/kernel/DepthSplit.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "dialects/program/Program.h"

using namespace mlir;

namespace sinter::compiler {

// Of k in a part, for as many results; of fewer ones parts are longer, so that
// they are worth a core's while, or a warp's. And parts at most, about.
struct Parts {
  int64_t shortest, fullResults, most;
};
constexpr Parts ofCores = {2048, 2048, 32}, ofThreads = {256, 256, 128};
// Results beyond which there are parts enough without those of k.
constexpr int64_t mostResults = 1 << 16;
// Of a block, which has tiles of results: of k in a part, and of how many sums
// all parts are, about.
constexpr int64_t shortestOfBlock = 256, sumsOfBlocks = 1 << 20;

// Other axes may lie between those that rows are made of, as channels do
// between those of a batch and of its places.
bool sumsOverRows(ir::ContractionOpInterface op) {
  unsigned leftAxis = op.getLhsAxis(ir::ContractionLoop::k),
           rightAxis = op.getRhsAxis(ir::ContractionLoop::k);
  Value left = op.getLhs(), right = op.getRhs();
  if (runsOverWindows(left, leftAxis) || runsOverWindows(right, rightAxis))
    return true;
  return op.getNumBatchLoops() == 0 && beginsOutermost(left, leftAxis) &&
         beginsOutermost(right, rightAxis);
}

// With as many parts as there are results few.
static DepthSplit splitForBlocks(AffineExpr results, AffineExpr depth) {
  MLIRContext *context = depth.getContext();
  auto number = [&](int64_t value) {
    return getAffineConstantExpr(value, context);
  };
  auto atLeastOne = [&](AffineExpr size) {
    return size + number(1).floorDiv(size + 1);
  };
  AffineExpr most = number(sumsOfBlocks).ceilDiv(atLeastOne(results));
  DepthSplit split;
  split.length =
      atLeastOne(depth).ceilDiv(most * shortestOfBlock) * shortestOfBlock;
  split.count = atLeastOne(depth).ceilDiv(split.length);
  split.most = constantOf(most);
  return split;
}

// By the sizes alone.
static std::optional<DepthSplit> splitOfSizes(ir::ContractionOpInterface op,
                                              AffineExpr depth, PartOf who) {
  MLIRContext *context = op.getContext();
  Shape shape = shapeOf(op.getResult());
  AffineExpr results = product(shape, 0, shape.size(), context);
  int64_t known = constantOf(results), length = constantOf(depth);
  if (who == PartOf::block) {
    DepthSplit split = splitForBlocks(results, depth);
    return constantOf(split.count) == 1 ? std::nullopt : std::optional(split);
  }
  if (known >= mostResults || known == 0)
    return std::nullopt;
  auto number = [&](int64_t value) {
    return getAffineConstantExpr(value, context);
  };
  auto isZero = [&](AffineExpr size) { return number(1).floorDiv(size + 1); };
  const Parts &parts = who == PartOf::threads ? ofThreads : ofCores;
  AffineExpr wide =
      number(parts.fullResults).ceilDiv(results + isZero(results));
  AffineExpr part = wide * parts.shortest;
  DepthSplit split;
  split.length = (depth.floorDiv(part * parts.most) + 1) * part;
  // Too many results: all of k is one part.
  if (known < 0)
    split.length = split.length +
                   isZero(number(mostResults).floorDiv(results + 1)) * depth;
  if (length >= 0 && known > 0 && length <= constantOf(split.length))
    return std::nullopt;
  split.count = depth.ceilDiv(split.length) + isZero(depth);
  return split;
}

std::optional<DepthSplit> splitDepth(ir::ContractionOpInterface op,
                                     AffineExpr depth, NumericsMode numerics,
                                     PartOf who) {
  bool isFloat = isa<FloatType>(elementOf(op.getResult()));
  if (numerics == NumericsMode::exact || !isFloat || !sumsOverRows(op))
    return std::nullopt;
  std::optional<DepthSplit> split = splitOfSizes(op, depth, who);
  int64_t scheduled = scheduledSplit(op->getParentOfType<program::KernelOp>());
  int64_t known = constantOf(depth);
  bool isOwn = split && constantOf(split->length) == scheduled;
  if (scheduled <= 0 || isOwn || scheduled % shortestOfBlock != 0)
    return split;
  if (known >= 0 && known <= scheduled)
    return std::nullopt;
  AffineExpr length = getAffineConstantExpr(scheduled, op.getContext());
  AffineExpr count = (depth + 1 - depth.ceilDiv(depth + 1)).ceilDiv(length);
  return DepthSplit{length, count, constantOf(count)};
}

} // namespace sinter::compiler
