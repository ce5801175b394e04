/// Searches along a short last axis of windows go side by side.
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Folds.h"
#include "sinter/generated/classes/Reduce.h"
#include "sinter/generated/classes/View.h"

using namespace mlir;

namespace sinter::compiler {

// Longer rows fill vectors by themselves; fewer neighbours fill none.
static constexpr int64_t longestRow = 32;
static constexpr int64_t leastNeighbours = 4;

static int64_t numberOf(AffineExpr extent) {
  auto number = dyn_cast<AffineConstantExpr>(extent);
  return number ? number.getValue() : -1;
}

// Whether these are windows: their elements are nowhere neighbours in memory.
static bool viewsWindows(Value value) {
  while (Value before = ir::reshapedOperand(value))
    value = before;
  auto map = ir::viewMapOf(value);
  return map && map->takesWindows();
}

// Which position is found does not depend on the order of the search.
template <typename Search>
static Value turnSearch(Search op, OpBuilder &builder) {
  SmallVector<AffineExpr> dims = dimsOf(op.getX().getType()), found;
  size_t rank = dims.size();
  if (rank < 2 || op.getAxis() != int64_t(rank) - 1 || !viewsWindows(op.getX()))
    return {};
  int64_t length = numberOf(dims[rank - 1]), others = numberOf(dims[rank - 2]);
  if (length < 1 || length > longestRow ||
      (others >= 0 && others < leastNeighbours))
    return {};
  Location loc = op.getLoc();
  unsigned symbols = numSymbolsOf(op);
  Value turned = exchanged(op.getX(), loc, builder);
  found.assign(dims.begin(), dims.end() - 1);
  Value place = Search::create(
      builder, loc, tensorType(builder.getI64Type(), found, symbols), turned,
      builder.getI64IntegerAttr(int64_t(rank) - 2), builder.getBoolAttr(false));
  if (place.getType() == op.getType())
    return place;
  return ir::ReshapeOp::create(
      builder, loc, op.getType(), place,
      shapeAttr(builder.getContext(), dimsOf(op.getType()), symbols));
}

Value turnShortRows(Operation *op, OpBuilder &builder) {
  if (auto search = dyn_cast<ir::ArgmaxOp>(op))
    return turnSearch(search, builder);
  if (auto search = dyn_cast<ir::ArgminOp>(op))
    return turnSearch(search, builder);
  return {};
}

} // namespace sinter::compiler
