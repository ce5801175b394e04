/// Emission: the state of emitting one kernel function. Scopes, memoized
/// elements and index arithmetic that is shared and placed as far out as its
/// operands allow.
#pragma once

#include "compiler/lower/element/Index.h"
#include "compiler/target/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace sinter::compiler {

class ElementSource;

/// One block being filled. Values of outer scopes are visible in inner ones.
struct Scope {
  mlir::Block *block = nullptr;
  /// Runs under a condition: memory may not be read before it is known.
  bool guarded = false;
  std::map<std::vector<uint64_t>, Element> elements;
  std::map<std::vector<uint64_t>, mlir::Value> values;
};

class Emission {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  Emission(mlir::OpBuilder &builder, const Target &target, KernelEntry entry,
           mlir::Block &body);
  ~Emission();

  mlir::OpBuilder &builder;
  const Target &target;
  const KernelEntry entry;
  /// The kernel's buffers as the part that is being emitted uses them.
  Values buffers;
  /// The kernel's body of tensor ops.
  mlir::Block &body;
  mlir::Location loc;

  // ---- elements ----------------------------------------------------------
  /// Elements of `tensor` (a value of the kernel's body); emitted once per
  /// scope.
  Element at(Value tensor, const Index &index, const Lanes &lanes);
  /// As `at`, never uniform: a vector of lanes.count, or a scalar for one.
  Value vectorAt(Value tensor, const Index &index, const Lanes &lanes);
  /// Makes an element known in the current scope: a value computed in the
  /// kernel is a source too. From then on no element is emitted further out.
  void provide(Value tensor, const Index &index, const Lanes &lanes,
               Element element);
  /// From here on no element of the current scope is read further out: what a
  /// source reads has just been written.
  void keepReadsInside() { scopes.back()->guarded = true; }
  ElementSource &source(Value tensor);
  /// Gives a tensor another source, before it is read.
  void setSource(Value tensor, std::unique_ptr<ElementSource> source);
  /// The element as a vector of `count` (a scalar for 1).
  Value spread(Element element, unsigned count);
  /// `mask ? a : b`, by bits for 16-bit floats; broadcasts as needed.
  Element select(Value mask, Element a, Element b, unsigned count);

  // ---- index arithmetic ----------------------------------------------------
  Value constant(int64_t value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  /// Of values that are not negative.
  Value floorDiv(Value a, Value b);
  Value mod(Value a, Value b);
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  /// The value of an extent.
  Value extent(mlir::AffineExpr expr);
  Coord uniform(Value base) { return Coord{base, 0, {}, 1}; }
  Coord along(Value base, unsigned count) { return Coord{base, 1, {}, count}; }
  Coord add(const Coord &a, const Coord &b);
  Coord sub(const Coord &a, const Coord &b);
  Coord scale(const Coord &a, mlir::AffineExpr factor);
  /// The coordinate in [0, extent) that is nearest to that of each lane.
  Coord clamp(const Coord &a, mlir::AffineExpr extent);
  /// Promises that lanes which start at `base` end before a multiple of `width`
  /// where they are not masked.
  void keepInRow(Value base, mlir::AffineExpr width) {
    inRow.insert({base.getAsOpaquePointer(), width.getAsOpaquePointer()});
  }
  /// Whether that was promised.
  bool isKeptInRow(Value base, mlir::AffineExpr width) const {
    return inRow.contains(
        {base.getAsOpaquePointer(), width.getAsOpaquePointer()});
  }
  /// Quotient and remainder by an extent.
  std::pair<Coord, Coord> divide(const Coord &a, mlir::AffineExpr divisor);
  /// The coordinate of each lane: a vector of index (a scalar for one lane).
  Value perLane(const Coord &coord);
  /// Lanes whose coordinate lies in [0, extent): null where all do, known
  /// from constants alone. An i1, or a vector of i1.
  Value isWithin(const Coord &coord, mlir::AffineExpr extent);
  /// Promises that a value lies in [low, high], until `forgetRanges`.
  void assumeRange(Value value, int64_t low, int64_t high) {
    ranges[value] = {low, high};
  }
  void forgetRanges() { ranges.clear(); }
  /// Whether lanes may start before the first element, as where padding begins.
  /// Divisions are of unsigned numbers: only lanes from 0 on are right.
  bool mayBeNegative(Value value) const;
  /// Whether the coordinates of all lanes are known to lie in [0, extent).
  bool staysWithin(const Coord &coord, mlir::AffineExpr extent) const;
  /// Whether they are known to lie outside of it.
  bool staysOutside(const Coord &coord, mlir::AffineExpr extent) const;
  /// 0, step, 2 * step, ... as a vector of `type`.
  Value laneOffsets(int64_t step, unsigned count, mlir::Type type);

  // ---- indices
  // ---------------------------------------------------------------
  /// The linear coordinate of an index in a dense tensor.
  Coord linearize(const Index &index, const Shape &shape);
  /// The same index with another tailRank (at least 1).
  Index withTail(Index index, const Shape &shape, unsigned tailRank);
  /// All coordinates, one per dim.
  llvm::SmallVector<Coord> coordinates(const Index &index, const Shape &shape);
  /// The index whose coordinates are given, tailRank 1.
  Index fromCoordinates(llvm::ArrayRef<Coord> coordinates);

  // ---- structure -----------------------------------------------------------
  using LoopBody =
      llvm::function_ref<Values(Value iv, mlir::ValueRange carried)>;
  /// for iv = lower to upper by step, with loop-carried values.
  Values loop(Value lower, Value upper, int64_t step, mlir::ValueRange inits,
              LoopBody body);
  void loop(Value lower, Value upper, int64_t step,
            llvm::function_ref<void(Value iv)> body);
  /// The values of `then` where the condition holds, else those of
  /// `otherwise`. Both run guarded.
  Values branch(Value condition, mlir::TypeRange types,
                llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);
  void when(Value condition, llvm::function_ref<void()> then);
  /// Runs `emit` where the innermost of `operands` is known, at the latest
  /// before the guarded or current scope.
  void hoisted(llvm::ArrayRef<Value> operands, bool readsMemory,
               llvm::function_ref<void()> emit);
  /// Emits at the end of a block that another has made.
  void within(mlir::Block *block, llvm::function_ref<void()> emit);
  /// Reductions of columns whose elements are being emitted.
  unsigned reductionsAround = 0;
  /// Whether a pad reads the nearest element of its operand where it has none,
  /// and does not use it: no branch keeps loads apart then.
  bool readsNearest = false;
  /// A buffer of the function's frame: one per (key, type).
  Value frameBuffer(const void *key, mlir::MemRefType type);
  /// Vector of `count` i1: lane < `remaining`.
  Value tailMask(Value remaining, unsigned count);
  Value fullMask(unsigned count);
  mlir::VectorType vectorType(mlir::Type element, unsigned count);
  /// A scalar or splat constant of a value type.
  Value number(mlir::Type type, double value);
  Value integer(mlir::Type type, int64_t value);

  // ---- failure -------------------------------------------------------------
  /// Reports that `tensor`'s op cannot be emitted here; emission goes on with
  /// undefined values and fails at the end.
  Element fail(Value tensor, const llvm::Twine &why);
  bool failed() const { return hasFailed; }

private:
  enum class IndexOp : uint64_t { add, sub, mul, floorDiv, mod, min, max };
  Value indexOp(IndexOp code, Value a, Value b);
  Value nonZero(Value value);
  bool endsAtKnown(const Coord &coord, mlir::AffineExpr width);
  /// Whether lanes along a coordinate, one apart, stay in one row of `width`.
  bool staysInRow(const Coord &coord, mlir::AffineExpr width) const;
  /// The least and the largest that the value is known to be.
  std::optional<std::pair<int64_t, int64_t>> rangeOf(Value value) const;
  std::optional<std::pair<int64_t, int64_t>> rangeOf(const Coord &coord) const;
  /// A number that is known to divide the value.
  int64_t multipleOf(Value value) const;
  Element evaluate(Value tensor, const Index &index, const Lanes &lanes);
  Element underMask(Value tensor, const Index &index, const Lanes &lanes);
  std::optional<Element> find(const std::vector<uint64_t> &key);
  size_t levelOf(Value value) const;
  Values inScope(mlir::Block *block, bool guarded,
                 llvm::function_ref<Values()> emit);

  std::vector<std::unique_ptr<Scope>> scopes;
  llvm::DenseMap<mlir::Value, std::unique_ptr<ElementSource>> sources;
  std::map<std::pair<const void *, const void *>, Value> frame;
  /// linear = quotient * divisor + remainder, found while linearizing.
  std::map<std::pair<void *, void *>, std::pair<Value, Value>> divisions;
  /// (quotient, divisor, remainder) -> linear, found while dividing.
  std::map<std::tuple<void *, void *, void *>, Value> products;
  llvm::DenseMap<Value, int64_t> multiples;
  llvm::DenseMap<Value, std::pair<int64_t, int64_t>> ranges;
  /// Sums with a constant: what the constant was added to, and it.
  llvm::DenseMap<Value, std::pair<Value, int64_t>> offsets;
  /// Starts of lanes that stay in a row of this width.
  std::set<std::pair<const void *, const void *>> inRow;
  bool hasFailed = false;
};

} // namespace sinter::compiler
