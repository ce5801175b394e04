/// WarpgroupBlock: what kernels have in common whose blocks are warpgroups.
///
/// The first warpgroup of a block copies parts of matrices to shared memory,
/// one thread asking for them; the others multiply. Persistent: a block takes
/// one tile after another.
#pragma once

#include "compiler/target/Target.h"
#include "compiler/target/cuda/Ptx.h"

#include <array>

namespace sinter::compiler {

class WarpgroupBlock {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

protected:
  /// Stages that are filled one after another. Two barriers of each say that it
  /// is full, and that it may be filled again.
  struct Ring {
    int64_t at = 0; ///< bytes from the block's memory on
    int64_t stages = 1, stageBytes = 0;
    int64_t barriers = 0; ///< bytes, as `at`

    int64_t bytesOfBarriers() const { return 16 * stages; }
  };
  /// Where in a ring: the number of a stage, and the parity of its round.
  struct Turn {
    Value stage, parity;
  };
  /// What of a block's resources a kernel takes.
  struct Share {
    int64_t bytes = 0;      ///< of shared memory
    int64_t consumers = 1;  ///< warpgroups that multiply
    int64_t blocks = 1;     ///< on a multiprocessor
    unsigned producers = 0; ///< registers of a thread that copies
    unsigned others = 0;    ///< of one that multiplies; 0: all have as many
  };

  /// Where boxes of results wait until they have gone out.
  struct Slots {
    int64_t at = 0;    ///< bytes, as of a ring
    int64_t count = 1; ///< for each warpgroup
    int64_t boxes = 1; ///< of a tile
  };

  WarpgroupBlock(mlir::OpBuilder &builder, mlir::Location loc,
                 const KernelEntry &entry)
      : builder(builder), loc(loc), ptx(builder, loc), entry(entry) {}
  virtual ~WarpgroupBlock() = default;

  /// The two roles; both loop over tiles.
  virtual void produce() = 0;
  virtual void consume() = 0;

  /// Maps follow the arguments that every kernel has. All before `run`.
  Value addMap(const BlockUnit::Matrix &matrix, mlir::Type element,
               int64_t inner, int64_t outer);
  /// Emits the kernel. Before the roles begin, one thread emits `prepare`.
  void run(const Share &share, llvm::function_ref<void()> prepare);

  // ---- structure
  Values loop(Value begin, Value end, Value step, mlir::ValueRange carried,
              llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  void when(Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = {});
  /// `body` for the tiles of this block.
  void forTiles(mlir::ValueRange carried,
                llvm::function_ref<Values(Value, mlir::ValueRange)> body);

  // ---- rings
  void initRing(const Ring &ring, int64_t consumers);
  Turn next(const Ring &ring, const Turn &turn) const;
  /// The stage before.
  Value before(const Ring &ring, Value stage) const;
  Value stageAt(const Ring &ring, Value stage) const;
  Value fullAt(const Ring &ring, Value stage) const;
  Value emptyAt(const Ring &ring, Value stage) const;
  void waitFull(const Ring &ring, const Turn &turn) const;
  void waitEmpty(const Ring &ring, const Turn &turn) const;
  /// The warpgroup reads a stage no more.
  void release(const Ring &ring, Value stage) const;

  // ---- threads that multiply
  /// The rows, of the warpgroup's 64, of which the thread has fragments (i32):
  /// thread 4 g + t of warp w has rows 16 w + g and 8 more, columns 8 j + 2 t
  /// and the next, first of the upper row, then of the lower one (PTX ISA,
  /// wgmma's matrix D).
  std::array<Value, 2> rowsOfThread() const;
  /// Stores a box of 64 x 64 elements of 16 bits, given as words of fragments,
  /// by a map: of all its columns, or of the first ones, a multiple of 16,
  /// where the matrix has no more. Boxes of a tile take slots of shared memory
  /// in turn.
  void storeBox(Value map, mlir::ValueRange coordinates, const Slots &slots,
                int64_t box, mlir::ValueRange fragments);

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const Ptx ptx;
  const KernelEntry &entry;
  Value memory;            ///< the block's, an address
  Value thread, warp;      ///< of the block
  Value consumer, isFirst; ///< number; the first thread of it

private:
  void declare(const Share &share);

  std::string lines; ///< that say the maps
  unsigned maps = 0;
  Value block, blocks, tiles; ///< number of the block, how many there are
};

} // namespace sinter::compiler
