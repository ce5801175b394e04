/// What computing an element costs: a look at the scalar body.
#include "compiler/analysis/ElementCost.h"

#include "compiler/analysis/OpsBehind.h"
#include "compiler/analysis/Shapes.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sinter::compiler {

static bool isRandom(Operation *op) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  return described && described.getPatternKind() == graph::PatternKind::random;
}

// A function is a polynomial, a division and a root are a start and its
// corrections: so many instructions, about. One after the other on AVX-512,
// where each waits for the one before, a division takes as long as 6 additions,
// a root as 9, an exponential as 38 and a logarithm as 66.
static double costOf(Operation *scalar) {
  if (isa<math::MathDialect>(scalar->getDialect()))
    return isa<math::SqrtOp>(scalar) ? 10 : 16;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(scalar))
    return 10;
  return 1;
}

double operationsOf(Operation *op) {
  if (isRandom(op))
    return 100;
  auto pointwise = dyn_cast<ir::PointwiseOpInterface>(op);
  if (!pointwise)
    return 1;
  // Emit the body into a block of its own and look at it.
  MLIRContext *context = op->getContext();
  Location loc = UnknownLoc::get(context);
  Block block;
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    operands.push_back(block.addArgument(valueType(element), loc));
  }
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  pointwise.emitScalar(builder, loc, operands, element);
  double cost = 0;
  for (Operation &scalar : block)
    cost += costOf(&scalar);
  return cost;
}

double operationsBehind(ArrayRef<Value> tensors) {
  double total = 0;
  for (Operation *op : opsBehind(tensors))
    total += operationsOf(op);
  return total;
}

double elementNanoseconds(Block &body, const Target &target) {
  // Reading and storing it, mostly in caches.
  constexpr double leastNanoseconds = 0.2;
  const MachineModel &machine = target.machines().own;
  double total = leastNanoseconds;
  for (Operation &op : body)
    if (op.getNumResults() > 0)
      total += 1000 * machine.microsecondsOfOperations(operationsOf(&op),
                                                       bitsOf(op.getResult(0)));
  return total;
}

unsigned bitsOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
}

// Whether an element is at most as wide as those that lanes are counted in.
static bool isNarrow(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementTypeBitWidth() <= 32;
}

// A source whose elements are all one number.
static bool isNumberSource(Operation &op) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  return isa<ir::FullOp>(op) ||
         (op.getNumOperands() == 0 && type.getRank() == 0);
}

// Whether the elements that a kernel reads and writes have two bytes at most.
static bool hasShortElements(Block &body) {
  auto isShort = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor &&
           (tensor.getRank() == 0 || tensor.getElementTypeBitWidth() <= 16);
  };
  return llvm::all_of(body.getArgumentTypes(), isShort) &&
         llvm::all_of(body.getTerminator()->getOperandTypes(), isShort);
}

// About four transcendental functions: what a multiprocessor computes while its
// share of the memory's bandwidth moves two f32.
bool isArithmeticLong(Block &body) {
  constexpr double longest = 64;
  double cost = 0;
  for (Operation &op : body)
    if (isa<ir::PointwiseOpInterface>(op) && !isRandom(&op))
      cost += operationsOf(&op);
  return cost > longest;
}

unsigned loopLanes(Block &body, const Target &target) {
  if (target.traits().inOrder && isArithmeticLong(body))
    return target.lanes();
  using graph::PatternKind;
  // What a contraction reads is read in loops of its own.
  llvm::SmallDenseSet<Value> walked;
  for (Operation &op : llvm::reverse(body)) {
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    bool isWalked = !described || walked.contains(op.getResult(0));
    bool isProduct =
        described && described.getPatternKind() == PatternKind::contraction;
    if (isWalked && !isProduct)
      walked.insert(op.operand_begin(), op.operand_end());
    if (!described || !isWalked || isProduct)
      continue;
    PatternKind kind = described.getPatternKind();
    bool isPlain = kind == PatternKind::pointwise ||
                   kind == PatternKind::reduction || isNumberSource(op) ||
                   ir::keepsLinearOrder(&op) || ir::repeatsElements(&op);
    bool isNumber = kind == PatternKind::reduction;
    if (!isPlain || !llvm::all_of(op.getOperandTypes(), isNarrow) ||
        (!isNumber && !llvm::all_of(op.getResultTypes(), isNarrow)))
      return target.lanes();
  }
  unsigned vectors =
      hasShortElements(body) ? target.traits().vectorsOfShort : 2;
  return vectors * target.lanes();
}

} // namespace sinter::compiler
