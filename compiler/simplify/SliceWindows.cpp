/// Of what is reduced over windows, only the part that is read is reduced.
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;
using DimList = SmallVector<AffineExpr>;

namespace {

/// Where a slice begins, ends and steps, axis by axis.
struct Cut {
  SmallVector<int64_t> starts, steps;
  DimList limits;

  void add(int64_t start, AffineExpr limit, int64_t step) {
    starts.push_back(start);
    limits.push_back(limit);
    steps.push_back(step);
  }
};

} // namespace

// The slice's axes among those of what is reduced, of which reduced ones are
// whole. None where the slice takes nothing of one.
static std::optional<Cut> cutBefore(ir::SliceOp slice, Operation *reduction,
                                    const DimList &dims) {
  SmallVector<int64_t> axes = axesOf(reduction);
  auto keeps = reduction->getAttrOfType<BoolAttr>("keepdims");
  bool keepsDims = keeps && keeps.getValue();
  Cut cut;
  unsigned next = 0;
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    bool isReduced = llvm::is_contained(axes, int64_t(axis));
    if (!isReduced) {
      cut.add(slice.getStarts()[next], slice.getLimits().getResult(next),
              slice.getSteps()[next]);
      ++next;
      continue;
    }
    cut.add(0, dim, 1);
    if (!keepsDims)
      continue;
    if (slice.getStarts()[next] != 0 ||
        !isOne(slice.getLimits().getResult(next)))
      return std::nullopt;
    ++next;
  }
  return cut;
}

static DimList dimsOfCut(const Cut &cut, const DimList &dims, ir::SliceOp slice,
                         Operation *reduction) {
  DimList own = dims, made = dimsOf(slice.getType());
  SmallVector<int64_t> axes = axesOf(reduction);
  bool keepsDims = made.size() == dims.size();
  unsigned next = 0;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    bool isReduced = llvm::is_contained(axes, int64_t(axis));
    if (!isReduced)
      own[axis] = made[next];
    next += unsigned(!isReduced || keepsDims);
  }
  return own;
}

// The same elements in the same order make each result: no bit differs. Views
// are read at other indices then; what is computed would be a slice of a value
// that a kernel stores.
Value sliceWindows(Operation *op, OpBuilder &builder) {
  auto slice = dyn_cast<ir::SliceOp>(op);
  Operation *reduction = slice ? slice.getX().getDefiningOp() : nullptr;
  if (!reduction || kindOf(reduction) != PatternKind::reduction ||
      !reduction->hasOneUse())
    return {};
  Value operand = reduction->getOperand(0);
  Operation *view = operand.getDefiningOp();
  if (!view || kindOf(view) != PatternKind::view)
    return {};
  DimList dims = dimsOf(operand.getType());
  auto cut = cutBefore(slice, reduction, dims);
  if (!cut)
    return {};
  unsigned symbols = numSymbolsOf(slice);
  DimList own = dimsOfCut(*cut, dims, slice, reduction);
  Type element = getElementTypeOrSelf(operand.getType());
  Value part = ir::SliceOp::create(
      builder, slice.getLoc(), tensorType(element, own, symbols), operand,
      builder.getDenseI64ArrayAttr(cut->starts),
      shapeAttr(builder.getContext(), cut->limits, symbols),
      builder.getDenseI64ArrayAttr(cut->steps));
  if (Value composed = simplifyView(part.getDefiningOp(), builder))
    part = composed;
  OperationState state(reduction->getLoc(), reduction->getName());
  state.addOperands(part);
  state.addAttributes(reduction->getAttrs());
  state.addTypes(slice.getType());
  return builder.create(state)->getResult(0);
}

} // namespace sinter::compiler
