/// Loads and stores of vectors by the threads that have their lanes.
#pragma once

#include "compiler/target/simt/LaneThreads.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace sinter::compiler {

/// What the address of a thread's elements from `start` on, in a buffer, is
/// known to be a multiple of, where it is a multiple of their size.
llvm::MaybeAlign alignmentAt(mlir::Value start, mlir::VectorType own);

/// Whether an index is known to be a multiple of a number.
bool isMultiple(mlir::Value index, int64_t of);

/// A thread's elements are loaded and stored in one access where it is known
/// that their address is a multiple of their size. What is stored may be read
/// by other threads of the group after it, but for buffers that are only
/// written.
class LaneMemory {
public:
  using Value = mlir::Value;

  LaneMemory(LaneThreads &threads,
             llvm::function_ref<bool(Value)> isOnlyWritten)
      : threads(threads), builder(threads.builder),
        isOnlyWritten(isOnlyWritten) {}

  /// What replaces the result.
  Value load(mlir::vector::LoadOp op, mlir::VectorType type);
  Value load(mlir::vector::MaskedLoadOp op, mlir::VectorType type);
  Value load(mlir::vector::GatherOp op, mlir::VectorType type);
  /// The op itself is left to be erased.
  void store(mlir::vector::StoreOp op, mlir::VectorType type);
  void store(mlir::vector::MaskedStoreOp op, mlir::VectorType type);
  void store(mlir::vector::ScatterOp op, mlir::VectorType type);
  /// A scalar: one thread stores it. Takes the op's place.
  void storeOnce(mlir::memref::StoreOp op);

private:
  /// Where the thread's elements are, from lane 0 at `start` on.
  llvm::SmallVector<Value> places(mlir::Location loc, Value start,
                                  mlir::VectorType type);
  Value loadWhere(mlir::Location loc, Value buffer,
                  llvm::ArrayRef<Value> places, llvm::ArrayRef<Value> flags,
                  llvm::ArrayRef<Value> otherwise, mlir::VectorType type);
  void storeWhere(mlir::Location loc, Value buffer,
                  llvm::ArrayRef<Value> places, llvm::ArrayRef<Value> flags,
                  llvm::ArrayRef<Value> values, mlir::VectorType type);
  void storing(mlir::Location loc, Value buffer,
               llvm::function_ref<void()> emit);
  void storingVectors(mlir::Location loc, Value buffer, Value start,
                      mlir::VectorType type, llvm::function_ref<void()> emit);
  bool isTouchedSince(mlir::Operation *op) const;
  bool goesOn(Value buffer, Value start, mlir::VectorType type) const;
  void when(mlir::Location loc, Value flag, llvm::function_ref<void()> emit);
  Value both(mlir::Location loc, Value a, Value b);

  LaneThreads &threads;
  mlir::OpBuilder &builder;
  llvm::function_ref<bool(Value)> isOnlyWritten;

  /// Stores of vectors that others read, one after the other, and the wait
  /// after them.
  struct Stored {
    Value buffer;
    mlir::VectorType type;
    bool isEven = false;        ///< all begin at a multiple of their lanes
    std::optional<int64_t> end; ///< of all, where they begin at constants
    mlir::Operation *wait = nullptr;
  };
  Stored last;
};

} // namespace sinter::compiler
