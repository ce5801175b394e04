/// MatrixTile: the matrix leaf for vector machines.
#include "compiler/lower/MatrixTile.h"

#include "compiler/lower/MatrixProduct.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

// Rows of the right operand in one packed panel.
static constexpr int64_t panelDepth = 256;

MatrixTile::MatrixTile(Emission &emission, ir::MatmulOp op,
                       const TileShape &tile, ArrayRef<Sink> sinks,
                       int64_t mostRows, SmallVector<Coord> batch)
    : emission(emission), op(op), tile(tile), sinks(sinks), mostRows(mostRows),
      batch(std::move(batch)), shape(shapeOf(op.getResult())),
      depth(shapeOf(op.getLhs()).back()), element(elementOf(op.getResult())),
      accumulator(accumulatorType(element)) {
  int64_t rows = constantOf(shape[shape.size() - 2]);
  clampsRows = rows < 0 || rows % tile.rows != 0;
}

void MatrixTile::beginPanel(Value first, unsigned count, Value valid) {
  column = first;
  vectors = count;
  masks.assign(count, Value());
  for (unsigned v = 0; valid && v < count; ++v) {
    Value left = emission.sub(valid, emission.constant(v * tile.lanes));
    auto known = left.getDefiningOp<arith::ConstantIndexOp>();
    if (!known || known.value() < int64_t(tile.lanes))
      masks[v] = emission.tailMask(left, tile.lanes);
  }
}

void MatrixTile::rows(Value first, Value end) {
  int64_t length = constantOf(depth);
  bool blocks = tile.packs && (length < 0 || length > panelDepth);
  if (blocks)
    return rowsInDepthBlocks(first, end);
  Depth whole{emission.constant(0), emission.extent(depth)};
  if (tile.packs)
    packPanel(whole);
  emission.loop(first, end, tile.rows, [&](Value row) {
    finishTile(row, accumulate(row, whole, zeros()));
  });
}

void MatrixTile::rowsInDepthBlocks(Value first, Value end) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  int64_t width = int64_t(vectors) * tile.lanes;
  auto type = MemRefType::get({mostRows * tile.columns()}, accumulator);
  Value waiting =
      emission.frameBuffer(op.getResult().getAsOpaquePointer(), type);
  auto vectorType = emission.vectorType(accumulator, tile.lanes);
  auto place = [&](Value row, unsigned r, unsigned v) {
    Value number = emission.sub(row, first);
    return emission.add(emission.mul(number, emission.constant(width)),
                        emission.constant(r * width + v * tile.lanes));
  };
  auto load = [&](Value row) {
    Values sums;
    for (unsigned r = 0; r < tile.rows; ++r)
      for (unsigned v = 0; v < vectors; ++v)
        sums.push_back(vector::LoadOp::create(builder, loc, vectorType, waiting,
                                              place(row, r, v)));
    return sums;
  };
  auto save = [&](Value row, const Values &sums) {
    for (unsigned r = 0; r < tile.rows; ++r)
      for (unsigned v = 0; v < vectors; ++v)
        vector::StoreOp::create(builder, loc, sums[r * vectors + v], waiting,
                                place(row, r, v));
  };
  emission.loop(first, end, tile.rows, [&](Value row) { save(row, zeros()); });
  Value last = emission.extent(depth);
  emission.loop(emission.constant(0), last, panelDepth, [&](Value k) {
    Value stop =
        emission.min(emission.add(k, emission.constant(panelDepth)), last);
    packPanel({k, stop});
    emission.loop(first, end, tile.rows, [&](Value row) {
      save(row, accumulate(row, {k, stop}, load(row)));
    });
  });
  emission.loop(first, end, tile.rows,
                [&](Value row) { finishTile(row, load(row)); });
}

MatrixTile::Values MatrixTile::zeros() {
  Type type = emission.vectorType(accumulator, tile.lanes);
  return Values(tile.rows * vectors, emission.number(type, 0));
}

MatrixTile::Values MatrixTile::accumulate(Value row, Depth range,
                                          const Values &carried) {
  return emission.loop(range.begin, range.end, 1, carried,
                       [&](Value k, ValueRange given) {
                         Values sums(given);
                         SmallVector<Value> right;
                         for (unsigned v = 0; v < vectors; ++v)
                           right.push_back(rightAt(v, k, range.begin));
                         for (unsigned r = 0; r < tile.rows; ++r) {
                           Value left = leftAt(rowOf(row, r), k);
                           for (unsigned v = 0; v < vectors; ++v) {
                             Value &sum = sums[r * vectors + v];
                             sum = multiplyAdd(emission, left, right[v], sum);
                           }
                         }
                         return sums;
                       });
}

Value MatrixTile::leftAt(Value row, Value k) {
  Index index = indexOf(emission.uniform(row), emission.uniform(k));
  Value value = emission.at(op.getLhs(), index, Lanes{}).value;
  value = toAccumulator(emission, value, element);
  return emission.spread(Element{value}, tile.lanes);
}

Value MatrixTile::rightAt(unsigned vector, Value k, Value depthBegin) {
  if (!tile.packs) {
    Index index = indexOf(emission.uniform(k), columnOf(vector));
    Value value = emission.vectorAt(op.getRhs(), index, lanesOf(vector));
    return toAccumulator(emission, value, element);
  }
  Value width = emission.constant(int64_t(vectors) * tile.lanes);
  Value place = emission.add(emission.mul(emission.sub(k, depthBegin), width),
                             emission.constant(vector * tile.lanes));
  auto type = emission.vectorType(accumulator, tile.lanes);
  return vector::LoadOp::create(emission.builder, emission.loc, type, panel,
                                place);
}

void MatrixTile::packPanel(Depth range) {
  auto type = MemRefType::get({panelDepth * tile.columns()}, accumulator);
  panel = emission.frameBuffer(op.getOperation(), type);
  if (tile.packsAlongDepth)
    return packAlongDepth(range);
  packAlongColumns(range);
}

void MatrixTile::packAlongColumns(Depth range) {
  Value width = emission.constant(int64_t(vectors) * tile.lanes);
  emission.loop(range.begin, range.end, 1, [&](Value k) {
    for (unsigned v = 0; v < vectors; ++v) {
      Index index = indexOf(emission.uniform(k), columnOf(v));
      Value value = emission.vectorAt(op.getRhs(), index, lanesOf(v));
      value = toAccumulator(emission, value, element);
      Value place =
          emission.add(emission.mul(emission.sub(k, range.begin), width),
                       emission.constant(v * tile.lanes));
      vector::StoreOp::create(emission.builder, emission.loc, value, panel,
                              place);
    }
  });
}

void MatrixTile::packAlongDepth(Depth range) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  int64_t width = int64_t(vectors) * tile.lanes;
  AffineExpr columns = shape.back();
  Value last = emission.sub(emission.extent(columns), emission.constant(1));
  Value offsets =
      emission.laneOffsets(width, tile.lanes, builder.getIndexType());
  emission.loop(
      emission.constant(0), emission.constant(width), 1, [&](Value c) {
        // Columns past the end repeat the last one; nothing stores them.
        Value from = emission.min(emission.add(column, c), last);
        emission.loop(range.begin, range.end, tile.lanes, [&](Value k) {
          Value mask =
              emission.tailMask(emission.sub(range.end, k), tile.lanes);
          Index index =
              indexOf(emission.along(k, tile.lanes), emission.uniform(from));
          Value value = emission.vectorAt(op.getRhs(), index,
                                          Lanes{tile.lanes, mask, false});
          value = toAccumulator(emission, value, element);
          Value number = emission.sub(k, range.begin);
          Value place =
              emission.add(emission.mul(number, emission.constant(width)), c);
          vector::ScatterOp::create(builder, loc, Type(), panel, place, offsets,
                                    mask, value);
        });
      });
}

void MatrixTile::finishTile(Value row, const Values &sums) {
  struct Store {
    const Sink *sink;
    Index index;
    Lanes lanes;
    Element element;
  };
  SmallVector<Store> stores;
  // Everything is read before anything is written: a row past the end stands
  // for the last one, and an output may take an input's place.
  for (unsigned r = 0; r < tile.rows; ++r)
    for (unsigned v = 0; v < vectors; ++v) {
      Index index = indexOf(emission.uniform(rowOf(row, r)), columnOf(v));
      Value sum = fromAccumulator(emission, sums[r * vectors + v], element);
      emission.provide(op.getResult(), index, lanesOf(v), Element{sum});
    }
  for (unsigned r = 0; r < tile.rows; ++r)
    for (unsigned v = 0; v < vectors; ++v)
      for (const Sink &sink : sinks) {
        Index index = indexOf(emission.uniform(rowOf(row, r)), columnOf(v));
        Element value = emission.at(sink.value, index, lanesOf(v));
        stores.push_back({&sink, index, lanesOf(v), value});
      }
  for (const Store &store : stores)
    storeToSink(emission, *store.sink, store.index, store.lanes, store.element);
}

Value MatrixTile::rowOf(Value row, unsigned r) {
  Value number = emission.add(row, emission.constant(r));
  if (!clampsRows)
    return number;
  AffineExpr rowCount = shape[shape.size() - 2];
  return emission.min(
      number, emission.sub(emission.extent(rowCount), emission.constant(1)));
}

Coord MatrixTile::columnOf(unsigned vector) {
  return emission.along(
      emission.add(column, emission.constant(vector * tile.lanes)), tile.lanes);
}

Lanes MatrixTile::lanesOf(unsigned vector) {
  return Lanes{tile.lanes, masks[vector], false};
}

Index MatrixTile::indexOf(Coord row, Coord columnCoord) {
  SmallVector<Coord> coordinates(batch);
  coordinates.push_back(row);
  coordinates.push_back(columnCoord);
  return emission.fromCoordinates(coordinates);
}

} // namespace sinter::compiler
