/// The order that `after` asks for, as attributes.
#include "compiler/Passes.h"
#include "compiler/fuse/FusionGraph.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Nn.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_ORDERVALUES
#include "sinter/generated/Passes.h.inc"

// The op that computes a value: a view of it is there as soon as it is.
static Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op &&
         (isa<ir::AfterOp>(op) || kindOf(op) == graph::PatternKind::view) &&
         op->getNumOperands() > 0)
    op = op->getOperand(0).getDefiningOp();
  return op;
}

static void addAfter(Operation *user, int64_t number) {
  SmallVector<int64_t> numbers;
  if (auto known = user->getAttrOfType<DenseI64ArrayAttr>(afterAttr))
    numbers.assign(known.asArrayRef().begin(), known.asArrayRef().end());
  if (!llvm::is_contained(numbers, number))
    numbers.push_back(number);
  user->setAttr(afterAttr, DenseI64ArrayAttr::get(user->getContext(), numbers));
}

static int64_t numberOf(Operation *maker, int64_t &next) {
  if (auto known = maker->getAttrOfType<IntegerAttr>(orderAttr))
    return known.getInt();
  Builder builder(maker->getContext());
  maker->setAttr(orderAttr, builder.getI64IntegerAttr(next));
  return next++;
}

void orderValues(func::FuncOp function) {
  Block &block = function.getBody().front();
  int64_t next = 0;
  bool changed = false;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto after = dyn_cast<ir::AfterOp>(op);
    if (!after)
      continue;
    if (Operation *maker = makerOf(after.getEarlier())) {
      int64_t number = numberOf(maker, next);
      for (Operation *user : after->getUsers())
        if (user != block.getTerminator())
          addAfter(user, number);
    }
    after.getResult().replaceAllUsesWith(after.getValue());
    after.erase();
    changed = true;
  }
  if (changed)
    removeDeadOps(function);
}

namespace {

struct OrderValuesPass : impl::OrderValuesBase<OrderValuesPass> {
  using Base::Base;
  void runOnOperation() override { orderValues(mainOf(getOperation())); }
};

} // namespace

} // namespace sinter::compiler
