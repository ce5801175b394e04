/// LaneThreads: lanes of vectors as what the threads of a group have.
#pragma once

#include "compiler/target/simt/ThreadGroup.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::compiler {

/// Emits at the builder's place. `begin` comes first, where all else is below.
class LaneThreads {
public:
  using Value = mlir::Value;
  using Location = mlir::Location;
  using Slots = llvm::SmallVector<Value>;

  LaneThreads(mlir::OpBuilder &builder, const ThreadGroup &group)
      : builder(builder), group(group) {}
  void begin(Location loc);

  mlir::OpBuilder &builder;

  int64_t size() const { return group.size(); }
  /// Elements that one thread has of a vector.
  int64_t perThread(mlir::VectorType type) const;
  /// What a thread has of a value: a scalar, or a shorter vector.
  mlir::Type own(mlir::Type type) const;
  /// The thread's number (i32).
  Value thread() const { return current; }
  /// Elements of the thread, and a thread's value made of them.
  Slots slots(Value value, mlir::VectorType type);
  Value join(llvm::ArrayRef<Value> slots, mlir::VectorType type);
  /// A scalar in every lane.
  Value spread(Value scalar, mlir::VectorType type);
  /// The numbers (i32) of the lanes that the thread has.
  Slots lanes(Location loc, mlir::VectorType type);
  /// Lanes with these numbers.
  Value table(Location loc, mlir::VectorType type,
              llvm::ArrayRef<mlir::Attribute> values);
  /// The element at a lane (i32), the same in all threads.
  Value extract(Location loc, llvm::ArrayRef<Value> slots, Value lane,
                mlir::VectorType type);
  /// Another thread's value of any scalar type.
  Value from(Location loc, Value value, Value thread);
  Value any(Location loc, Value flag) { return group.any(builder, loc, flag); }
  void wait(Location loc) { group.wait(builder, loc); }
  /// Whether a lane of the vector is this thread's; null where all have one.
  Value hasLane(Location loc, mlir::VectorType type);

  Value number(Location loc, int64_t value);
  Value toIndex(Location loc, Value value);

private:
  Value words(Location loc, Value bits, Value thread);

  const ThreadGroup &group;
  Value current;
};

} // namespace sinter::compiler
