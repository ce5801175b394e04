/// Takes the least of an extremum's bits and those of the canonical NaN, where
/// the machine has made them.
#include "compiler/target/cuda/MachineNan.h"

#include "compiler/math/Nans.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

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

static bool isExtremum(Operation *op) {
  return isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op);
}

// The value before it was widened or spread.
static Value plainOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, vector::BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

// The number that it is known to be, by its bits too.
static std::optional<llvm::APFloat> numberOf(Value plain) {
  auto cast = plain.getDefiningOp<arith::BitcastOp>();
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(plain.getType()));
  llvm::APInt bits;
  if (cast && type && matchPattern(plainOf(cast.getIn()), m_ConstantInt(&bits)))
    return llvm::APFloat(type.getFloatSemantics(), bits);
  return knownNumber(plain);
}

static bool isFinite(Value operand) {
  auto number = numberOf(plainOf(operand));
  return number && number->isFinite();
}

// Whether it may turn out to be an infinity, as what a reduction begins with
// and what is read where there is nothing.
static bool mayBeInfinity(Value operand) {
  Value value = plainOf(operand);
  if (auto number = numberOf(value))
    return number->isInfinity();
  while (auto cast = value.getDefiningOp<arith::BitcastOp>())
    value = cast.getIn();
  Operation *op = value.getDefiningOp();
  if (isExtremum(op))
    return llvm::all_of(op->getOperands(), mayBeInfinity);
  return !op ||
         isa<arith::SelectOp, vector::MaskedLoadOp, scf::IfOp, scf::ForOp>(op);
}

bool isOfMachine(Operation *extremum) {
  return llvm::any_of(extremum->getOperands(), isFinite) ||
         llvm::none_of(extremum->getOperands(), mayBeInfinity);
}

static void takeCanonical(Operation *extremum) {
  Value value = extremum->getResult(0);
  OpBuilder builder(extremum->getContext());
  builder.setInsertionPointAfter(extremum);
  Location loc = extremum->getLoc();
  auto type = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  Type word = builder.getIntegerType(type.getWidth());
  TypedAttr nan = builder.getIntegerAttr(
      word, llvm::APFloat::getQNaN(type.getFloatSemantics()).bitcastToAPInt());
  if (auto vector = dyn_cast<VectorType>(value.getType())) {
    word = vector.clone(word);
    nan = DenseElementsAttr::get(cast<VectorType>(word), nan);
  }
  Value canonicalBits = arith::ConstantOp::create(builder, loc, nan);
  Value bits = arith::BitcastOp::create(builder, loc, word, value), chosen;
  llvm::SmallPtrSet<Operation *, 2> own{bits.getDefiningOp()};
  if (isOfMachine(extremum)) {
    chosen = arith::MinSIOp::create(builder, loc, bits, canonicalBits);
  } else {
    Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                        value, value);
    own.insert(isNan.getDefiningOp());
    chosen = arith::SelectOp::create(builder, loc, isNan, canonicalBits, bits);
  }
  Value canonical =
      arith::BitcastOp::create(builder, loc, value.getType(), chosen);
  value.replaceUsesWithIf(canonical, [&](OpOperand &use) {
    return !own.contains(use.getOwner()) && !takesAnyNan(use.getOwner());
  });
}

void canonicalExtrema(func::FuncOp function) {
  SmallVector<Operation *> extrema;
  function.walk([&](Operation *op) {
    if (!isExtremum(op) || ignoresNan(op) ||
        llvm::all_of(op->getUsers(), takesAnyNan))
      return;
    Type type = getElementTypeOrSelf(op->getResult(0).getType());
    // LLVM chooses the canonical NaN of f64 itself.
    if (type.isF32() || (type.isF64() && !isOfMachine(op)))
      extrema.push_back(op);
  });
  llvm::for_each(extrema, takeCanonical);
}

} // namespace sinter::compiler
