/// Subgroup: the thread group of Vulkan's devices.
#pragma once

#include "compiler/target/simt/ThreadGroup.h"

namespace sinter::compiler {

/// Threads that exchange registers by shuffles. How many there are differs from
/// device to device.
class Subgroup final : public ThreadGroup {
public:
  explicit Subgroup(unsigned threads) : threads(threads) {}

  unsigned size() const override { return threads; }
  Value number(mlir::OpBuilder &builder, mlir::Location loc) const override;
  Value from(mlir::OpBuilder &builder, mlir::Location loc, Value value,
             Value thread) const override;
  Value any(mlir::OpBuilder &builder, mlir::Location loc,
            Value flag) const override;
  void wait(mlir::OpBuilder &builder, mlir::Location loc) const override;

private:
  const unsigned threads;
};

} // namespace sinter::compiler
