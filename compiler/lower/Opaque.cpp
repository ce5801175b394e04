/// Kernels of users: their code as it is.
#include "compiler/lower/KernelWriter.h"
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

FailureOr<KernelCode> compileOpaque(KernelWriter &writer, Operation *op,
                                    const EmitOptions &options) {
  SmallVector<unsigned> buffers;
  for (Value operand : op->getOperands())
    buffers.push_back(inputOf(operand));
  buffers.push_back(writer.outputBuffer(0));
  std::string symbol = writer.addGivenPhase();
  KernelCode code = writer.takeCode();
  bool keepText = options.keepText || options.lowerOnly;
  if (keepText)
    code.loweredText = cast<ir::OpaqueOpInterface>(op).getSource().str();
  if (options.lowerOnly)
    return code;
  auto made = writer.target.compileGiven(op, symbol, buffers, keepText);
  if (failed(made))
    return failure();
  code.object = std::move(made->object);
  code.asmText = std::move(made->asmText);
  return code;
}

} // namespace sinter::compiler
