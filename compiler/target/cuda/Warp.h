/// Warp: the thread group of NVIDIA's GPUs.
#pragma once

#include "compiler/target/simt/ThreadGroup.h"

namespace sinter::compiler {

/// 32 threads, which exchange registers by shuffles (PTX ISA, shfl.sync).
class Warp final : public ThreadGroup {
public:
  static constexpr unsigned threads = 32;

  unsigned size() const override { return threads; }
  Value number(mlir::OpBuilder &builder, mlir::Location loc) const override;
  Value from(mlir::OpBuilder &builder, mlir::Location loc, Value value,
             Value thread) const override;
  Value any(mlir::OpBuilder &builder, mlir::Location loc,
            Value flag) const override;
  void wait(mlir::OpBuilder &builder, mlir::Location loc) const override;
};

/// A special register of 32 bits: `tid.x`, `ctaid.x`, ...
mlir::Value readRegister(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::StringRef name);

} // namespace sinter::compiler
