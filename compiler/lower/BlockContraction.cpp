/// Contractions in the target's unit for whole blocks: where operands lie as it
/// takes them, and what is made of its fragments.
#include "compiler/lower/KernelWriter.h"

#include "compiler/lower/Access.h"
#include "compiler/lower/MatrixProduct.h"
#include "compiler/lower/Sinks.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Tiles of so many rows of them follow each other column by column: what they
// read together stays in a cache.
constexpr int64_t groupedTiles = 8;

// Whether threads can compute the op for themselves, each its own elements.
bool isPointwise(Operation &op) {
  using graph::PatternKind;
  auto described = dyn_cast<ir::SinterOpInterface>(&op);
  if (!described)
    return isa<program::YieldOp>(op);
  PatternKind kind = described.getPatternKind();
  return kind == PatternKind::pointwise || kind == PatternKind::view ||
         kind == PatternKind::source;
}

// A view with its axes from neighbours on: `axis` and `other` first, then those
// of batches. Nothing where neither of the two has neighbours.
std::optional<BlockUnit::Matrix> matrixOf(const StridedView &view,
                                          const Shape &shape) {
  unsigned rank = shape.size(), row = rank - 2, column = rank - 1;
  bool alongRows = constantOf(view.strides[column]) == 1;
  if (!alongRows && constantOf(view.strides[row]) != 1)
    return std::nullopt;
  BlockUnit::Matrix matrix;
  matrix.buffer = view.input;
  matrix.offset = view.offset;
  auto addAxis = [&](unsigned axis) {
    matrix.extents.push_back(shape[axis]);
    matrix.strides.push_back(view.strides[axis]);
  };
  addAxis(alongRows ? column : row);
  addAxis(alongRows ? row : column);
  for (unsigned axis = row; axis-- > 0;)
    if (!isOne(shape[axis]) && constantOf(view.strides[axis]) != 0) {
      addAxis(axis);
      matrix.batches.push_back(axis);
    }
  return matrix;
}

class BlockContraction {
public:
  BlockContraction(KernelWriter &writer, ir::MatmulOp op, ArrayRef<Sink> sinks)
      : writer(writer), op(op), context(op.getContext()), sinks(sinks),
        shape(shapeOf(op.getResult())), unit(*writer.target.blockUnit()) {}

  bool run() {
    if (!describe())
      return false;
    auto chosen = unit.tileOf(product);
    if (!chosen)
      return false;
    tile = *chosen;
    unsigned rank = shape.size();
    down = shape[rank - 2].ceilDiv(tile.rows);
    across = shape[rank - 1].ceilDiv(tile.columns);
    AffineExpr batches = sinter::compiler::product(shape, 0, rank - 2, context);
    writer.addBlockPhase(batches * down * across, [&](Emission &emission) {
      unit.emit(
          emission.builder, emission.loc, emission.entry, product, tile,
          [&](Value number) { return locate(emission, number); },
          [&](const BlockUnit::Place &place,
              ArrayRef<BlockUnit::Fragment> fragments) {
            return finish(emission, place, fragments);
          });
    });
    return true;
  }

private:
  bool describe() {
    unsigned rank = shape.size();
    Value left = op.getLhs(), right = op.getRhs();
    product.element = elementOf(op.getResult());
    bool isAlike = elementOf(left) == product.element &&
                   elementOf(right) == product.element &&
                   accumulatorType(product.element).isF32() &&
                   shapeOf(left).size() == rank &&
                   shapeOf(right).size() == rank;
    if (!isAlike || writer.numerics == NumericsMode::exact)
      return false;
    for (Operation &other : writer.kernel.getBlock())
      if (&other != op && !isPointwise(other))
        return false;
    auto leftView = stridedView(left), rightView = stridedView(right);
    auto leftMatrix =
        leftView ? matrixOf(*leftView, shapeOf(left)) : std::nullopt;
    auto rightMatrix =
        rightView ? matrixOf(*rightView, shapeOf(right)) : std::nullopt;
    if (!leftMatrix || !rightMatrix)
      return false;
    product.left = *leftMatrix;
    product.right = *rightMatrix;
    product.left.alongDepth = constantOf(leftView->strides[rank - 1]) == 1;
    product.right.alongDepth = constantOf(rightView->strides[rank - 1]) != 1;
    product.rows = constantOf(shape[rank - 2]);
    product.columns = constantOf(shape[rank - 1]);
    product.batches =
        constantOf(sinter::compiler::product(shape, 0, rank - 2, context));
    product.depth = shapeOf(left).back();
    describeResult();
    return true;
  }

  // The unit stores the first dense result of two bytes.
  void describeResult() {
    for (const Sink &sink : sinks) {
      Type element = elementOf(sink.value);
      if (!sink.views.empty() || (!element.isBF16() && !element.isF16()))
        continue;
      StridedView view{sink.buffer, getAffineConstantExpr(0, context), {}};
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        view.strides.push_back(
            sinter::compiler::product(shape, dim + 1, shape.size(), context));
      auto matrix = matrixOf(view, shape);
      if (!matrix || !unit.stores(*matrix, element))
        continue;
      product.result = *matrix;
      stored = &sink;
      return;
    }
  }

  SmallVector<Coord> batchCoordinates(Emission &emission, Value batch) const {
    if (shape.size() == 2)
      return {};
    Shape leading(shape.begin(), shape.end() - 2);
    Index flat;
    flat.tail = emission.uniform(batch);
    flat.tailRank = leading.size();
    return emission.coordinates(flat, leading);
  }

  // Groups of rows of tiles, each column by column.
  BlockUnit::Place locate(Emission &emission, Value number) const {
    BlockUnit::Place place;
    emission.within(emission.builder.getInsertionBlock(), [&] {
      Value rows = emission.extent(down), columns = emission.extent(across);
      Value most = emission.constant(groupedTiles);
      Value tiles = emission.mul(rows, columns);
      Value batch = emission.floorDiv(number, tiles);
      Value rest = emission.mod(number, tiles);
      Value inGroup = emission.mul(columns, most);
      Value first = emission.mul(emission.floorDiv(rest, inGroup), most);
      rest = emission.mod(rest, inGroup);
      Value size = emission.min(emission.sub(rows, first), most);
      Value row = emission.add(first, emission.mod(rest, size));
      Value column = emission.floorDiv(rest, size);
      place.row = emission.mul(row, emission.constant(tile.rows));
      place.column = emission.mul(column, emission.constant(tile.columns));
      for (const Coord &coordinate : batchCoordinates(emission, batch))
        place.batch.push_back(coordinate.base);
    });
    return place;
  }

  // ---- fragments -----------------------------------------------------------

  /// Elements of a fragment: where they are, and whether they are at all.
  struct Piece {
    Index index;
    Lanes lanes;
    Value exists; ///< i1; null where all tiles are whole
  };

  bool isWhole(unsigned dim, int64_t size) const {
    int64_t extent = constantOf(shape[dim]);
    return extent >= 0 && extent % size == 0;
  }

  // What is past the end is read as the last row or columns are, and not
  // stored.
  Value clamp(Emission &emission, Value at, unsigned dim, int64_t count,
              int64_t size, Value &exists) const {
    if (isWhole(dim, size))
      return at;
    OpBuilder &builder = emission.builder;
    Value end = emission.extent(shape[dim]);
    Value inside = arith::CmpIOp::create(builder, emission.loc,
                                         arith::CmpIPredicate::slt, at, end);
    exists = exists
                 ? arith::AndIOp::create(builder, emission.loc, exists, inside)
                 : inside;
    return emission.min(at, emission.sub(end, emission.constant(count)));
  }

  Piece pieceAt(Emission &emission, const BlockUnit::Place &place,
                const BlockUnit::Fragment &fragment, int64_t next,
                unsigned count) const {
    unsigned rank = shape.size();
    Piece piece;
    Value row = clamp(emission, emission.add(place.row, fragment.row), rank - 2,
                      1, tile.rows, piece.exists);
    Value inside =
        emission.add(emission.mul(fragment.pair, emission.constant(2)),
                     emission.constant(fragment.column + next));
    Value column = clamp(emission, emission.add(place.column, inside), rank - 1,
                         count, tile.columns, piece.exists);
    SmallVector<Coord> coordinates;
    for (Value at : place.batch)
      coordinates.push_back(emission.uniform(at));
    coordinates.push_back(emission.uniform(row));
    coordinates.push_back(count == 1 ? emission.uniform(column)
                                     : emission.along(column, count));
    piece.index = emission.fromCoordinates(coordinates);
    piece.lanes.count = count;
    return piece;
  }

  // A pair is in one row, or, where rows have an odd length, perhaps not: then
  // its elements are each by itself.
  SmallVector<Piece> piecesOf(Emission &emission, const BlockUnit::Place &place,
                              const BlockUnit::Fragment &fragment) const {
    if (product.columns % 2 == 0)
      return {pieceAt(emission, place, fragment, 0, 2)};
    return {pieceAt(emission, place, fragment, 0, 1),
            pieceAt(emission, place, fragment, 1, 1)};
  }

  Value sumsOf(Emission &emission, const BlockUnit::Fragment &fragment) const {
    Type pair = emission.vectorType(emission.builder.getF32Type(), 2);
    Value sums = vector::FromElementsOp::create(emission.builder, emission.loc,
                                                pair, fragment.sums);
    return fromAccumulator(emission, sums, product.element);
  }

  // Everything is read before anything is written: an output may take an
  // input's place.
  SmallVector<Value> finish(Emission &emission, const BlockUnit::Place &place,
                            ArrayRef<BlockUnit::Fragment> fragments) {
    struct Store {
      const Sink *sink;
      Piece piece;
      Element element;
    };
    SmallVector<Store> stores;
    SmallVector<Value> words;
    emission.within(emission.builder.getInsertionBlock(), [&] {
      for (const BlockUnit::Fragment &fragment : fragments) {
        Value sums = sumsOf(emission, fragment);
        for (auto [next, piece] :
             llvm::enumerate(piecesOf(emission, place, fragment))) {
          Value sum = sums;
          if (piece.lanes.count == 1)
            sum = vector::ExtractOp::create(emission.builder, emission.loc,
                                            sums, int64_t(next));
          emission.provide(op.getResult(), piece.index, piece.lanes,
                           Element{sum});
          for (const Sink &sink : sinks)
            stores.push_back(
                {&sink, piece,
                 emission.at(sink.value, piece.index, piece.lanes)});
        }
      }
      for (const Store &store : stores) {
        if (store.sink == stored) {
          Value value = emission.spread(store.element, 2);
          words.push_back(toMemory(emission, value, elementOf(stored->value)));
          continue;
        }
        auto put = [&] {
          storeToSink(emission, *store.sink, store.piece.index,
                      store.piece.lanes, store.element);
        };
        if (store.piece.exists)
          emission.when(store.piece.exists, put);
        else
          put();
      }
    });
    return words;
  }

  KernelWriter &writer;
  ir::MatmulOp op;
  MLIRContext *context;
  ArrayRef<Sink> sinks;
  Shape shape;
  const BlockUnit &unit;
  BlockUnit::Product product;
  BlockUnit::Tile tile;
  AffineExpr down, across;
  const Sink *stored = nullptr; ///< what the unit stores
};

} // namespace

bool emitInBlocks(KernelWriter &writer, Value product, ArrayRef<Sink> sinks) {
  if (!writer.target.blockUnit())
    return false;
  auto op = cast<ir::MatmulOp>(product.getDefiningOp());
  return BlockContraction(writer, op, sinks).run();
}

} // namespace sinter::compiler
