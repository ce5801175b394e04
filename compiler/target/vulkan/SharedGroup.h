/// SharedGroup: the thread group of devices whose subgroups are not known.
#pragma once

#include "compiler/target/simt/ThreadGroup.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::compiler {

/// Threads of a workgroup, one after the other, that exchange numbers in its
/// memory. Each exchange waits for the whole workgroup, so a function that has
/// one has a workgroup for each group, unless all groups exchange together.
class SharedGroup final : public ThreadGroup {
public:
  explicit SharedGroup(unsigned threads) : threads(threads) {}

  unsigned size() const override { return threads; }
  Value number(mlir::OpBuilder &builder, mlir::Location loc) const override;
  Value from(mlir::OpBuilder &builder, mlir::Location loc, Value value,
             Value thread) const override;
  Value any(mlir::OpBuilder &builder, mlir::Location loc,
            Value flag) const override;
  void wait(mlir::OpBuilder &builder, mlir::Location loc) const override;

  /// What the thread whose number in the workgroup differs in the bits of
  /// `distance` has for `value` (f32). All threads of it come here.
  static Value exchange(mlir::OpBuilder &builder, mlir::Location loc,
                        Value value, int64_t distance);

private:
  const unsigned threads;
};

/// Whether a function waits for the threads of a workgroup.
bool hasBarriers(mlir::func::FuncOp function);

/// Counts subgroups and their threads as groups of `threads`, one after the
/// other, of the function's workgroup, whose threads have been said.
void numberGroups(mlir::func::FuncOp function, unsigned threads);

} // namespace sinter::compiler
