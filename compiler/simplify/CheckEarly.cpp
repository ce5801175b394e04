/// Positions that are used late are checked as soon as they are there.
#include "compiler/Passes.h"
#include "compiler/analysis/Marks.h"
#include "compiler/fuse/FusionGraph.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Gather.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_CHECKEARLY
#include "sinter/generated/Passes.h.inc"

using graph::PatternKind;

// Whether all that it does is to check positions.
static bool onlyChecks(Operation *op) {
  Operation *all = op->getOperand(0).getDefiningOp();
  return kindOf(op) == PatternKind::gather && all &&
         kindOf(all) == PatternKind::source;
}

static bool takesLong(Operation *op) {
  switch (kindOf(op)) {
  case PatternKind::pointwise:
  case PatternKind::view:
  case PatternKind::source:
  case PatternKind::random:
  case PatternKind::gather:
    return false;
  default:
    return true;
  }
}

// Whether a view has every element of its operand, in each program that is a
// value of the view's type.
static bool hasAllElements(Operation *view) {
  auto map = ir::viewMapOf(view);
  if (!map || !map->isFixed())
    return false;
  if (map->keepsLinearOrder)
    return true;
  for (auto [number, dim] : llvm::enumerate(map->shape)) {
    auto place = map->part().along(unsigned(number));
    auto count = dyn_cast<AffineConstantExpr>(dim);
    bool repeats = !place && count && count.getValue() != 0;
    if (!repeats && !(place && map->hasAll(map->part().axes[place->axis])))
      return false;
  }
  return true;
}

namespace {

/// The positions that some ops use, behind views, and what they are positions
/// of.
struct Positions {
  Value base;
  AffineExpr extent;
  SmallVector<Operation *> users;
  bool isLate = false; ///< for one of them
};

/// Moves checks of a function's positions to where the positions are made.
class CheckMover {
public:
  explicit CheckMover(func::FuncOp function)
      : block(function.getBody().front()), builder(function.getContext()) {}

  void run();

private:
  void collect(Operation *op);
  Value check(const Positions &positions);
  Value reshaped(Value value, Type to, Location loc);
  void use(Operation *op, Value base, Value checked);

  Block &block;
  OpBuilder builder;
  /// How many ops that take long stand one behind another up to a value.
  llvm::DenseMap<Value, unsigned> waits;
  llvm::MapVector<std::pair<Value, AffineExpr>, Positions> all;
};

} // namespace

void CheckMover::collect(Operation *op) {
  Value base = op->getOperand(positionsOperand);
  unsigned before = waits.lookup(base);
  unsigned others = 0;
  for (Value operand : op->getOperands())
    others = std::max(others, waits.lookup(operand));
  while (Operation *view = base.getDefiningOp()) {
    if (kindOf(view) != PatternKind::view || !hasAllElements(view))
      break;
    base = view->getOperand(0);
  }
  auto axis = op->getAttrOfType<IntegerAttr>("axis");
  AffineExpr extent = dimsOf(op->getOperand(0).getType())[axis.getInt()];
  Positions &positions = all[{base, extent}];
  positions.base = base;
  positions.extent = extent;
  positions.users.push_back(op);
  positions.isLate |= others > before;
}

Value CheckMover::reshaped(Value value, Type to, Location loc) {
  if (value.getType() == to)
    return value;
  return ir::ReshapeOp::create(builder, loc, to, value, shapeAttr(to));
}

// The positions themselves, looked up among all that there are.
Value CheckMover::check(const Positions &positions) {
  Operation *first = positions.users.front();
  Location loc = first->getLoc();
  Value base = positions.base;
  auto type = cast<RankedTensorType>(base.getType());
  Type element = type.getElementType();
  unsigned symbols = numSymbolsOf(first);
  if (Operation *maker = base.getDefiningOp())
    builder.setInsertionPointAfter(maker);
  else
    builder.setInsertionPointToStart(&block);
  auto axis = builder.getI64IntegerAttr(0);
  auto numbers = tensorType(element, {positions.extent}, symbols);
  Value possible = ir::IotaOp::create(builder, loc, numbers, shapeAttr(numbers),
                                      axis, TypeAttr::get(element));
  auto flat = tensorType(element, {elementCount(type)}, symbols);
  auto found = ir::GatherOp::create(builder, loc, flat, possible,
                                    reshaped(base, flat, loc), axis);
  found->setAttr(checksAttr, builder.getUnitAttr());
  return found;
}

// The same views of what was checked, which has one axis.
void CheckMover::use(Operation *op, Value base, Value checked) {
  SmallVector<Operation *> views;
  Value positions = op->getOperand(positionsOperand);
  for (; positions != base; positions = views.back()->getOperand(0))
    views.push_back(positions.getDefiningOp());
  builder.setInsertionPoint(op);
  if (views.empty() || !isReshape(views.back()))
    checked = reshaped(checked, base.getType(), op->getLoc());
  for (Operation *view : llvm::reverse(views)) {
    IRMapping mapping;
    mapping.map(view->getOperand(0), checked);
    Operation *own = builder.clone(*view, mapping);
    own->removeAttr(orderAttr);
    checked = own->getResult(0);
  }
  op->setOperand(positionsOperand, checked);
  op->setAttr(checkedAttr, builder.getUnitAttr());
}

void CheckMover::run() {
  for (Operation &op : block.without_terminator()) {
    PatternKind kind = kindOf(&op);
    bool usesPositions =
        kind == PatternKind::gather || kind == PatternKind::scatter;
    if (usesPositions && !op.hasAttr(checkedAttr))
      collect(&op);
    unsigned before = takesLong(&op);
    for (Value operand : op.getOperands())
      before = std::max(before, waits.lookup(operand) + takesLong(&op));
    waits[op.getResult(0)] = before;
  }
  for (auto &[key, positions] : all) {
    if (positions.isLate) {
      Value checked = check(positions);
      for (Operation *op : positions.users)
        use(op, positions.base, checked);
      continue;
    }
    for (Operation *op : positions.users)
      if (onlyChecks(op))
        op->setAttr(checksAttr, builder.getUnitAttr());
  }
}

// Whether a result could be the next value of a parameter.
static bool mayUpdate(func::FuncOp function) {
  StringRef parameter = toString(graph::InputKind::parameter);
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto kind = function.getArgAttrOfType<StringAttr>(index, port_attrs::kind);
    if (kind && kind.getValue() == parameter &&
        llvm::is_contained(function.getResultTypes(),
                           function.getArgument(index).getType()))
      return true;
  }
  return false;
}

namespace {

struct CheckEarlyPass : impl::CheckEarlyBase<CheckEarlyPass> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp function = mainOf(getOperation());
    bool threads = program::targetOf(getOperation()).getThreads();
    if (threads || mayUpdate(function))
      CheckMover(function).run();
  }
};

} // namespace

} // namespace sinter::compiler
