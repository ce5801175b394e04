/// Positions that kernels hand to each other take the bytes that they need.
#include "compiler/Passes.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_NARROWPOSITIONS
#include "sinter/generated/Passes.h.inc"

using graph::PatternKind;

// Whether the op finds positions along an axis.
static bool findsPositions(Operation &op) {
  auto folds = dyn_cast<ir::FoldOpInterface>(&op);
  return folds && (folds.getFold() == ir::Fold::argmax ||
                   folds.getFold() == ir::Fold::argmin);
}

// Whether arithmetic and reductions alone read the value, or views of it: they
// widen its elements on the way.
static bool isOnlyComputedWith(Value value) {
  llvm::SmallSetVector<Value, 8> views;
  views.insert(value);
  for (unsigned next = 0; next < views.size(); ++next)
    for (Operation *user : views[next].getUsers()) {
      auto described = dyn_cast<ir::SinterOpInterface>(user);
      if (!described)
        return false;
      PatternKind kind = described.getPatternKind();
      if (kind == PatternKind::view)
        views.insert(user->getResult(0));
      else if (kind != PatternKind::pointwise && kind != PatternKind::reduction)
        return false;
    }
  return !value.use_empty();
}

// The type with the fewest bytes that has all positions along the axis, of
// those that the device stores.
static std::optional<DType> narrowest(AffineExpr extent, bool hasBytes) {
  auto number = dyn_cast<AffineConstantExpr>(extent);
  if (!number)
    return std::nullopt;
  int64_t last = number.getValue() - 1;
  if (hasBytes && last <= std::numeric_limits<uint8_t>::max())
    return DType::u8;
  if (last <= std::numeric_limits<int32_t>::max())
    return DType::i32;
  return std::nullopt;
}

static Value castTo(Value value, Type element, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(value.getType());
  return ir::CastOp::create(
      builder, value.getLoc(),
      tensorType(element, dimsOf(type), numSymbolsOf(type)), value,
      TypeAttr::get(element));
}

static void narrow(Operation *op, DType dtype, OpBuilder &builder) {
  Value wide = op->getResult(0);
  builder.setInsertionPointAfter(op);
  Value few =
      castTo(wide, ir::elementType(builder.getContext(), dtype), builder);
  Value again = castTo(few, getElementTypeOrSelf(wide.getType()), builder);
  wide.replaceAllUsesExcept(again, few.getDefiningOp());
}

namespace {

struct NarrowPositionsPass : impl::NarrowPositionsBase<NarrowPositionsPass> {
  using Base::Base;
  void runOnOperation() override {
    bool bytes = program::targetOf(getOperation()).getBytes();
    OpBuilder builder(&getContext());
    SmallVector<std::pair<Operation *, DType>> found;
    for (Operation &op :
         mainOf(getOperation()).getBody().front().without_terminator()) {
      if (!findsPositions(op) || !isOnlyComputedWith(op.getResult(0)))
        continue;
      AffineExpr extent =
          dimsOf(op.getOperand(0).getType())[axesOf(&op).front()];
      if (auto dtype = narrowest(extent, bytes))
        found.push_back({&op, *dtype});
    }
    for (auto [op, dtype] : found)
      narrow(op, dtype, builder);
  }
};

} // namespace

} // namespace sinter::compiler
