/// Ptx: instructions of PTX for which LLVM has no name, or a longer one, in
/// kernels whose threads each run for themselves (PTX ISA 8.1).
#pragma once

#include "compiler/target/simt/Numbers.h"

namespace sinter::compiler {

/// Waits for the kernels before (PTX ISA, griddepcontrol: of sm_90 and newer).
/// What comes behind may start then: not sooner, so that of a row of kernels
/// only one waits on the device.
inline constexpr const char *waitForKernelsText =
    "griddepcontrol.wait; griddepcontrol.launch_dependents;";

/// Emits at the builder's place. Addresses of shared memory and barriers are
/// numbers, too.
class Ptx : public Numbers {
public:
  using Numbers::Numbers;

  /// The same in all threads of a warp, as that of the first of them.
  Value uniform(Value value) const;

  // ---- floats (f32)
  /// 2^x, of which at most the last two bits are off; numbers below the normal
  /// ones are 0. Likewise the logarithm.
  Value exp2(Value x) const;
  Value log2(Value x) const;
  /// Both as bf16 or f16 in a word, the first in the low bits.
  Value pack(mlir::Type element, Value low, Value high) const;
  /// That of the thread whose number differs in the bits of `distance`.
  Value exchange(Value value, int32_t distance) const;

  // ---- barriers that count arrivals and bytes
  void initBarrier(Value barrier, int32_t arrivals) const;
  /// Makes what was initialized known to all, copies included.
  void publishBarriers() const;
  /// Arrives, and expects so many bytes of copies.
  void expectBytes(Value barrier, int32_t bytes) const;
  /// Arrives where `flag` (i1) holds.
  void arriveWhere(Value flag, Value barrier) const;
  /// Waits until the phase of that parity has ended.
  void wait(Value barrier, Value parity) const;

  // ---- copies of tensor maps' parts
  /// Brings a map near.
  void prefetch(Value map) const;
  void copyIn(Value to, Value map, mlir::ValueRange coordinates,
              Value barrier) const;
  /// Of an image's map: the place under each window at `offsets` (i32).
  void copyIn(Value to, Value map, mlir::ValueRange coordinates,
              mlir::ValueRange offsets, Value barrier) const;
  void copyOut(Value map, mlir::ValueRange coordinates, Value from) const;
  /// Ends a group of copies out.
  void commitCopies() const;
  /// Waits until all but the last `pending` groups have been read, or, where
  /// `written` is set, been written.
  void waitForCopies(unsigned pending, bool written) const;
  /// What the thread wrote to shared memory is seen by copies out.
  void publishToCopies() const;

  // ---- threads
  /// Waits for the kernels before this one, which may still run, and lets those
  /// behind it begin to wait. Nothing of memory is touched before.
  void waitForKernels() const;
  void syncBlock() const;
  /// Waits for `threads` threads that name this barrier.
  void syncThreads(Value barrier, int32_t threads) const;
  /// Counts as one that waits there, and goes on.
  void arriveThreads(Value barrier, int32_t threads) const;
  /// One thread of a warp (i1).
  Value electOne() const;
  void setRegisters(bool more, unsigned count) const;

  /// Stores four 8 x 8 matrices of 16 bits; the address is of a row of one.
  void storeMatrices(Value address, mlir::ValueRange words) const;

  /// Instructions with operands $0, $1, ... as LLVM's inline assembly has them,
  /// which touch memory.
  llvm::SmallVector<Value> run(const llvm::Twine &text,
                               llvm::StringRef constraints,
                               mlir::ValueRange operands,
                               mlir::TypeRange results = {}) const;

private:
  /// As `run`, of one result that is a function of the operands.
  Value compute(llvm::StringRef text, llvm::StringRef constraints,
                mlir::ValueRange operands, mlir::Type result) const;
};

} // namespace sinter::compiler
