/// What values are made by.
#include "compiler/lower/OpsBehind.h"

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

} // namespace sinter::compiler
