/// BlockThreads: threads of a block that work on rows or tiles together, each
/// with vectors of its own.
#pragma once

#include "compiler/target/Target.h"

namespace sinter::compiler {

/// They see each other's numbers in memory that they share; those of a warp in
/// registers, too. Emits at the builder's place, in kernels that it has begun.
class BlockThreads {
public:
  using Value = mlir::Value;

  virtual ~BlockThreads() = default;

  /// A block in its kernel: its number and the thread's (both index), and its
  /// memory, of f32.
  struct Block {
    Value number, thread, memory;
  };

  /// Threads of a warp, and how many a block may have: whole warps.
  virtual int64_t warpThreads() const = 0;
  virtual int64_t mostThreads() const = 0;
  /// Numbers in the memory of a block.
  virtual int64_t mostNumbers() const = 0;

  /// Begins a kernel whose blocks have so many threads and numbers; threads
  /// have at least `registers`, as far as all there are suffice for that. The
  /// builder is in the body of a function that `beginKernel` has begun. A
  /// launch has the warps of a block as chunks.
  virtual Block begin(mlir::OpBuilder &builder, mlir::Location loc,
                      const KernelEntry &entry, int64_t threads,
                      int64_t numbers, int64_t registers) const = 0;
  /// Waits for all threads of the block; what they wrote to its memory is seen
  /// after it.
  virtual void wait(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// Asks for what `buffer` has at `place` (index), which is read later.
  virtual void fetch(mlir::OpBuilder &builder, mlir::Location loc, Value buffer,
                     Value place) const = 0;
  /// The number (f32) of the thread of the warp whose own number differs in the
  /// bits of `distance`.
  virtual Value exchange(mlir::OpBuilder &builder, mlir::Location loc,
                         Value number, int64_t distance) const = 0;

  // ---- memory for panels of matrices
  /// A block in its kernel: the thread's number (i32), and its memory, which is
  /// reached by places, of which `start` is the first.
  struct Panels {
    Value thread, memory, start;
  };
  /// Begins a kernel whose blocks have so many threads and numbers; `blocks` of
  /// them share a multiprocessor.
  virtual Panels beginPanels(mlir::OpBuilder &builder, mlir::Location loc,
                             const KernelEntry &entry, int64_t threads,
                             int64_t numbers, int64_t blocks) const = 0;
  /// The number of the block (index).
  virtual Value number(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// The place so many numbers (i32, or known) behind another.
  virtual Value placeAt(mlir::OpBuilder &builder, mlir::Location loc,
                        Value place, Value numbers) const = 0;
  virtual Value placeAt(mlir::OpBuilder &builder, mlir::Location loc,
                        Value place, int64_t numbers) const = 0;
  /// One number (f32), or `groupOfPlaces` as a vector, from `numbers` behind a
  /// place on; that of a group is a multiple of its size.
  virtual Value load(mlir::OpBuilder &builder, mlir::Location loc,
                     const Panels &panels, Value place, int64_t numbers,
                     unsigned count) const = 0;
  /// One number, or a vector of two or a group, each at a multiple of its size.
  virtual void store(mlir::OpBuilder &builder, mlir::Location loc,
                     const Panels &panels, Value value, Value place,
                     int64_t numbers) const = 0;
  static constexpr unsigned groupOfPlaces = 4;
};

} // namespace sinter::compiler
