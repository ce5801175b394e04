/// Reshapes of a contraction's result move below the ops that read them, so
/// that these see the shape that the contraction's kernel walks: pointwise ops,
/// and where leading axes are grouped only, reductions of the rest and what
/// spreads their results.
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

using DimList = SmallVector<AffineExpr>;

// Whether a contraction made the value, or pointwise ops, reductions and
// broadcasts made it of one that it made.
static bool isOfContraction(Value value) {
  constexpr unsigned mostOps = 32;
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> pending{value};
  while (!pending.empty() && seen.size() < mostOps) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    auto described = dyn_cast_or_null<ir::SinterOpInterface>(op);
    if (!described || !seen.insert(op).second)
      continue;
    PatternKind kind = described.getPatternKind();
    if (kind == PatternKind::contraction)
      return true;
    if (kind == PatternKind::pointwise || kind == PatternKind::reduction ||
        ir::repeatsElements(op))
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

namespace {

/// A tensor and what it is a reshape of.
struct Reshaped {
  Value result, operand;

  unsigned numSymbols() const { return numSymbolsOf(result.getDefiningOp()); }
};

} // namespace

static std::optional<Reshaped> contractionReshape(Operation *op) {
  for (Value operand : op->getOperands())
    if (Value before = ir::reshapedOperand(operand))
      if (isOfContraction(before))
        return Reshaped{operand, before};
  return std::nullopt;
}

// Dims at the end that two lists have in common.
static size_t commonTail(ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
  size_t count = 0;
  while (count < std::min(a.size(), b.size()) &&
         a.drop_back(count).back() == b.drop_back(count).back())
    ++count;
  return count;
}

static Type typeLike(Value value, ArrayRef<AffineExpr> dims, unsigned symbols) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return tensorType(element, dims, symbols);
}

namespace {

/// Makes views of other dims, over the symbols of the function.
class Regrouper {
public:
  Regrouper(unsigned symbols, Location loc, OpBuilder &builder)
      : symbols(symbols), loc(loc), builder(builder) {}

  Value reshape(Value value, ArrayRef<AffineExpr> dims) {
    if (ArrayRef(dimsOf(value.getType())) == dims)
      return value;
    auto view = ir::ReshapeOp::create(
        builder, loc, typeLike(value, dims, symbols), value, shapeOf(dims));
    Value number = foldConstants(view, builder);
    return number ? number : view.getResult();
  }

  Value broadcast(Value value, ArrayRef<AffineExpr> dims) {
    return ir::BroadcastOp::create(builder, loc, typeLike(value, dims, symbols),
                                   value, shapeOf(dims));
  }

  /// The elements of `value` under other dims; below a broadcast that repeats
  /// all of what is grouped otherwise, or nothing of it, by such a broadcast.
  Value regroup(Value value, ArrayRef<AffineExpr> dims) {
    if (Value inner = ir::reshapedOperand(value))
      return regroup(inner, dims);
    Value spread = ir::repeatedOperand(value);
    DimList own = dimsOf(value.getType());
    if (!spread || ArrayRef(own) == dims)
      return reshape(value, dims);
    DimList from = dimsOf(spread.getType());
    if (llvm::all_of(from, ir::isOne))
      return broadcast(reshape(spread, {}), dims);
    size_t tail = commonTail(own, dims), lead = own.size() - tail;
    size_t missing = own.size() - from.size();
    ArrayRef<AffineExpr> before =
        ArrayRef(from).take_front(lead - std::min(lead, missing));
    DimList after(from.begin() + before.size(), from.end());
    if (llvm::all_of(before, ir::isOne))
      return broadcast(reshape(spread, after), dims);
    if (missing > 0 || before != ArrayRef(own).take_front(lead))
      return reshape(value, dims);
    DimList grouped(dims.begin(), dims.end() - tail);
    llvm::append_range(grouped, after);
    return broadcast(regroup(spread, grouped), dims);
  }

private:
  AffineMapAttr shapeOf(ArrayRef<AffineExpr> dims) {
    return shapeAttr(builder.getContext(), dims, symbols);
  }

  unsigned symbols;
  Location loc;
  OpBuilder &builder;
};

} // namespace

static Value sinkBelowPointwise(Operation *op, const Reshaped &found,
                                OpBuilder &builder) {
  DimList dims = dimsOf(found.operand.getType());
  unsigned symbols = found.numSymbols();
  Regrouper views(symbols, op->getLoc(), builder);
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(views.regroup(operand, dims));
  state.addAttributes(op->getAttrs());
  state.addTypes(typeLike(op->getResult(0), dims, symbols));
  Value moved = builder.create(state)->getResult(0);
  return views.reshape(moved, dimsOf(op->getResult(0).getType()));
}

// The axes of the same reduction before the reshape, if it takes all of the
// leading axes that are grouped otherwise, or none of them.
static SmallVector<int64_t> axesBefore(ArrayRef<int64_t> axes, int64_t lead,
                                       int64_t leadBefore) {
  SmallVector<int64_t> moved;
  bool isAfter = llvm::all_of(axes, [&](int64_t axis) { return axis >= lead; });
  bool isLead = int64_t(axes.size()) == lead &&
                llvm::all_of(axes, [&](int64_t axis) { return axis < lead; });
  if (isAfter)
    for (int64_t axis : axes)
      moved.push_back(axis - lead + leadBefore);
  else if (isLead)
    for (int64_t axis = 0; axis < leadBefore; ++axis)
      moved.push_back(axis);
  return moved;
}

static Value sinkBelowReduction(Operation *op, const Reshaped &found,
                                OpBuilder &builder) {
  auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  auto keepdims = op->getAttrOfType<BoolAttr>("keepdims");
  if (!axes || !keepdims)
    return {};
  DimList before = dimsOf(found.operand.getType());
  DimList dims = dimsOf(found.result.getType());
  size_t tail = commonTail(before, dims);
  SmallVector<int64_t> moved =
      axesBefore(axes.asArrayRef(), dims.size() - tail, before.size() - tail);
  if (moved.empty())
    return {};
  // Numbers of rows are spread over them later. What is left of columns has the
  // same dims either way.
  bool keeps = keepdims.getValue() || moved.front() != 0;
  for (int64_t axis : llvm::reverse(moved))
    if (keeps)
      before[axis] = builder.getAffineConstantExpr(1);
    else
      before.erase(before.begin() + axis);
  unsigned symbols = found.numSymbols();
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(found.operand);
  state.addAttributes(op->getAttrs());
  state.attributes.set("axes", builder.getDenseI64ArrayAttr(moved));
  state.attributes.set("keepdims", builder.getBoolAttr(keeps));
  state.addTypes(typeLike(op->getResult(0), before, symbols));
  Value result = builder.create(state)->getResult(0);
  return Regrouper(symbols, op->getLoc(), builder)
      .reshape(result, dimsOf(op->getResult(0).getType()));
}

static DimList withoutOnesAtEnd(DimList dims) {
  while (!dims.empty() && ir::isOne(dims.back()))
    dims.pop_back();
  return dims;
}

// Of a number for each row, over the row.
static Value sinkBelowBroadcast(Operation *op, const Reshaped &found,
                                OpBuilder &builder) {
  DimList rows = dimsOf(found.result.getType()),
          dims = dimsOf(op->getResult(0).getType());
  if (rows.size() != dims.size())
    return {};
  size_t lead = 0;
  while (lead < rows.size() && rows[lead] == dims[lead])
    ++lead;
  bool isSpread = lead > 0 && lead < dims.size() &&
                  llvm::all_of(ArrayRef(rows).drop_front(lead), ir::isOne);
  DimList before = withoutOnesAtEnd(dimsOf(found.operand.getType()));
  if (!isSpread || ArrayRef(before) == ArrayRef(dims).take_front(lead))
    return {};
  DimList numbers(before), whole(before);
  numbers.append(dims.size() - lead, builder.getAffineConstantExpr(1));
  llvm::append_range(whole, ArrayRef(dims).drop_front(lead));
  Regrouper views(found.numSymbols(), op->getLoc(), builder);
  Value spread = views.broadcast(views.reshape(found.operand, numbers), whole);
  return views.reshape(spread, dims);
}

Value sinkReshape(Operation *op, OpBuilder &builder) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  auto found = described ? contractionReshape(op) : std::nullopt;
  if (!found)
    return {};
  if (described.getPatternKind() == PatternKind::pointwise)
    return sinkBelowPointwise(op, *found, builder);
  if (described.getPatternKind() == PatternKind::reduction)
    return sinkBelowReduction(op, *found, builder);
  if (ir::repeatsElements(op))
    return sinkBelowBroadcast(op, *found, builder);
  return {};
}

} // namespace sinter::compiler
