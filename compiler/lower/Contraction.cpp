/// The contraction skeleton.
#include "compiler/lower/KernelWriter.h"

using namespace mlir;

namespace sinter::compiler {

void emitContraction(KernelWriter &writer, Value product) {
  (void)product;
  emitRows(writer);
}

} // namespace sinter::compiler
