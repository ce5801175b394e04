/// ThreadGroup: threads that run side by side and see each other's registers.
#pragma once

#include "mlir/IR/Builders.h"

namespace sinter::compiler {

/// A warp, a subgroup. Emits code that all threads of the group run; each has
/// values of its own.
class ThreadGroup {
public:
  using Value = mlir::Value;

  virtual ~ThreadGroup() = default;

  /// Threads of a group: a power of two, at most 64.
  virtual unsigned size() const = 0;
  /// The number of the thread in its group (i32).
  virtual Value number(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// What thread `thread` (i32) has for `value`, an integer of 32 bits.
  virtual Value from(mlir::OpBuilder &builder, mlir::Location loc, Value value,
                     Value thread) const = 0;
  /// Whether any thread has a `flag` (i1).
  virtual Value any(mlir::OpBuilder &builder, mlir::Location loc,
                    Value flag) const = 0;
  /// Waits for all; what they wrote to memory is seen after it.
  virtual void wait(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
};

} // namespace sinter::compiler
