/// OneThread: a group of one, whose vectors are its own.
#pragma once

#include "compiler/target/simt/ThreadGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace sinter::compiler {

class OneThread final : public ThreadGroup {
public:
  unsigned size() const override { return 1; }
  Value number(mlir::OpBuilder &builder, mlir::Location loc) const override {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getI32IntegerAttr(0));
  }
  Value from(mlir::OpBuilder &, mlir::Location, Value value,
             Value) const override {
    return value;
  }
  Value any(mlir::OpBuilder &, mlir::Location, Value flag) const override {
    return flag;
  }
  void wait(mlir::OpBuilder &, mlir::Location) const override {}
};

} // namespace sinter::compiler
