/// A transpose that is stored moves before the broadcast whose elements it
/// turns: fewer are stored, and what follows reads them where they are spread.
#include "compiler/fuse/FusionGraph.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;
using DimList = SmallVector<AffineExpr>;

namespace {

/// The views between a broadcast and the transpose behind it: a reshape that
/// joins neighbouring axes, and another transpose; either may be missing.
class SpreadTurner {
public:
  SpreadTurner(Operation *op, ArrayRef<int64_t> permutation, OpBuilder &builder)
      : op(op), permutation(permutation), builder(builder),
        symbols(numSymbolsOf(op)) {}

  bool applies(Value given);
  /// The broadcast's elements as they stand behind all transposes.
  Value turned();

private:
  bool splitAxes(Value reshaped, Value before);
  Value reshape(Value value, ArrayRef<AffineExpr> dims);
  AffineMapAttr attrOf(ArrayRef<AffineExpr> dims) {
    return shapeAttr(builder.getContext(), dims, symbols);
  }
  DimList turnedDims(ArrayRef<AffineExpr> dims) const {
    return llvm::map_to_vector(order, [&](int64_t axis) { return dims[axis]; });
  }

  Operation *op;
  ArrayRef<int64_t> permutation;
  OpBuilder &builder;
  unsigned symbols;
  Value spread;                       ///< what the broadcast repeats
  SmallVector<AffineExpr> spreadDims; ///< the broadcast's own
  SmallVector<int64_t> order;         ///< of the broadcast's axes
};

} // namespace

// The order of the axes that the reshape joins.
bool SpreadTurner::splitAxes(Value reshaped, Value before) {
  DimList from = dimsOf(before.getType());
  DimList to = dimsOf(reshaped.getType());
  SmallVector<SmallVector<int64_t, 2>> groups;
  size_t next = 0;
  for (AffineExpr dim : to) {
    AffineExpr size = builder.getAffineConstantExpr(1);
    SmallVector<int64_t, 2> group;
    do {
      if (next == from.size())
        return false;
      size = size * from[next];
      group.push_back(int64_t(next++));
    } while (size != dim);
    groups.push_back(std::move(group));
  }
  if (next != from.size())
    return false;
  SmallVector<int64_t> split;
  for (int64_t axis : order)
    llvm::append_range(split, groups[axis]);
  order = std::move(split);
  return true;
}

bool SpreadTurner::applies(Value given) {
  order.assign(permutation.begin(), permutation.end());
  Value view = given;
  if (Value before = ir::reshapedOperand(view)) {
    if (!splitAxes(view, before))
      return false;
    view = before;
  }
  if (auto permuted = ir::permutedOperand(view)) {
    if (view.getDefiningOp()->hasAttr(storedAttr))
      return false;
    for (int64_t &axis : order)
      axis = permuted->permutation[axis];
    view = permuted->operand;
  }
  spread = ir::repeatedOperand(view);
  if (!spread)
    return false;
  spreadDims = dimsOf(view.getType());
  DimList own = dimsOf(spread.getType());
  return own.size() == order.size() && !llvm::all_of(own, ir::isOne);
}

Value SpreadTurner::reshape(Value value, ArrayRef<AffineExpr> dims) {
  if (ArrayRef(dimsOf(value.getType())) == dims)
    return value;
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return ir::ReshapeOp::create(builder, op->getLoc(),
                               tensorType(element, dims, symbols), value,
                               attrOf(dims));
}

// Axes of one element have no place among those that are turned.
Value SpreadTurner::turned() {
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  DimList from = dimsOf(spread.getType()), kept;
  SmallVector<int64_t> number(from.size(), -1), turn;
  for (auto [axis, dim] : llvm::enumerate(from)) {
    if (ir::isOne(dim))
      continue;
    number[axis] = int64_t(kept.size());
    kept.push_back(dim);
  }
  for (int64_t axis : order)
    if (number[axis] >= 0)
      turn.push_back(number[axis]);
  Value value = spread;
  if (Value inner = ir::reshapedOperand(value))
    value = inner;
  if (!llvm::is_sorted(turn)) {
    DimList dims =
        llvm::map_to_vector(turn, [&](int64_t axis) { return kept[axis]; });
    auto small = ir::TransposeOp::create(
        builder, op->getLoc(), tensorType(element, dims, symbols),
        reshape(value, kept), builder.getDenseI64ArrayAttr(turn));
    small->setAttr(storedAttr, builder.getUnitAttr());
    value = small;
  }
  value = reshape(value, turnedDims(from));
  DimList all = turnedDims(spreadDims);
  value = ir::BroadcastOp::create(builder, op->getLoc(),
                                  tensorType(element, all, symbols), value,
                                  attrOf(all));
  return reshape(value, dimsOf(op->getResult(0).getType()));
}

// A pointwise op of the broadcast and of tensors of one number each.
static std::optional<unsigned> spreadOperand(Operation *op) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  if (!described || described.getPatternKind() != PatternKind::pointwise ||
      !op->hasOneUse())
    return std::nullopt;
  std::optional<unsigned> found;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (operand.getDefiningOp<ir::FullOp>())
      continue;
    if (found)
      return std::nullopt;
    found = unsigned(number);
  }
  return found;
}

Value turnBeforeSpread(Operation *op, OpBuilder &builder) {
  if (!op->hasAttr(storedAttr))
    return {};
  auto permuted = ir::permutedOperand(op->getResult(0));
  if (!permuted)
    return {};
  SpreadTurner turner(op, permuted->permutation, builder);
  if (turner.applies(permuted->operand))
    return turner.turned();
  Operation *follows = permuted->operand.getDefiningOp();
  auto number = follows ? spreadOperand(follows) : std::nullopt;
  if (!number || !turner.applies(follows->getOperand(*number)))
    return {};
  OperationState state(follows->getLoc(), follows->getName());
  AffineMapAttr shape =
      shapeAttr(builder.getContext(), dimsOf(op->getResult(0).getType()),
                numSymbolsOf(op));
  for (auto [at, operand] : llvm::enumerate(follows->getOperands())) {
    if (at == *number) {
      state.addOperands(turner.turned());
      continue;
    }
    auto full = operand.getDefiningOp<ir::FullOp>();
    Type element = full.getType().getElementType();
    state.addOperands(
        ir::FullOp::create(builder, op->getLoc(),
                           tensorType(element,
                                      dimsOf(op->getResult(0).getType()),
                                      numSymbolsOf(op)),
                           shape, full.getValueAttr(), full.getDtypeAttr())
            .getResult());
  }
  state.addAttributes(follows->getAttrs());
  state.addTypes(op->getResult(0).getType());
  return builder.create(state)->getResult(0);
}

} // namespace sinter::compiler
