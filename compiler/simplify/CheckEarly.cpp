/// Positions that are known at the start are checked then.
#include "compiler/Passes.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "compiler/lower/IndexChecks.h"
#include "compiler/lower/OpsBehind.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Gather.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_CHECKEARLY
#include "sinter/generated/Passes.h.inc"

using graph::PatternKind;

// Gathers and scatters alike: x, positions along an axis of it, ...
static constexpr unsigned positionsOperand = 1;

// Whether they are what the program is given, seen in some way.
static bool isGiven(Value positions) {
  return llvm::all_of(opsBehind(positions), [](Operation *op) {
    return kindOf(op) == PatternKind::view;
  });
}

// Whether all that it does is to check them.
static bool onlyChecks(Operation *op) {
  Operation *all = op->getOperand(0).getDefiningOp();
  return kindOf(op) == PatternKind::gather && all &&
         kindOf(all) == PatternKind::source;
}

// Whether something long comes before the op.
static bool isLate(Operation *op) {
  auto takesLong = [](Operation *before) {
    PatternKind kind = kindOf(before);
    return kind == PatternKind::contraction || kind == PatternKind::attention ||
           kind == PatternKind::reduction;
  };
  return llvm::any_of(opsBehind(op->getOperands()), takesLong);
}

// The positions themselves, looked up among all that there are.
static void checkEarly(Operation *op, OpBuilder &builder) {
  Value positions = op->getOperand(positionsOperand);
  auto type = cast<RankedTensorType>(positions.getType());
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  SmallVector<AffineExpr> dims = dimsOf(type);
  dims[axis.getInt()] = dimsOf(op->getOperand(0).getType())[axis.getInt()];
  unsigned symbols = numSymbolsOf(op);
  builder.setInsertionPoint(op);
  Value all = ir::IotaOp::create(
      builder, op->getLoc(), tensorType(type.getElementType(), dims, symbols),
      shapeAttr(builder.getContext(), dims, symbols), axis,
      TypeAttr::get(type.getElementType()));
  auto check =
      ir::GatherOp::create(builder, op->getLoc(), type, all, positions, axis);
  check->setAttr(checksAttr, builder.getUnitAttr());
  op->setOperand(positionsOperand, check);
  op->setAttr(checkedAttr, builder.getUnitAttr());
}

namespace {

struct CheckEarlyPass : impl::CheckEarlyBase<CheckEarlyPass> {
  using Base::Base;
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<Operation *> late;
    for (Operation &op :
         mainOf(getOperation()).getBody().front().without_terminator()) {
      PatternKind kind = kindOf(&op);
      bool usesPositions =
          kind == PatternKind::gather || kind == PatternKind::scatter;
      if (!usesPositions || !isGiven(op.getOperand(positionsOperand)))
        continue;
      if (onlyChecks(&op))
        op.setAttr(checksAttr, builder.getUnitAttr());
      else if (isLate(&op))
        late.push_back(&op);
    }
    for (Operation *op : late)
      checkEarly(op, builder);
  }
};

} // namespace

} // namespace sinter::compiler
