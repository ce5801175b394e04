/// Marks divisions whose divisor is shared.
#include "compiler/Passes.h"
#include "compiler/analysis/Marks.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/Elementwise.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_MARKSHAREDDIVISORS
#include "sinter/generated/Passes.h.inc"

namespace {

/// What is computed from reductions and numbers alone. Broadcasts do not count:
/// a static program has none where a row has one element.
class Shared {
public:
  explicit Shared(Block &block) {
    for (Operation &op : block.without_terminator())
      if (op.getNumResults() == 1)
        visit(&op);
  }

  /// Whether the value comes from reductions of elements of `shape`.
  bool isReduced(Value value, const Shape &shape) const {
    auto found = origins.find(value);
    return found != origins.end() && found->second == shape;
  }

private:
  void visit(Operation *op) {
    Value result = op->getResult(0);
    switch (kindOf(op)) {
    case graph::PatternKind::source:
      numbers.insert(result);
      return;
    case graph::PatternKind::reduction:
      origins[result] = shapeOf(op->getOperand(0));
      return;
    default:
      break;
    }
    if (!isa<ir::PointwiseOpInterface>(op) && !ir::repeatsElements(op) &&
        !ir::keepsLinearOrder(op))
      return;
    std::optional<Shape> origin;
    for (Value operand : op->getOperands()) {
      if (numbers.contains(operand))
        continue;
      auto found = origins.find(operand);
      if (found == origins.end() || (origin && *origin != found->second))
        return;
      origin = found->second;
    }
    if (origin)
      origins[result] = *origin;
    else
      numbers.insert(result);
  }

  llvm::DenseSet<Value> numbers;
  llvm::DenseMap<Value, Shape> origins;
};

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

static bool roundsToIntegers(Operation *op) {
  if (isa<ir::CastOp>(op)) {
    Type element = getElementTypeOrSelf(op->getResult(0));
    return isa<IntegerType>(element) && !element.isInteger(1);
  }
  return isa<ir::FloorOp, ir::CeilOp, ir::TruncOp, ir::RoundOp>(op);
}

/// Floats of which an integer is made, element by element: their last place
/// may decide which one.
static llvm::DenseSet<Value> roundedValues(Block &block) {
  llvm::DenseSet<Value> rounded;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (op.getNumResults() != 1)
      continue;
    bool isCarried = isa<ir::PointwiseOpInterface>(op) ||
                     kindOf(&op) == graph::PatternKind::view;
    if (!roundsToIntegers(&op) &&
        !(isCarried && rounded.contains(op.getResult(0))))
      continue;
    for (Value operand : op.getOperands())
      if (isFloat(operand))
        rounded.insert(operand);
  }
  return rounded;
}

// Whether all elements are one number: of rank 0, or a constant.
static bool isOneNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ir::FullOp>(op))
      return true;
    if (!ir::repeatsElements(op) && !ir::keepsLinearOrder(op))
      break;
    value = op->getOperand(0);
  }
  return shapeOf(value).empty();
}

struct MarkSharedDivisorsPass
    : impl::MarkSharedDivisorsBase<MarkSharedDivisorsPass> {
  using Base::Base;
  void runOnOperation() override {
    Block &block = mainOf(getOperation()).getBody().front();
    Shared shared(block);
    llvm::DenseSet<Value> rounded = roundedValues(block);
    block.walk([&](ir::DivOp op) {
      Type element = getElementTypeOrSelf(op.getResult());
      if ((element.isF32() || element.isF64()) &&
          !rounded.contains(op.getResult()) &&
          (shared.isReduced(op.getRhs(), shapeOf(op.getResult())) ||
           (numbers && isOneNumber(op.getRhs()) &&
            !shapeOf(op.getResult()).empty())))
        op->setAttr(sharedDivisorAttr, UnitAttr::get(&getContext()));
    });
  }
};

} // namespace

} // namespace sinter::compiler
