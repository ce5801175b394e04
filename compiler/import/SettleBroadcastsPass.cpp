/// The pass that says of each axis of a broadcast whether it is repeated.
///
/// An axis is repeated where its size is the number 1, and the operand's own
/// where both sizes are one expression: that is what kernels go by. Sizes that
/// only guards make equal, or 1, are neither. They come from inputs whose sizes
/// are symbols of their own, and from composites, whose parts have the sizes
/// that follow from their operands.
#include "compiler/Passes.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_SETTLEBROADCASTS
#include "sinter/generated/Passes.h.inc"

namespace {

using Guards = SmallVector<std::pair<AffineExpr, AffineExpr>>;

Guards guardsOf(func::FuncOp function) {
  Guards guards;
  if (auto stated = function->getAttrOfType<ArrayAttr>(port_attrs::guards))
    for (AffineMap map : stated.getAsValueRange<AffineMapAttr>())
      guards.emplace_back(map.getResult(0), map.getResult(1));
  return guards;
}

/// Whether a guard says that a size is 1, or as much more or less than a number
/// as that is than 1.
bool isGuardedOne(AffineExpr size, const Guards &guards, unsigned symbols) {
  auto says = [&](AffineExpr known, AffineExpr number) {
    auto constant = dyn_cast<AffineConstantExpr>(number);
    auto more = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(size - known, 0, symbols));
    return constant && more && constant.getValue() + more.getValue() == 1;
  };
  return llvm::any_of(guards, [&](const auto &guard) {
    return says(guard.first, guard.second) || says(guard.second, guard.first);
  });
}

void settle(ir::BroadcastOp op, const Guards &guards) {
  SmallVector<AffineExpr> outer = dimsOf(op.getResult().getType());
  SmallVector<AffineExpr> inner = dimsOf(op.getX().getType());
  size_t offset = outer.size() - inner.size();
  SmallVector<AffineExpr> settled(inner);
  unsigned symbols = numSymbolsOf(op.getResult().getType());
  for (auto [axis, size] : llvm::enumerate(settled)) {
    AffineExpr to = outer[offset + axis];
    if (size == to || isOne(size))
      continue;
    size = isGuardedOne(size, guards, symbols)
               ? getAffineConstantExpr(1, op.getContext())
               : to;
  }
  if (settled == inner)
    return;
  OpBuilder builder(op);
  auto element = cast<RankedTensorType>(op.getX().getType()).getElementType();
  op.getXMutable().assign(ir::ReshapeOp::create(
      builder, op.getLoc(), tensorType(element, settled, symbols), op.getX(),
      shapeAttr(op.getContext(), settled, symbols)));
}

struct SettleBroadcastsPass : impl::SettleBroadcastsBase<SettleBroadcastsPass> {
  void runOnOperation() override {
    getOperation()->walk([](func::FuncOp function) {
      Guards guards = guardsOf(function);
      function->walk([&](ir::BroadcastOp op) { settle(op, guards); });
    });
  }
};

} // namespace
} // namespace sinter::compiler
