/// Marks sums whose product need not be rounded by itself.
#include "compiler/Passes.h"
#include "compiler/analysis/Marks.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Reduce.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_CONTRACTMULTIPLYADD
#include "sinter/generated/Passes.h.inc"

namespace {

/// Which values come from numbers alone. A static program folds them where a
/// symbolic one computes them, so they must not decide what is contracted.
class Numbers {
public:
  explicit Numbers(Block &block) {
    auto isKnown = [&](Value value) { return contains(value); };
    for (Operation &op : block.without_terminator())
      if (kindOf(&op) == graph::PatternKind::source ||
          (op.getNumOperands() && llvm::all_of(op.getOperands(), isKnown)))
        known.insert(op.getResult(0));
  }
  bool contains(Value value) const { return known.contains(value); }

private:
  llvm::DenseSet<Value> known;
};

} // namespace

static bool isFloating(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

// Whether the addend is a product of one of the same factors: of a * b - a * b,
// one side alone must not be spared its rounding.
static bool sharesFactor(ir::MulOp product, Value addend) {
  auto other = addend.getDefiningOp<ir::MulOp>();
  return other && llvm::any_of(other->getOperands(), [&](Value factor) {
           return llvm::is_contained(product->getOperands(), factor);
         });
}

// Whether an axis is summed whose elements are products that nothing else
// reads. 16-bit floats are converted in between.
static bool sumsProducts(Operation *op, const Numbers &numbers) {
  auto sum = dyn_cast<ir::SumOp>(op);
  auto product = sum ? sum.getX().getDefiningOp<ir::MulOp>() : ir::MulOp();
  return product && isFloating(sum.getX()) &&
         getElementTypeOrSelf(sum.getX().getType()).getIntOrFloatBitWidth() >=
             32 &&
         product->hasOneUse() && !numbers.contains(product);
}

// The operand of a sum that is a product which nothing else reads; the first of
// two.
static std::optional<unsigned> productOperand(Operation *sum,
                                              const Numbers &numbers) {
  if (sumsProducts(sum, numbers))
    return 0;
  if (!isa<ir::AddOp, ir::SubOp>(sum) || !isFloating(sum->getResult(0)))
    return std::nullopt;
  for (OpOperand &operand : sum->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto product = operand.get().getDefiningOp<ir::MulOp>();
    if (product && product->hasOneUse() && !numbers.contains(product) &&
        !sharesFactor(product, sum->getOperand(1 - number)))
      return number;
  }
  return std::nullopt;
}

namespace {

struct ContractMultiplyAddPass
    : impl::ContractMultiplyAddBase<ContractMultiplyAddPass> {
  using Base::Base;
  void runOnOperation() override {
    Block &block = mainOf(getOperation()).getBody().front();
    Numbers numbers(block);
    Builder builder(&getContext());
    for (Operation &op : block.without_terminator())
      if (auto operand = productOperand(&op, numbers))
        op.setAttr(contractAttr, builder.getI64IntegerAttr(*operand));
  }
};

} // namespace

} // namespace sinter::compiler
