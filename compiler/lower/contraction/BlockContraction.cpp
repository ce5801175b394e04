/// Contractions in the target's unit for whole blocks: where operands lie as it
/// takes them, and what is made of its fragments.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/analysis/Access.h"
#include "compiler/analysis/OpsBehind.h"
#include "compiler/lower/contraction/BlockMatrix.h"
#include "compiler/lower/contraction/BlockOperand.h"
#include "compiler/lower/contraction/PartialSums.h"
#include "compiler/lower/contraction/TileShape.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "compiler/lower/kernel/DepthSplit.h"
#include "compiler/lower/kernel/Sinks.h"
#include "compiler/target/ProductTiles.h"
#include "compiler/target/SizeClasses.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <memory>
#include <numeric>

using namespace mlir;

namespace sinter::compiler {
namespace {

// Tiles of so many rows of them follow each other column by column: what they
// read together stays in a cache. Of wide tiles more, so that tiles at work at
// the same time make up a square.
int64_t groupedTiles(const BlockUnit::Tile &tile) {
  constexpr int64_t ofSquares = 8;
  return std::max(ofSquares, ofSquares * tile.columns / tile.rows);
}

// Copies of operands take a launch of their own, and elements of them time: in
// products so large, with so many results of each element, tensor cores win
// more than that.
constexpr double leastUses = 16;
constexpr double leastFlops = 1e8;

// Whether threads can compute the op for themselves, each its own elements.
bool isPointwise(Operation &op) {
  using graph::PatternKind;
  auto described = dyn_cast<ir::SinterOpInterface>(&op);
  if (!described)
    return isa<program::YieldOp>(op);
  PatternKind kind = described.getPatternKind();
  return kind == PatternKind::pointwise || kind == PatternKind::view ||
         kind == PatternKind::source || kind == PatternKind::random;
}

class BlockContraction {
public:
  BlockContraction(KernelWriter &writer, const BlockUnit &unit,
                   ir::ContractionOpInterface op, ArrayRef<Sink> sinks)
      : writer(writer), op(op), context(op.getContext()), sinks(sinks),
        shape(shapeOf(op.getResult())), rows(shape[shape.size() - 2]),
        columns(shape.back()),
        batches(sinter::compiler::product(shape, 0, shape.size() - 2, context)),
        unit(unit),
        leftOperand(op.getLhs(), op.getLhsAxis(ir::ContractionLoop::k), unit),
        rightOperand(op.getRhs(), op.getRhsAxis(ir::ContractionLoop::k), unit) {
  }

  /// Whether the unit has tiles for the product.
  bool find() { return describe() && findTiles(); }
  /// Takes of the sizes that are `left`, 1 for each of them, those that are the
  /// unit's, and gives the others.
  AffineExpr takeSizes(AffineExpr left);
  void addWorkspaces();
  void addPhases();

private:
  bool describe() {
    // Units take matrices of one type, with axes of batches before.
    product.element = elementOf(op.getResult());
    if (!ir::matrixProductOf(op) || !op.getSumType().isF32())
      return false;
    for (Operation &other : writer.kernel.getBlock())
      if (&other != op && !isPointwise(other))
        return false;
    describeOperands();
    product.rows = constantOf(rows);
    product.columns = constantOf(columns);
    product.batches = constantOf(batches);
    product.sizes = {rows, columns, batches};
    product.isBatched = op.getNumBatchLoops() > 0;
    product.depth = depthOf(op);
    product.isOrdered = writer.numerics == NumericsMode::exact;
    product.isApproximate = writer.numerics == NumericsMode::fast;
    product.fitsMatrixUnit =
        sinter::compiler::chooseTile(writer.target, op, writer.numerics).inUnit;
    product.cutsDepth = !product.isOrdered && sumsOverRows(op);
    product.scheduledPart =
        product.cutsDepth ? scheduledSplit(writer.kernel) : 0;
    if (auto split =
            splitDepth(op, product.depth, writer.numerics, PartOf::block)) {
      product.parts = split->count;
      product.depthOfPart = split->length;
      product.mostParts = split->most;
    }
    return true;
  }

  void describeOperands() {
    using enum ir::ContractionLoop;
    product.readsLeft =
        readingOf(op.getLhs(), op.getLhsAxis(k), op.getLhsAxis(m));
    product.readsRight =
        readingOf(op.getRhs(), op.getRhsAxis(k), op.getRhsAxis(n));
  }

  // Tiles for operands where they lie, or else for copies, if those pay.
  bool findTiles() {
    if (unit.piecesOf(product.element) > 1)
      return findTilesOfPieces();
    setOperands(findOperands(/*mayCopy=*/false));
    if (takeTiles())
      return true;
    double flops = 2.0 * double(sizeOr(product.rows, manyRows)) *
                   double(sizeOr(product.columns, manyRows)); // of each k
    worth = sizesFrom(int64_t(std::ceil(leastFlops / std::max(1.0, flops))));
    if (product.isPlain || constantOf(worth) == 0 ||
        !findOperands(/*mayCopy=*/true))
      return false;
    setOperands(true);
    return takeTiles();
  }

  // Beside places under windows that take more of k than there is, the other
  // operand is cut into such, too.
  bool findOperands(bool mayCopy) {
    auto find = [&](BlockOperand &operand, int64_t size, int64_t channels) {
      double reads = double(sizeOr(size, manyRows)); // of each element
      return operand.findInPlace(channels) ||
             (mayCopy && operand.findCopy(channels) &&
              reads * operand.readsOfCopy() >= leastUses);
    };
    if (!find(leftOperand, product.columns, 0) ||
        !find(rightOperand, product.rows, leftOperand.paddedChannels()))
      return false;
    int64_t channels = rightOperand.paddedChannels();
    return channels == 0 || find(leftOperand, product.columns, channels);
  }

  // 1 for a k of at least `least`. A launch may know first how many rows it
  // counts: one known before is in the same class then.
  AffineExpr sizesFrom(int64_t least) const {
    auto number = [&](int64_t value) {
      return getAffineConstantExpr(value, context);
    };
    int64_t known = constantOf(product.depth);
    if (known >= 0 || !product.cutsDepth)
      return number(sizeOr(known, manyRows) >= least);
    if (leastOf(product.depth) >= least)
      return number(1);
    return valueAt(product.depth, {{0, number(0)}, {least, number(1)}});
  }

  // What lies under windows is many times as much as an image: only that is
  // copied.
  bool findTilesOfPieces() {
    unsigned column = shape.size() - 1, row = column - 1;
    auto find = [&](BlockOperand &operand, Value value) {
      bool isOverWindows =
          runsOverWindows(value, row) || runsOverWindows(value, column);
      return operand.findCopy() && !(isOverWindows && operand.copiesAll());
    };
    if (!find(leftOperand, op.getLhs()) || !find(rightOperand, op.getRhs()))
      return false;
    setOperands(true);
    return takeTiles();
  }

  bool takeTiles() {
    ranges = unit.rangesFor(product);
    return !ranges.empty();
  }

  // The first of each range, unless the schedule names another one of it. The
  // others come by their rank, of every range one: which range a launch takes
  // may not be known.
  void chooseTiles() {
    size_t most = 0;
    for (const BlockUnit::Range &range : ranges)
      most = std::max(most, range.tiles.size());
    for (size_t rank = 0; rank < most; ++rank)
      for (const BlockUnit::Range &range : ranges)
        if (rank < range.tiles.size())
          writer.offerTile(range.tiles[rank].name);
    for (BlockUnit::Range &range : ranges) {
      auto names = llvm::map_to_vector(
          range.tiles, [](const BlockUnit::Tile &tile) { return tile.name; });
      auto *named = range.tiles.begin() + writer.chooseTile(range.holds, names);
      std::rotate(range.tiles.begin(), named, named + 1);
    }
  }

  void setOperands(bool areTaken) {
    product.isPlain = areTaken;
    product.left = leftOperand.matrix;
    product.right = rightOperand.matrix;
    product.depth = depthOf(op);
    for (const BlockOperand *operand : {&leftOperand, &rightOperand})
      if (int64_t channels = operand->paddedChannels(); areTaken && channels)
        product.depth =
            product.depth.floorDiv(channels) * unit.depthOfPlace(channels);
  }

  // By the longer run of neighbours: along k, or along the other axis. The axis
  // consists of such runs: a padded one ends in the middle of one otherwise.
  static BlockUnit::Reading readingOf(Value operand, unsigned depth,
                                      unsigned other) {
    auto along = [&](unsigned dim) {
      return std::gcd(neighboursAlong(operand, dim),
                      shapeOf(operand)[dim].getLargestKnownDivisor());
    };
    int64_t alongDepth = along(depth), alongOther = along(other);
    BlockUnit::Reading reading;
    reading.alongDepth = alongDepth > alongOther;
    reading.together = std::max(alongDepth, alongOther);
    return reading;
  }

  // The unit stores the first dense result of two bytes.
  void describeResult() {
    for (const Sink &sink : sinks) {
      Type element = elementOf(sink.value);
      if (!sink.views.empty() || (!element.isBF16() && !element.isF16()))
        continue;
      auto matrix = denseMatrix(sink.buffer, shape);
      if (!matrix || !unit.stores(*matrix, element))
        continue;
      product.result = *matrix;
      stored = &sink;
      return;
    }
  }

  void addPhase(const BlockUnit::Range &range);

  class TileEmitter;

  KernelWriter &writer;
  ir::ContractionOpInterface op;
  MLIRContext *context;
  ArrayRef<Sink> sinks;
  Shape shape;
  const AffineExpr rows, columns, batches;
  const BlockUnit &unit;
  BlockOperand leftOperand, rightOperand;
  BlockUnit::Product product;
  SmallVector<BlockUnit::Range> ranges;
  AffineExpr worth = getAffineConstantExpr(1, context); ///< 1 where it pays
  AffineExpr sizes;        ///< 1 for those that this takes
  BlockUnit::Tile tile;    ///< of the range whose phase is emitted
  AffineExpr down, across; ///< its tiles
  AffineExpr parts = getAffineConstantExpr(1, context);
  unsigned partials = 0; ///< the number of the workspace for sums of parts
  const Sink *stored = nullptr; ///< what the unit stores
};

// Emits tiles, and what is made of their fragments.
class BlockContraction::TileEmitter final : public BlockUnit::Client {
public:
  using Place = BlockUnit::Place;
  using Fragment = BlockUnit::Fragment;

  TileEmitter(BlockContraction &plan, Emission &emission)
      : plan(plan), emission(emission), shape(plan.shape),
        product(plan.op.getResult()) {
    for (const Sink &sink : plan.sinks)
      findOperands(sink.value);
  }

  // Groups of rows of tiles, each column by column.
  void inTile(Value number,
              llvm::function_ref<void(const Place &)> body) override {
    emission.within(emission.builder.getInsertionBlock(), [&] {
      Value rows = emission.extent(plan.down);
      Value columns = emission.extent(plan.across);
      Value most = emission.constant(groupedTiles(plan.tile));
      Value tiles = emission.mul(rows, columns);
      Value parts = emission.extent(plan.parts);
      Value outer = emission.floorDiv(number, tiles);
      Value part = emission.mod(outer, parts);
      Value batch = emission.floorDiv(outer, parts);
      Value rest = emission.mod(number, tiles);
      Value inGroup = emission.mul(columns, most);
      Value first = emission.mul(emission.floorDiv(rest, inGroup), most);
      rest = emission.mod(rest, inGroup);
      Value size = emission.min(emission.sub(rows, first), most);
      Value row = emission.add(first, emission.mod(rest, size));
      Value column = emission.floorDiv(rest, size);
      Place place;
      place.row = emission.mul(row, emission.constant(plan.tile.rows));
      place.column = emission.mul(column, emission.constant(plan.tile.columns));
      place.endRow = emission.extent(plan.rows);
      place.endColumn = emission.extent(plan.columns);
      place.endDepth = emission.extent(plan.product.depth);
      place.depth = emission.constant(0);
      if (plan.tile.parts) {
        Value length = emission.extent(plan.tile.depth);
        place.depth = emission.mul(part, length);
        place.endDepth =
            emission.min(emission.add(place.depth, length), place.endDepth);
      }
      for (const Coord &coordinate : batchCoordinates(emission, shape, batch))
        place.batch.push_back(coordinate.base);
      if (plan.tile.parts)
        startOfPart = emission.mul(
            emission.add(emission.mul(part, emission.extent(plan.batches)),
                         batch),
            emission.extent(plan.rows * plan.columns));
      body(place);
    });
  }

  Value readLeft(const Place &place, Value line, Value k,
                 unsigned count) override {
    bool alongDepth = plan.product.readsLeft.alongDepth;
    return read(place, plan.op.getLhs(), {line, alongDepth ? 1u : count},
                {k, alongDepth ? count : 1u});
  }

  Value readRight(const Place &place, Value line, Value k,
                  unsigned count) override {
    bool alongDepth = plan.product.readsRight.alongDepth;
    return read(place, plan.op.getRhs(), {k, alongDepth ? count : 1u},
                {line, alongDepth ? 1u : count});
  }

  void prepare(const Place &place, ArrayRef<Fragment> fragments) override {
    for (const Fragment &fragment : fragments)
      for (const Piece &piece : piecesOf(place, fragment))
        for (Value tensor : ofColumns)
          emission.at(tensor, piece.index, piece.lanes);
  }

  bool readsFragments() const override { return readsElements; }

  // Everything is read before anything is written: an output may take an
  // input's place.
  SmallVector<Value> finish(const Place &place,
                            ArrayRef<Fragment> fragments) override {
    if (plan.tile.parts)
      return storePart(place, fragments), SmallVector<Value>();
    struct Store {
      const Sink *sink;
      Piece piece;
      Element element;
    };
    SmallVector<Store> stores;
    for (const Fragment &fragment : fragments) {
      Value sums = sumsOf(fragment);
      for (auto [next, piece] : llvm::enumerate(piecesOf(place, fragment))) {
        Value sum = sums;
        if (piece.lanes.count == 1)
          sum = vector::ExtractOp::create(emission.builder, emission.loc, sums,
                                          int64_t(next));
        emission.provide(product, piece.index, piece.lanes, Element{sum});
        for (const Sink &sink : plan.sinks)
          stores.push_back({&sink, piece,
                            emission.at(sink.value, piece.index, piece.lanes)});
      }
    }
    SmallVector<Value> words;
    for (const Store &store : stores) {
      if (store.sink == plan.stored) {
        Value value = emission.spread(store.element, store.piece.lanes.count);
        words.push_back(
            toMemory(emission, value, elementOf(plan.stored->value)));
        continue;
      }
      auto put = [&] {
        storeToSink(emission, *store.sink, store.piece.index, store.piece.lanes,
                    store.element);
      };
      if (store.piece.exists)
        emission.when(store.piece.exists, put);
      else
        put();
    }
    return words;
  }

private:
  /// Neighbours along an axis: the number of a group of so many.
  struct Group {
    Value number;
    unsigned count = 1;
  };

  Value read(const Place &place, Value operand, const Group &row,
             const Group &column) {
    Value value;
    emission.within(emission.builder.getInsertionBlock(), [&] {
      SmallVector<Coord> coordinates;
      for (Value at : place.batch)
        coordinates.push_back(emission.uniform(at));
      for (const Group &group : {row, column}) {
        Value first =
            emission.mul(group.number, emission.constant(group.count));
        coordinates.push_back(group.count == 1
                                  ? emission.uniform(first)
                                  : emission.along(first, group.count));
      }
      value = emission.vectorAt(operand, emission.fromCoordinates(coordinates),
                                Lanes{row.count * column.count, {}, false});
    });
    return value;
  }

  /// Elements of a fragment: where they are, and whether they are at all.
  struct Piece {
    Value row, column;
    Index index;
    Lanes lanes;
    Value exists; ///< i1; null where all tiles are whole
  };

  // What is read beside the product: of columns alone, or of each element.
  void findOperands(Value tensor) {
    if (tensor == product || !seen.insert(tensor).second)
      return;
    if (!dependsOnProduct(tensor)) {
      if (isOfColumns(tensor))
        ofColumns.push_back(tensor);
      else
        readsElements = true;
      return;
    }
    for (Value operand : tensor.getDefiningOp()->getOperands())
      findOperands(operand);
  }

  bool dependsOnProduct(Value tensor) const {
    return opsBehind(tensor).contains(product.getDefiningOp());
  }

  // Whether all rows of a tensor of the product's shape are alike.
  bool isOfColumns(Value tensor) const {
    Operation *op = tensor.getDefiningOp();
    if (shapeOf(tensor) != shape)
      return false;
    if (auto view = stridedView(tensor))
      return constantOf(view->strides[shape.size() - 2]) == 0;
    return op && (isa<ir::FullOp>(op) ||
                  (isa<ir::PointwiseOpInterface>(op) &&
                   llvm::all_of(behindArithmetic(tensor), [&](Value leaf) {
                     return isOfColumns(leaf);
                   })));
  }

  bool isWhole(unsigned dim, int64_t size) const {
    int64_t extent = constantOf(shape[dim]);
    return extent >= 0 && extent % size == 0;
  }

  // What is past the end is read as the last row or columns are, and not
  // stored.
  Value clamp(Value at, unsigned dim, int64_t count, int64_t size,
              Value &exists) const {
    if (isWhole(dim, size))
      return at;
    OpBuilder &builder = emission.builder;
    Value end = emission.extent(shape[dim]);
    Value inside = arith::CmpIOp::create(builder, emission.loc,
                                         arith::CmpIPredicate::slt, at, end);
    if (exists)
      inside = arith::AndIOp::create(builder, emission.loc, exists, inside);
    exists = inside;
    return emission.min(at, emission.sub(end, emission.constant(count)));
  }

  Piece pieceAt(const Place &place, const Fragment &fragment, int64_t next,
                unsigned count) const {
    unsigned rank = shape.size();
    Piece piece;
    Value row = clamp(emission.add(place.row, fragment.row), rank - 2, 1,
                      plan.tile.rows, piece.exists);
    Value inside = emission.add(
        emission.mul(fragment.group, emission.constant(fragment.count)),
        emission.constant(fragment.column + next));
    Value column = clamp(emission.add(place.column, inside), rank - 1, count,
                         plan.tile.columns, piece.exists);
    SmallVector<Coord> coordinates;
    for (Value at : place.batch)
      coordinates.push_back(emission.uniform(at));
    coordinates.push_back(emission.uniform(row));
    coordinates.push_back(count == 1 ? emission.uniform(column)
                                     : emission.along(column, count));
    piece.row = row;
    piece.column = column;
    piece.index = emission.fromCoordinates(coordinates);
    piece.lanes.count = count;
    return piece;
  }

  // A fragment is in one row, or, where rows do not come out even in such,
  // perhaps not: then its elements are each by itself.
  SmallVector<Piece> piecesOf(const Place &place,
                              const Fragment &fragment) const {
    int64_t columns = plan.columns.getLargestKnownDivisor();
    if (columns % fragment.count == 0)
      return {pieceAt(place, fragment, 0, fragment.count)};
    SmallVector<Piece> pieces;
    for (unsigned next = 0; next < fragment.count; ++next)
      pieces.push_back(pieceAt(place, fragment, next, 1));
    return pieces;
  }

  Value joined(const Fragment &fragment) const {
    Type type =
        emission.vectorType(emission.builder.getF32Type(), fragment.count);
    return vector::FromElementsOp::create(emission.builder, emission.loc, type,
                                          fragment.sums);
  }

  Value sumsOf(const Fragment &fragment) const {
    return fromAccumulator(emission, joined(fragment), plan.product.element);
  }

  // The sums of a part of k, for a phase that adds the parts.
  void storePart(const Place &place, ArrayRef<Fragment> fragments) {
    OpBuilder &builder = emission.builder;
    Value buffer = emission.entry.buffers[plan.partials];
    for (const Fragment &fragment : fragments)
      for (auto [next, piece] : llvm::enumerate(piecesOf(place, fragment))) {
        auto put = [&, next = next, &piece = piece] {
          Value at = emission.add(
              startOfPart,
              emission.add(
                  emission.mul(piece.row, emission.extent(plan.columns)),
                  piece.column));
          if (piece.lanes.count == 1)
            memref::StoreOp::create(builder, emission.loc, fragment.sums[next],
                                    buffer, at);
          else
            vector::StoreOp::create(builder, emission.loc, joined(fragment),
                                    buffer, at);
        };
        if (piece.exists)
          emission.when(piece.exists, put);
        else
          put();
      }
  }

  BlockContraction &plan;
  Emission &emission;
  const Shape &shape;
  const Value product;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> ofColumns; ///< rows of them are alike
  bool readsElements = false;   ///< of other tensors
  Value startOfPart;            ///< of k: where its sums begin
};

// Of other sizes it has no chunks, and is not launched.
void BlockContraction::addPhase(const BlockUnit::Range &range) {
  tile = range.tiles.front();
  down = rows.ceilDiv(tile.rows);
  across = columns.ceilDiv(tile.columns);
  AffineExpr chunks = parts * batches * down * across * tile.chunks;
  writer.addBlockPhase(range.holds ? chunks * range.holds : chunks,
                       [&](Emission &emission) {
                         TileEmitter tiles(*this, emission);
                         unit.emit(emission.builder, emission.loc,
                                   emission.entry, product, tile, tiles);
                       });
}

AffineExpr BlockContraction::takeSizes(AffineExpr left) {
  AffineExpr own = unit.sizesOf(product) * worth;
  sizes = left * own;
  return left * (getAffineConstantExpr(1, context) - own);
}

void BlockContraction::addWorkspaces() {
  writer.setSizes(sizes);
  chooseTiles();
  tile = ranges.front().tiles.front();
  if (tile.parts) {
    parts = tile.parts;
    writer.noteSplit(constantOf(tile.depth));
    partials =
        writer.addWorkspace(parts * batches * rows * columns, op.getSumType());
  } else {
    describeResult();
  }
  for (BlockOperand *operand : {&leftOperand, &rightOperand})
    operand->addWorkspace(writer);
  setOperands(product.isPlain);
}

void BlockContraction::addPhases() {
  writer.setSizes(sizes);
  leftOperand.addCopyPhase(writer, /*mayKeep=*/false);
  rightOperand.addCopyPhase(writer, /*mayKeep=*/isOne(sizes));
  for (const BlockUnit::Range &range : ranges)
    addPhase(range);
  if (tile.parts)
    addPartialSums(writer, op, {tile.depth, parts}, partials, sinks);
}

} // namespace

bool emitInBlocks(KernelWriter &writer, Value product, ArrayRef<Sink> sinks,
                  llvm::function_ref<std::function<void()>()> others) {
  auto op = cast<ir::ContractionOpInterface>(product.getDefiningOp());
  SmallVector<std::unique_ptr<BlockContraction>, 2> plans;
  AffineExpr left = getAffineConstantExpr(1, op.getContext());
  for (const auto &unit : writer.target.blockUnits()) {
    auto plan = std::make_unique<BlockContraction>(writer, *unit, op, sinks);
    if (!plan->find())
      continue;
    left = plan->takeSizes(left);
    plans.push_back(std::move(plan));
    if (constantOf(left) == 0)
      break;
  }
  if (plans.empty())
    return false;
  for (const auto &plan : plans)
    plan->addWorkspaces();
  std::function<void()> addOthers;
  writer.setSizes(left);
  if (constantOf(left) != 0)
    addOthers = others();
  for (const auto &plan : plans)
    plan->addPhases();
  writer.setSizes(left);
  if (addOthers)
    addOthers();
  return true;
}

} // namespace sinter::compiler
