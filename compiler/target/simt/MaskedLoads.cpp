/// MaskedLoads: a branch around a load.
#include "compiler/target/simt/MaskedLoads.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

static Value conditionOf(Value mask) {
  auto spread = mask.getDefiningOp<vector::BroadcastOp>();
  return spread && spread.getSourceType().isInteger(1) ? spread.getSource()
                                                       : Value();
}

void loadBehindConditions(func::FuncOp function) {
  function.walk([](vector::MaskedLoadOp op) {
    Value condition = conditionOf(op.getMask());
    if (!condition)
      return;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto branch = scf::IfOp::create(builder, loc, op.getType(), condition,
                                    /*withElse=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value read = vector::LoadOp::create(builder, loc, op.getVectorType(),
                                        op.getBase(), op.getIndices());
    scf::YieldOp::create(builder, loc, read);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, op.getPassThru());
    op.replaceAllUsesWith(branch.getResult(0));
    op.erase();
  });
}

} // namespace sinter::compiler
