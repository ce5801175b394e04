/// The dialect's registration.
#include "dialects/sinter/Dialect.h"

#include "sinter/generated/classes/All.h"

#include "mlir/IR/Builders.h"

#include "sinter/generated/SinterDialect.cpp.inc"

#include "sinter/generated/SinterInterfaces.cpp.inc"

namespace sinter::ir {

void SinterDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "sinter/generated/SinterOps.cpp.inc"
      >();
}

} // namespace sinter::ir
