/// Takes the least of an extremum's bits and those of the canonical NaN.
#include "compiler/target/cuda/MachineNan.h"

#include "compiler/lower/CanonicalNan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

// Whether it takes one NaN for another: its own result has the machine's or is
// no float, or it looks for NaN itself. Nobody relies on what a loop carries.
static bool takesAnyNan(Operation *user) {
  if (isa<scf::YieldOp>(user))
    return isa<scf::ForOp>(user->getParentOp());
  if (auto select = dyn_cast<arith::SelectOp>(user)) {
    auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
    return compare && compare.getPredicate() == arith::CmpFPredicate::UNO &&
           compare.getLhs() == select.getFalseValue();
  }
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::AddFOp, arith::SubFOp,
             arith::MulFOp, arith::DivFOp, arith::CmpFOp, arith::TruncFOp,
             arith::ExtFOp, math::FmaOp>(user);
}

static void takeCanonical(Operation *extremum) {
  Value value = extremum->getResult(0);
  OpBuilder builder(extremum->getContext());
  builder.setInsertionPointAfter(extremum);
  Location loc = extremum->getLoc();
  Type word = builder.getI32Type();
  TypedAttr nan = builder.getI32IntegerAttr(0x7fc00000);
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    word = vector.clone(word);
    nan = DenseElementsAttr::get(cast<VectorType>(word), nan);
  }
  Value bits = arith::BitcastOp::create(builder, loc, word, value);
  Value least = arith::MinSIOp::create(
      builder, loc, bits, arith::ConstantOp::create(builder, loc, nan));
  Value canonical =
      arith::BitcastOp::create(builder, loc, value.getType(), least);
  value.replaceUsesWithIf(canonical, [&](OpOperand &use) {
    return use.getOwner() != bits.getDefiningOp() &&
           !takesAnyNan(use.getOwner());
  });
}

void canonicalExtrema(func::FuncOp function) {
  SmallVector<Operation *> extrema;
  function.walk([&](Operation *op) {
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF32() &&
        !ignoresNan(op) && !llvm::all_of(op->getUsers(), takesAnyNan))
      extrema.push_back(op);
  });
  llvm::for_each(extrema, takeCanonical);
}

} // namespace sinter::compiler
