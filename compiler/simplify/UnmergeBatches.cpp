/// Batch axes that were joined of some that repeat elements and some that do
/// not fall into these again.
#include "compiler/Passes.h"
#include "compiler/fuse/FusionGraph.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/AxisParts.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Attention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_UNMERGEBATCHES
#include "sinter/generated/Passes.h.inc"

using graph::PatternKind;
using DimList = SmallVector<AffineExpr>;

// Of products and attention: the axes before those of their matrices.
static constexpr size_t matrixAxes = 2;

namespace {

/// One op of matrices, for each step of its leading axes by itself.
class BatchedOp {
public:
  BatchedOp(Operation *op, AxisParts &parts, OpBuilder &builder)
      : op(op), parts(parts), builder(builder),
        writer(parts, builder, numSymbolsOf(op)),
        dims(dimsOf(op->getResult(0).getType())) {}

  /// Whether all operands with axes have the result's leading ones.
  bool isBatched() const;
  /// The result by an op with more batch axes; null where none falls apart.
  Value unmerged();
  /// Where the last batch axis repeats keys and values for one query each: the
  /// result by an op whose queries these are. Null elsewhere.
  Value withRepeatsAsRows();

private:
  size_t numBatches() const { return dims.size() - matrixAxes; }
  ArrayRef<AffineExpr> batches() const {
    return ArrayRef(dims).take_front(numBatches());
  }
  bool repeatsLastBatch(Value value);
  Value once(Value operand);
  Value apart(Value operand, const PartBuilder::Cuts &cuts);
  Value again(ArrayRef<Value> operands, ArrayRef<AffineExpr> newDims);

  Operation *op;
  AxisParts &parts;
  OpBuilder &builder;
  PartBuilder writer;
  DimList dims;
};

} // namespace

bool BatchedOp::isBatched() const {
  if (dims.size() <= matrixAxes)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    DimList own = dimsOf(operand.getType());
    return own.empty() || (own.size() == dims.size() &&
                           ArrayRef(own).take_front(numBatches()) == batches());
  });
}

// The operand with the batch axes cut so, its matrices as they are.
Value BatchedOp::apart(Value operand, const PartBuilder::Cuts &cuts) {
  if (rankOf(operand) == 0)
    return operand;
  PartBuilder::Cuts all(cuts);
  for (const PartList &list :
       ArrayRef(parts.of(operand)).take_back(matrixAxes)) {
    all.emplace_back();
    for (const AxisPart &part : list)
      all.back().push_back(part.extent);
  }
  DimList batch, matrix;
  for (auto [axis, cut] : llvm::enumerate(all))
    llvm::append_range(axis < cuts.size() ? batch : matrix, cut);
  Value value = writer.build(operand, all).value;
  // What of a matrix repeats is no matter here.
  DimList once(ArrayRef(dimsOf(value.getType())).take_front(batch.size()));
  DimList own(once);
  llvm::append_range(own, matrix);
  value = writer.broadcast(value, own);
  DimList given = dimsOf(operand.getType());
  llvm::append_range(once, ArrayRef(given).take_back(matrixAxes));
  llvm::append_range(batch, ArrayRef(given).take_back(matrixAxes));
  return writer.broadcast(writer.reshape(value, once), batch);
}

// The same op of other operands.
Value BatchedOp::again(ArrayRef<Value> operands, ArrayRef<AffineExpr> newDims) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  state.addTypes(tensorType(element, newDims, numSymbolsOf(op)));
  return builder.create(state)->getResult(0);
}

Value BatchedOp::unmerged() {
  PartBuilder::Cuts cuts;
  bool isApart = false;
  for (auto [axis, dim] : llvm::enumerate(batches())) {
    cuts.push_back({dim});
    for (Value operand : op->getOperands()) {
      if (rankOf(operand) == 0 || !parts.isMixed(operand, unsigned(axis)))
        continue;
      cuts.back().clear();
      for (const AxisPart &part : parts.of(operand)[axis])
        cuts.back().push_back(part.extent);
      isApart = true;
      break;
    }
  }
  if (!isApart)
    return {};
  DimList all;
  for (const auto &cut : cuts)
    llvm::append_range(all, cut);
  llvm::append_range(all, ArrayRef(dims).take_back(matrixAxes));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(apart(operand, cuts));
  return writer.reshape(again(operands, all), dims);
}

bool BatchedOp::repeatsLastBatch(Value value) {
  const PartList &list = parts.of(value)[numBatches() - 1];
  return !list.empty() && llvm::all_of(list, [](const AxisPart &part) {
    return part.isRepeated;
  });
}

Value BatchedOp::withRepeatsAsRows() {
  auto attention = dyn_cast<ir::AttentionOpInterface>(op);
  // Gradients of keys would be sums in another order.
  constexpr unsigned mostOperands = 4, keyOperand = 1, valueOperand = 3;
  bool fits = attention && op->getNumOperands() <= mostOperands &&
              attention.getWalkedOperand() == 0 &&
              attention.getSpan() == "all" && isOne(dims[dims.size() - 2]) &&
              repeatsLastBatch(attention.getKey());
  auto whole = dyn_cast<ir::AttentionOp>(op);
  if (!fits || (whole && !repeatsLastBatch(whole.getValue())))
    return {};
  // Queries, and what is added to their scores, in the place of the axis.
  SmallVector<Value> operands;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    DimList own = dimsOf(operand.getType());
    bool isWalked = number == keyOperand || number == valueOperand;
    if (!own.empty() && !isWalked)
      own.erase(own.end() - matrixAxes);
    operands.push_back(isWalked ? once(operand) : writer.reshape(operand, own));
    if (!operands.back())
      return {};
  }
  DimList rows(dims);
  rows.erase(rows.end() - matrixAxes);
  return writer.reshape(again(operands, rows), dims);
}

// Keys or values without the last batch axis, which repeats them; null where
// they cannot be written so.
Value BatchedOp::once(Value operand) {
  DimList own = dimsOf(operand.getType());
  PartBuilder::Cuts cuts;
  for (AffineExpr dim : own)
    cuts.push_back({dim});
  PartBuilder::Apart built = writer.build(operand, cuts);
  size_t axis = numBatches() - 1;
  if (!built.isRepeated[axis])
    return {};
  own[axis] = builder.getAffineConstantExpr(1);
  Value value = writer.broadcast(built.value, own);
  own.erase(own.begin() + axis);
  return writer.reshape(value, own);
}

// What attention reads again and again lies in memory where a plain view of
// what is stored cannot say where: joined or padded rows are stored once.
static void storeJoined(Value matrix) {
  Operation *op = matrix.getDefiningOp();
  for (auto map = ir::viewMapOf(op);
       map && map->isStrided() && !map->takesWindows(); map = ir::viewMapOf(op))
    op = map->part().operand.getDefiningOp();
  if (op && kindOf(op) == PatternKind::view)
    op->setAttr(storedAttr, UnitAttr::get(op->getContext()));
}

static void storeMatrices(ir::AttentionOpInterface attention) {
  // Query, key, value and gradient; the mask aside.
  constexpr unsigned mostMatrices = 5;
  for (Value operand : attention->getOperands().take_front(
           std::min(mostMatrices, attention->getNumOperands())))
    if (operand != attention.getMask())
      storeJoined(operand);
}

namespace {

struct UnmergeBatchesPass : impl::UnmergeBatchesBase<UnmergeBatchesPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = mainOf(getOperation());
    changed = false;
    rewrite(function, &BatchedOp::unmerged);
    if (changed)
      clean(function);
    changed = false;
    rewrite(function, &BatchedOp::withRepeatsAsRows);
    if (changed)
      clean(function);
    for (auto attention :
         function.getBody().front().getOps<ir::AttentionOpInterface>())
      storeMatrices(attention);
  }

private:
  void rewrite(func::FuncOp function, Value (BatchedOp::*rule)()) {
    AxisParts parts;
    OpBuilder builder(&getContext());
    for (Operation &op : llvm::make_early_inc_range(
             function.getBody().front().without_terminator())) {
      PatternKind kind = kindOf(&op);
      if (kind != PatternKind::contraction && kind != PatternKind::attention)
        continue;
      builder.setInsertionPoint(&op);
      BatchedOp batched(&op, parts, builder);
      Value made = batched.isBatched() ? (batched.*rule)() : Value();
      if (!made)
        continue;
      op.getResult(0).replaceAllUsesWith(made);
      changed = true;
    }
  }

  void clean(func::FuncOp function) {
    removeDeadOps(function);
    simplifyOps(function, exact);
    mergeDuplicates(function);
    removeDeadOps(function);
  }

  bool changed = false;
};

} // namespace

} // namespace sinter::compiler
