/// Reduced axes that a reshape joined of an image's axes fall into these again.
#include "compiler/Passes.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/AxisParts.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_UNMERGEROWS
#include "sinter/generated/Passes.h.inc"

using graph::PatternKind;
using DimList = SmallVector<AffineExpr>;

namespace {

/// Rewrites what is pointwise between reshapes that join axes and reductions
/// along these, and those reductions.
class RowParter {
public:
  explicit RowParter(func::FuncOp function)
      : block(function.getBody().front()), builder(function.getContext()) {}

  /// Whether something changed.
  bool run();

private:
  /// The extents of the parts of each axis.
  using Cuts = SmallVector<DimList>;
  /// A value with an axis for each part.
  struct Apart {
    Value value;
    Cuts cuts;
  };

  std::optional<Cuts> cutsOf(Value joined, Value operand) const;
  void findJoins(Operation *reduction);
  void rewrite(Operation *op);
  void rewritePointwise(Operation *op);
  void rewriteReduction(Operation *op);
  Value partsOf(Value value, const Cuts &cuts);
  Value spreadParts(Value spread, Value x, const Cuts &cuts);
  Value reshape(Value value, ArrayRef<AffineExpr> dims);
  Value again(Operation *op, ArrayRef<Value> operands,
              ArrayRef<AffineExpr> dims);
  void replace(Operation *op, Value value);

  static DimList flat(const Cuts &cuts) {
    DimList dims;
    for (const DimList &cut : cuts)
      llvm::append_range(dims, cut);
    return dims;
  }
  static DimList dimsOf(Value value) {
    return compiler::dimsOf(value.getType());
  }
  RankedTensorType typeLike(Value value, ArrayRef<AffineExpr> dims) const {
    return tensorType(getElementTypeOrSelf(value.getType()), dims, symbols);
  }

  Block &block;
  OpBuilder builder;
  unsigned symbols = 0; ///< of the op at hand
  llvm::DenseMap<Operation *, Cuts> joins;
  llvm::DenseMap<Value, Apart> apart;
};

} // namespace

// An axis that holds what several axes of the operand do, or parts of them.
std::optional<RowParter::Cuts> RowParter::cutsOf(Value joined,
                                                 Value operand) const {
  // Batch, channels and space at least.
  constexpr size_t imageAxes = 3;
  if (dimsOf(operand).size() < imageAxes)
    return std::nullopt;
  auto lists = regroup(wholeAxes(operand), dimsOf(joined));
  if (!lists)
    return std::nullopt;
  Cuts cuts;
  for (const PartList &list : *lists) {
    DimList &own = cuts.emplace_back();
    for (const AxisPart &part : list)
      own.push_back(part.extent);
    if (own.empty())
      own.push_back(getAffineConstantExpr(1, joined.getContext()));
  }
  return cuts;
}

// Those behind what is reduced.
void RowParter::findJoins(Operation *reduction) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending{reduction->getOperand(0)};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(value).second || !isa<ir::SinterOpInterface>(op))
      continue;
    if (kindOf(op) == PatternKind::pointwise)
      llvm::append_range(pending, op->getOperands());
    Value operand = ir::reshapedOperand(value);
    auto cuts = operand ? cutsOf(value, operand) : std::nullopt;
    if (cuts && llvm::any_of(axesOf(reduction), [&](int64_t axis) {
          return (*cuts)[axis].size() > 1;
        }))
      joins.try_emplace(op, std::move(*cuts));
  }
}

Value RowParter::reshape(Value value, ArrayRef<AffineExpr> dims) {
  if (ArrayRef(dimsOf(value)) == dims)
    return value;
  return ir::ReshapeOp::create(builder, value.getLoc(), typeLike(value, dims),
                               value,
                               shapeAttr(builder.getContext(), dims, symbols));
}

Value RowParter::again(Operation *op, ArrayRef<Value> operands,
                       ArrayRef<AffineExpr> dims) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  state.addTypes(typeLike(op->getResult(0), dims));
  return builder.create(state)->getResult(0);
}

// Numbers of rows are spread over the parts.
Value RowParter::spreadParts(Value spread, Value x, const Cuts &cuts) {
  DimList inner = dimsOf(x), dims;
  size_t added = cuts.size() - inner.size();
  for (auto [axis, cut] : llvm::enumerate(cuts)) {
    bool isOwn = axis >= added && !isOne(inner[axis - added]);
    if (isOwn)
      llvm::append_range(dims, cut);
    else if (axis >= added)
      dims.append(cut.size(), builder.getAffineConstantExpr(1));
  }
  DimList all = flat(cuts);
  return ir::BroadcastOp::create(builder, spread.getLoc(), typeLike(x, all),
                                 reshape(x, dims),
                                 shapeAttr(builder.getContext(), all, symbols));
}

Value RowParter::partsOf(Value value, const Cuts &cuts) {
  auto known = apart.find(value);
  if (known != apart.end() && known->second.cuts == cuts)
    return known->second.value;
  if (Value operand = ir::repeatedOperand(value))
    return spreadParts(value, operand, cuts);
  DimList dims = flat(cuts);
  if (auto full = value.getDefiningOp<ir::FullOp>())
    return ir::FullOp::create(builder, full.getLoc(), typeLike(value, dims),
                              shapeAttr(builder.getContext(), dims, symbols),
                              full.getValueAttr(), full.getDtypeAttr());
  return reshape(value, dims);
}

void RowParter::replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
}

void RowParter::rewritePointwise(Operation *op) {
  DimList dims = dimsOf(op->getResult(0));
  auto found = llvm::find_if(op->getOperands(), [&](Value operand) {
    return apart.contains(operand);
  });
  Cuts cuts = apart.find(*found)->second.cuts;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(partsOf(operand, cuts));
  Value made = again(op, operands, flat(cuts));
  Value joined = reshape(made, dims);
  replace(op, joined);
  apart[joined] = {made, std::move(cuts)};
}

void RowParter::rewriteReduction(Operation *op) {
  auto [value, cuts] = apart.find(op->getOperand(0))->second;
  bool keeps = op->getAttrOfType<BoolAttr>("keepdims").getValue();
  SmallVector<int64_t> reduced = axesOf(op), axes;
  DimList dims;
  int64_t next = 0;
  for (auto [axis, cut] : llvm::enumerate(cuts)) {
    bool isReduced = llvm::is_contained(reduced, int64_t(axis));
    for (AffineExpr extent : cut) {
      if (isReduced)
        axes.push_back(next);
      if (!isReduced || keeps)
        dims.push_back(isReduced ? builder.getAffineConstantExpr(1) : extent);
      ++next;
    }
  }
  Value made = again(op, value, dims);
  made.getDefiningOp()->setAttr("axes", builder.getDenseI64ArrayAttr(axes));
  replace(op, reshape(made, dimsOf(op->getResult(0))));
}

void RowParter::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  symbols = numSymbolsOf(op);
  if (auto join = joins.find(op); join != joins.end()) {
    Value x = op->getOperand(0);
    auto known = apart.find(x);
    Value from = known != apart.end() ? known->second.value : x;
    apart[op->getResult(0)] = {reshape(from, flat(join->second)), join->second};
    return;
  }
  bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
    return apart.contains(operand);
  });
  if (!reads || !isa<ir::SinterOpInterface>(op))
    return;
  if (kindOf(op) == PatternKind::pointwise)
    rewritePointwise(op);
  else if (kindOf(op) == PatternKind::reduction && op->hasAttr("axes"))
    rewriteReduction(op);
  else if (ir::keepsLinearOrder(op))
    replace(op, reshape(apart.find(op->getOperand(0))->second.value,
                        dimsOf(op->getResult(0))));
}

bool RowParter::run() {
  for (Operation &op : block.without_terminator())
    if (isa<ir::SinterOpInterface>(op) &&
        kindOf(&op) == PatternKind::reduction && op.hasAttr("axes"))
      findJoins(&op);
  if (joins.empty())
    return false;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    rewrite(&op);
  return true;
}

namespace {

struct UnmergeRowsPass : impl::UnmergeRowsBase<UnmergeRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = mainOf(getOperation());
    if (function.getBody().front().getOps<ir::ImageOpInterface>().empty())
      return;
    if (RowParter(function).run())
      removeDeadOps(function);
  }
};

} // namespace

} // namespace sinter::compiler
