/// Kernels of users: their code as it is.
#include "compiler/lower/kernel/KernelWriter.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

using namespace mlir;

namespace sinter::compiler {

// The number of the kernel's input that an operand is, reshaped or not.
static unsigned inputOf(Value operand) {
  while (Value inner = ir::reshapedOperand(operand))
    operand = inner;
  return cast<BlockArgument>(operand).getArgNumber();
}

FailureOr<TargetCode> compileGiven(program::KernelOp kernel, Operation *op,
                                   StringRef symbol, const Target &target,
                                   bool keepText) {
  SmallVector<unsigned> buffers;
  for (Value operand : op->getOperands())
    buffers.push_back(inputOf(operand));
  buffers.push_back(kernel.getInputs().size()); // the one output
  return target.compileGiven(op, symbol, buffers, keepText);
}

} // namespace sinter::compiler
