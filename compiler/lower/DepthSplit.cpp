/// DepthSplit: which contractions have one, and how long its parts are.
#include "compiler/lower/DepthSplit.h"

#include "compiler/lower/Access.h"

using namespace mlir;

namespace sinter::compiler {

// Of k in a part, and parts at most, about.
constexpr int64_t shortestPart = 2048;
constexpr int64_t mostParts = 32;
// Results beyond which there are parts enough without those of k.
constexpr int64_t mostResults = 1 << 16;

// Sizes that users may make symbols of are rows. Sums over other axes, those of
// a layer's inputs, have no part in this: how many rows there are would choose
// for them.
static bool sumsOverRows(ir::MatmulOp op) {
  unsigned rank = shapeOf(op.getResult()).size();
  Value left = op.getLhs(), right = op.getRhs();
  if (runsOverWindows(left, rank - 1) || runsOverWindows(right, rank - 2))
    return true;
  return rank == 2 && isOutermost(left, 1) && isOutermost(right, 0);
}

std::optional<DepthSplit> splitDepth(ir::MatmulOp op, AffineExpr depth,
                                     NumericsMode numerics) {
  bool isFloat = isa<FloatType>(elementOf(op.getResult()));
  if (numerics == NumericsMode::exact || !isFloat || !sumsOverRows(op))
    return std::nullopt;
  MLIRContext *context = op.getContext();
  Shape shape = shapeOf(op.getResult());
  AffineExpr results = product(shape, 0, shape.size(), context);
  int64_t known = constantOf(results), length = constantOf(depth);
  if (known >= mostResults || known == 0 ||
      (length >= 0 && length <= shortestPart))
    return std::nullopt;
  DepthSplit split;
  AffineExpr parts = depth.floorDiv(shortestPart * mostParts) + 1;
  split.length = parts * shortestPart;
  if (known < 0) {
    // 1 where there are too many results, else 0.
    AffineExpr bound = getAffineConstantExpr(mostResults, context);
    AffineExpr one = getAffineConstantExpr(1, context);
    AffineExpr fits = bound.floorDiv(results + 1);
    split.length = split.length + one.floorDiv(fits + 1) * depth;
  }
  AffineExpr one = getAffineConstantExpr(1, context);
  split.count = depth.ceilDiv(split.length) + one.floorDiv(depth + 1);
  return split;
}

} // namespace sinter::compiler
