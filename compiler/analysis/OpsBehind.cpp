/// What values are made by.
#include "compiler/analysis/OpsBehind.h"

#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

llvm::SmallSetVector<Operation *, 16> opsBehind(ValueRange values) {
  llvm::SmallSetVector<Operation *, 16> ops;
  auto add = [&](ValueRange made) {
    for (Value value : made)
      if (Operation *op = value.getDefiningOp())
        ops.insert(op);
  };
  add(values);
  for (unsigned next = 0; next < ops.size(); ++next)
    add(ops[next]->getOperands());
  return ops;
}

SmallVector<Value> behindArithmetic(Value value) {
  llvm::SmallSetVector<Value, 16> all;
  SmallVector<Value> leaves;
  all.insert(value);
  for (unsigned next = 0; next < all.size(); ++next) {
    auto op = all[next].getDefiningOp<ir::SinterOpInterface>();
    if (op && op.getPatternKind() == graph::PatternKind::pointwise)
      all.insert_range(op->getOperands());
    else
      leaves.push_back(all[next]);
  }
  return leaves;
}

bool isArithmetic(Operation *op) {
  using graph::PatternKind;
  auto described = dyn_cast_or_null<ir::SinterOpInterface>(op);
  if (!described)
    return false;
  switch (described.getPatternKind()) {
  case PatternKind::pointwise:
  case PatternKind::reduction:
  case PatternKind::contraction:
  case PatternKind::scatter:
  case PatternKind::prefix:
  case PatternKind::attention:
    return true;
  default:
    return false;
  }
}

} // namespace sinter::compiler
