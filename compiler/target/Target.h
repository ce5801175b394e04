/// Target: what the emitters ask of a machine, and how its code is made.
#pragma once

#include "compiler/target/LaneTraits.h"
#include "compiler/target/MachineModel.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir
namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace sinter::compiler {

struct FarOptions;
struct MathFeatures;

/// The parts of a kernel function that exist before its body is emitted.
struct KernelEntry {
  mlir::Operation *function = nullptr;
  mlir::SmallVector<mlir::Value> buffers; ///< rank-1 memrefs, in ABI order
  mlir::SmallVector<mlir::Value> dims;    ///< index, one per kernel symbol
  mlir::Value firstChunk;                 ///< index
  mlir::Value lastChunk;                  ///< index
  /// What `bufferAt` and `reportIndexError` need; opaque to the emitters.
  mlir::Value addresses;
  mlir::Value errorWord;
  mlir::Value launch;
};

/// Code in the forms that were asked for.
struct TargetCode {
  std::string object;
  std::string llvmText;
  std::string asmText;
};

/// A unit that multiplies whole tiles, which it holds in registers of its own.
/// A register holds rows of words of 32 bits; a word of an operand holds
/// several elements, neighbours along k, the first in the lowest bits.
class MatrixUnit {
public:
  virtual ~MatrixUnit() = default;

  /// Registers, rows of one, words of a row. The rows of the right operand's
  /// tile are words along k, so that a tile takes `words` of k.
  unsigned registers = 0, rows = 0, words = 0;
  /// Whether a register of the right operand is loaded by its columns, as that
  /// of the left one by its rows. Then the left one is read where it is, if its
  /// rows are whole registers of words, and sums of all of k stay in registers.
  bool readsColumns = false;

  /// What a register is loaded for.
  enum class Role { operand, sum };

  /// Whether operands of these elements can be multiplied: bf16, or i8 with or
  /// without a sign, whose products are summed in f32 and i32.
  virtual bool multiplies(mlir::Type left, mlir::Type right) const = 0;
  /// Stands around the use of registers; `scratch` is a memref of 64 x i8.
  virtual void begin(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value scratch) const = 0;
  virtual void end(mlir::OpBuilder &builder, mlir::Location loc) const = 0;

  virtual void zero(mlir::OpBuilder &builder, mlir::Location loc,
                    unsigned number) const = 0;
  /// Rows that start `stride` words apart from buffer[place] on.
  virtual void load(mlir::OpBuilder &builder, mlir::Location loc, Role role,
                    unsigned number, mlir::Value buffer, mlir::Value place,
                    int64_t stride) const = 0;
  virtual void store(mlir::OpBuilder &builder, mlir::Location loc,
                     unsigned number, mlir::Value buffer, mlir::Value place,
                     int64_t stride) const = 0;
  /// Adds the product of two registers to that of number `sum`.
  virtual void multiply(mlir::OpBuilder &builder, mlir::Location loc,
                        unsigned sum, unsigned left, unsigned right,
                        mlir::Type leftPart, mlir::Type rightPart) const = 0;
};

/// The leaf of products whose tiles a block of threads multiplies together. It
/// brings parts of the operands to memory that the block shares and keeps sums
/// in registers, of which each thread has fragments.
class BlockUnit {
public:
  using Value = mlir::Value;

  virtual ~BlockUnit() = default;

  /// How windows stand along an axis of an image.
  struct WindowAxis {
    int64_t low = 0;      ///< where the first begins
    int64_t high = 0;     ///< where the last may begin, from the last place on
    int64_t stride = 1;   ///< from one window to the next
    int64_t dilation = 1; ///< from one place under a window to the next
    int64_t size = 1;     ///< places under a window
    int64_t positions = 1;
  };

  /// A matrix in a buffer of the kernel, batches of it behind. Axes go from the
  /// one along which elements are neighbours; strides are in elements.
  struct Matrix {
    unsigned buffer = 0; ///< its number
    mlir::AffineExpr offset;
    llvm::SmallVector<mlir::AffineExpr> extents, strides;
    /// Which of the product's axes of batches those behind the first two are.
    llvm::SmallVector<unsigned> batches;
    bool alongDepth = false; ///< neighbours lie along k
    /// Of an image: the matrix has what lies under each position of windows,
    /// place by place under a window all channels. The axes above are then
    /// channels, the image's, and images; neighbours are channels.
    llvm::SmallVector<WindowAxis, 3> windows;
    /// Beside places under windows of which the unit makes more (see
    /// `depthOfPlace`): the channels of each. k is two axes then, theirs and,
    /// behind the first two, that of the places. Else 0.
    int64_t channels = 0;
    /// Of each element so many of two bytes, whose sum it is. The last axis
    /// counts them then, behind those of batches. Of an image it is the last
    /// but images', with a window of all of them.
    unsigned pieces = 1;
  };

  /// How elements of an operand are read one by one.
  struct Reading {
    bool alongDepth = false; ///< neighbours lie along k
    /// From each multiple of it on, so many lie side by side.
    int64_t together = 1;
  };

  /// Sums in f32 of products of elements of one type.
  struct Product {
    mlir::Type element;
    /// Where operands lie, if the unit takes both.
    bool isPlain = false;
    Matrix left, right;
    Reading readsLeft, readsRight;
    int64_t rows = -1, columns = -1, batches = -1; ///< -1 where unknown
    /// The same, as a launch knows them.
    struct Sizes {
      mlir::AffineExpr rows, columns, batches;
    } sizes;
    mlir::AffineExpr depth;
    bool isBatched = false; ///< whether there are axes of batches
    bool cutsDepth = false; ///< whether parts of k may be summed by themselves
    /// Parts that are a function of how many results there are and of k alone,
    /// and what each has of k; null where k is not cut so.
    mlir::AffineExpr parts, depthOfPart;
    int64_t mostParts = -1; ///< whatever k is; -1 where unknown
    /// Of k in a part, where a schedule says it; else 0.
    int64_t scheduledPart = 0;
    /// Whether each sum has to take its products in ascending order of k, each
    /// with one rounding.
    bool isOrdered = false;
    /// Whether elements may lose their last bits.
    bool isApproximate = false;
    /// Whether the target's matrix unit takes it where none for blocks does.
    bool fitsMatrixUnit = false;
    /// Where results of two bytes go that the unit is to store, if any do.
    std::optional<Matrix> result;
  };

  /// How a product is cut.
  struct Tile {
    int64_t rows = 0, columns = 0;
    unsigned layout = 0; ///< the unit's number of how threads share the tile
    /// Of k, each of which a tile of its own sums; null for one. Of several the
    /// unit stores nothing.
    mlir::AffineExpr parts;
    /// Of k in a part; the last ones may have less, or none.
    mlir::AffineExpr depth;
    int64_t blocks = 1; ///< that share a multiprocessor
    /// Of the launch for each tile: the warps of a block that has one tile, or
    /// 1 where blocks take one tile after another.
    int64_t chunks = 1;
    /// What schedules call it: no other tile for the product has that name.
    std::string name;
  };
  /// Of those for a product, the ones that are worth a comparison.
  static constexpr size_t mostTiles = 4;

  /// Sizes of a product that have tiles of their own. What a tile changes of
  /// the order of sums has to follow from the sizes, whoever knows them.
  struct Range {
    /// 1 for these sizes, 0 for others; null where there are no others.
    mlir::AffineExpr holds;
    /// The one that is taken unasked first, then those that may be better on
    /// the device at hand, `mostTiles` in all.
    llvm::SmallVector<Tile> tiles;
  };

  /// Of a tile: its first row, column and k, where rows, columns and its k end,
  /// and where it is along the product's axes of batches (all index).
  struct Place {
    Value row, column, depth;
    Value endRow, endColumn, endDepth;
    llvm::SmallVector<Value> batch;
  };

  /// Neighbours in a row that a thread has the sums of: from column
  /// column + count * group on, counted from the tile's first row and column.
  struct Fragment {
    Value row, group; ///< index
    int64_t column = 0;
    unsigned count = 2;
    llvm::SmallVector<Value, 4> sums; ///< f32; none before there are any
  };

  /// What a unit asks of who emits a product. The builder is at the end of a
  /// block when it asks.
  class Client {
  public:
    virtual ~Client() = default;
    /// Emits what is known of tile number `tile` (index), and `body` behind it.
    virtual void inTile(Value tile,
                        llvm::function_ref<void(const Place &)> body) = 0;
    /// Elements as f32: a vector of `count` neighbours, or a scalar. They are
    /// in row or column `line` and at `k` (index), of which the one that
    /// neighbours lie along, as `Product` says, counts groups of `count`.
    virtual Value readLeft(const Place &place, Value line, Value k,
                           unsigned count) = 0;
    virtual Value readRight(const Place &place, Value line, Value k,
                            unsigned count) = 0;
    /// Reads what finishing needs of columns alone, before there are sums.
    virtual void prepare(const Place &place,
                         llvm::ArrayRef<Fragment> fragments) = 0;
    /// Whether finishing reads more than that.
    virtual bool readsFragments() const = 0;
    /// Emits what is done with sums, and gives what the unit is to store of
    /// each fragment: a vector of two words of 16 bits, or nothing.
    virtual llvm::SmallVector<Value>
    finish(const Place &place, llvm::ArrayRef<Fragment> fragments) = 0;
  };

  /// In how many pieces the unit takes elements of that type; of several it
  /// takes copies alone.
  virtual unsigned piecesOf(mlir::Type) const { return 1; }
  /// What a place under windows takes of k, of which neighbours are so many
  /// channels: behind the last one all is zero.
  virtual int64_t depthOfPlace(int64_t channels) const { return channels; }
  /// Whether the unit brings parts of such an operand to its memory as they
  /// are.
  virtual bool takes(const Matrix &operand, mlir::Type element) const = 0;
  /// 1 for sizes of a product that are the unit's, 0 for those that units after
  /// it take. As ranges, a function of the sizes, whoever knows them.
  virtual mlir::AffineExpr sizesOf(const Product &product) const {
    return mlir::getAffineConstantExpr(1, product.depth.getContext());
  }
  /// Ranges that have every size of a product once, all with k in the same
  /// parts; none where the product is none for this unit. A function of types,
  /// shapes and strides.
  virtual llvm::SmallVector<Range> rangesFor(const Product &product) const = 0;
  /// Whether the unit can store results that lie so.
  virtual bool stores(const Matrix &result, mlir::Type element) const = 0;
  /// Emits a kernel whose blocks take one tile after another. The builder
  /// is in the body of a function that `beginKernel` has begun.
  virtual void emit(mlir::OpBuilder &builder, mlir::Location loc,
                    const KernelEntry &entry, const Product &product,
                    const Tile &tile, Client &client) const = 0;

protected:
  /// A range of all sizes, if there are tiles.
  static llvm::SmallVector<Range> forAll(llvm::SmallVector<Tile> tiles) {
    if (tiles.empty())
      return {};
    return {Range{{}, std::move(tiles)}};
  }
};

class AttentionUnit;
class BlockThreads;

/// A machine to emit for. Immutable and shareable between threads.
class Target {
public:
  virtual ~Target() = default;

  /// As given: `cpu`, `cpu:x86-64-v3`, ...
  virtual std::string_view name() const = 0;
  /// Features the code may use: LLVM's names, sorted, comma separated. An image
  /// runs where the device's profile has them all.
  virtual std::string_view requirements() const = 0;
  const Machines &machines() const { return machineModels; }

  /// Elements of a vector; at least 4, a power of two, at most 64.
  virtual unsigned lanes() const = 0;
  virtual const LaneTraits &traits() const = 0;
  /// Bytes that a frame may have where lanes share it; the largest number
  /// elsewhere.
  virtual int64_t frameBytes() const = 0;
  /// Elements of a chunk of an elementwise kernel.
  virtual int64_t chunkElements() const = 0;
  /// Vector registers, for the matrix leaf's tile.
  virtual unsigned vectorRegisters() const = 0;
  virtual bool hasFma() const = 0;
  /// Null where there is none.
  virtual const MatrixUnit *matrixUnit() const = 0;
  /// In the order in which they are asked for a tile.
  virtual llvm::ArrayRef<std::unique_ptr<const BlockUnit>>
  blockUnits() const = 0;

  /// In the order in which they are asked for a tile.
  virtual llvm::ArrayRef<std::unique_ptr<const AttentionUnit>>
  attentionUnits() const = 0;
  /// Null where rows are never worked on by several threads.
  virtual const BlockThreads *blockThreads() const = 0;

  /// Whether words of such parts, of two bf16 or four i8 with or without a
  /// sign, are multiplied in one step.
  virtual bool multipliesWords(mlir::Type left, mlir::Type right) const = 0;
  /// sum + a0 * b0 + a1 * b1 + ... of vectors of words of i32: of bytes sums of
  /// i32, which wrap; of floats those of f32, in an order and with roundings of
  /// its own.
  virtual mlir::Value addWords(mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::Value a, mlir::Value b, mlir::Value sum,
                               mlir::Type leftPart,
                               mlir::Type rightPart) const = 0;

  /// Starts a kernel function at the end of `module`; the builder is left
  /// inside its body, before the terminator. `elements` are the buffers'
  /// element types in memory (bool and u8 are i8).
  virtual KernelEntry beginKernel(mlir::OpBuilder &builder,
                                  mlir::ModuleOp module, llvm::StringRef symbol,
                                  mlir::TypeRange elements,
                                  unsigned numDims) const = 0;

  /// The kernel's buffer of that number (an index), a memref of `element`.
  virtual mlir::Value bufferAt(mlir::OpBuilder &builder, mlir::Location loc,
                               const KernelEntry &entry, mlir::Value number,
                               mlir::Type element) const = 0;

  /// Reports `index` (i64, a linear element index) as out of range.
  virtual void reportIndexError(mlir::OpBuilder &builder, mlir::Location loc,
                                const KernelEntry &entry,
                                mlir::Value index) const = 0;

  /// Makes stores that went past the caches visible like others; a chunk that
  /// has made any ends with it.
  virtual void endStreaming(mlir::OpBuilder &builder,
                            mlir::Location loc) const = 0;

  /// Whether the machine has what such an op of tensors takes: its types, and
  /// indices for its sizes as far as they are known. A diagnostic at the op
  /// says what it lacks.
  virtual llvm::LogicalResult check(mlir::Operation *) const {
    return mlir::success();
  }
  /// Whether it has integers of 8 bits, which buffers keep as such.
  virtual bool storesBytes() const { return true; }
  /// Elements of the largest tensor that its indices reach into.
  virtual int64_t mostElements() const {
    return std::numeric_limits<int64_t>::max();
  }
  /// Whether it has other indices, without such a limit, for kernels of which a
  /// tensor is known to be larger.
  virtual bool hasWideIndices() const { return false; }

  /// The code of a user's kernel (an op of OpaqueOpInterface) as the function
  /// `symbol`. `buffers` are the numbers, among the kernel's, of the operands
  /// and the result. Where the target runs no such code, an error of the op.
  virtual llvm::FailureOr<TargetCode>
  compileGiven(mlir::Operation *op, llvm::StringRef symbol,
               llvm::ArrayRef<unsigned> buffers, bool keepText) const;

  // ---- from loops to code

  /// Adds the passes (LoweringPasses.h) that bring an emitted module to the
  /// form that `translate` takes. They refer to the target.
  virtual void buildLowering(mlir::OpPassManager &passes) const = 0;

  /// What the machine has of math, for the functions of a module.
  virtual MathFeatures mathFeatures(mlir::ModuleOp module) const = 0;
  /// How functions of sin and cos of large numbers are made.
  virtual FarOptions farTrig() const = 0;
  /// Puts loads together for which threads would wait in turn.
  virtual void clusterLoads(mlir::func::FuncOp function) const;
  /// Makes threads of lanes, and shared memory of the frame.
  virtual llvm::LogicalResult
  distributeLanes(mlir::func::FuncOp function) const;
  /// Runs passes on the module that is lowered.
  using RunPasses =
      llvm::function_ref<llvm::LogicalResult(mlir::OpPassManager &)>;
  /// What is left to the form that `translate` takes.
  virtual llvm::LogicalResult lowerAbi(mlir::ModuleOp module,
                                       RunPasses run) const = 0;

  /// The code of a lowered module. Consumes the module's contents.
  virtual llvm::FailureOr<TargetCode> translate(mlir::ModuleOp module,
                                                bool keepText) const = 0;

  /// Makes the image that a device loads of the kernels' objects.
  virtual Result<std::vector<std::byte>>
  link(std::span<const std::string> objects) const = 0;

protected:
  explicit Target(const Machines &machines) : machineModels(machines) {}

private:
  Machines machineModels;
};

/// The attribute of an emitted module whose functions (exp and the like) have
/// the same bits at every level of a machine.
inline constexpr const char *alikeAttr = "sinter.alike";
/// The attribute of a module whose functions and roots may be approximations.
inline constexpr const char *approximatesAttr = "sinter.approximates";

/// The attribute of a module (an affine map) whose indices reach into
/// `mostElements`: how many elements tensors have which a launch knows first,
/// as functions of the kernel's symbols. A module without it has no such limit.
inline constexpr const char *sizesAttr = "sinter.sizes";

/// The target of that name; an error of kind `unsupported` names the choices.
Result<std::shared_ptr<const Target>> makeTarget(std::string_view name);

} // namespace sinter::compiler
