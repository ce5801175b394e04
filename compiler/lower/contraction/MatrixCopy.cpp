/// MatrixCopy: operands of a contraction copied into the layout that its
/// register tiles read.
#include "compiler/lower/contraction/MatrixCopy.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/kernel/TurnSquares.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

AffineExpr copiedRightElements(ir::ContractionOpInterface op,
                               const TileShape &tile) {
  Shape shape = shapeOf(op.getResult());
  unsigned rank = shape.size();
  AffineExpr columns = shape.back().ceilDiv(tile.columns()) * tile.columns();
  return product(shape, 0, rank - 2, op.getContext()) * columns *
         depthOf(op, tile);
}

// Elements that one part of a register holds, within which lanes are cheap to
// move. Threads turn in memory.
static unsigned quadOf(const TileShape &tile, const Target &target) {
  return target.traits().shuffle ? std::min(4u, tile.lanes) : tile.lanes;
}

Value MatrixCopier::endOfWhole(const DepthRange &range, int64_t step) const {
  Value end = access.endOfWords(range.end);
  Value length = emission.sub(end, range.begin);
  Value number = emission.constant(step);
  return emission.add(range.begin,
                      emission.mul(emission.floorDiv(length, number), number));
}

void MatrixCopier::eachVectorOfDepth(
    const DepthRange &range,
    llvm::function_ref<void(Value k, Value mask)> emit) const {
  int64_t depth = constantOf(access.length);
  int64_t step = int64_t(tile.lanes) * tile.perWord;
  bool isWhole = depth >= 0 && depth % step == 0;
  Value whole = isWhole ? range.end : endOfWhole(range, tile.lanes);
  emission.loop(range.begin, whole, tile.lanes, [&](Value k) { emit(k, {}); });
  if (isWhole)
    return;
  emission.loop(whole, range.end, tile.lanes, [&](Value k) {
    emit(k, emission.tailMask(emission.sub(range.end, k), tile.lanes));
  });
}

void MatrixCopier::copyRight(Value column, Value valid, const DepthRange &range,
                             Value to, Value place) const {
  if (tile.rightInSquares)
    return copyRightInSquares(column, valid, range, to, place);
  if (tile.rightAlongDepth)
    return copyRightAlongDepth(column, valid, range, to, place);
  copyRightAlongColumns(column, valid, range, to, place);
}

// Lanes that stay within a run of columns, where several axes make them: those
// that go on in the next run would be read one by one.
static unsigned lanesInRun(const MatrixAccess &access, unsigned lanes) {
  constexpr unsigned fewest = 4;
  unsigned axis = axisOf(access.maps.rhs, ir::ContractionLoop::n);
  int64_t run = innerRun(access.rhs, axis);
  unsigned inside = lanes;
  while (run > 0 && inside > fewest && run % inside != 0)
    inside /= 2;
  return run > 0 && run % inside == 0 ? inside : lanes;
}

void MatrixCopier::copyRightAlongColumns(Value column, Value valid,
                                         const DepthRange &range, Value to,
                                         Value place) const {
  unsigned lanes = lanesInRun(access, tile.lanes);
  unsigned vectors = tile.vectors * (tile.lanes / lanes);
  auto masks = access.masksOf(vectors, lanes, valid);
  Value width = emission.constant(tile.columns());
  emission.loop(range.begin, range.end, 1, [&](Value k) {
    Value row = emission.mul(emission.sub(k, range.begin), width);
    for (unsigned v = 0; v < vectors; ++v) {
      Value offset = emission.constant(int64_t(v) * lanes);
      Value value =
          access.rightAt(emission.uniform(k),
                         emission.along(emission.add(column, offset), lanes),
                         Lanes{lanes, masks[v], false});
      access.store(value, to, emission.add(emission.add(place, row), offset));
    }
  });
}

// Read along columns, and turned in the frame: both read and written in the
// order of memory.
void MatrixCopier::copyRightInSquares(Value column, Value valid,
                                      const DepthRange &range, Value to,
                                      Value place) const {
  static const char squareKey = 0;
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  // Rows of a pitch that no two words of a column share a bank at.
  int64_t width = tile.columns(), pitch = width + 1, step = tile.depthStep;
  Value square = emission.frameBuffer(
      &squareKey, MemRefType::get({pitch * step}, access.copied));
  auto masks = access.masksOf(tile.vectors, tile.lanes, valid);
  int64_t lanes = tile.lanes;
  SmallVector<int64_t> offsets;
  for (int64_t lane = 0; lane < lanes; ++lane)
    offsets.push_back(lane % step * pitch + lane / step);
  Value order = arith::ConstantOp::create(
      builder, loc,
      DenseIntElementsAttr::get(
          emission.vectorType(builder.getI64Type(), tile.lanes), offsets));
  order = arith::IndexCastOp::create(
      builder, loc, emission.vectorType(builder.getIndexType(), tile.lanes),
      order);
  auto words = emission.vectorType(access.copied, tile.lanes);
  Value all = emission.fullMask(tile.lanes);
  emission.loop(range.begin, range.end, step, [&](Value k) {
    for (int64_t row = 0; row < step; ++row)
      for (unsigned v = 0; v < tile.vectors; ++v) {
        Value first =
            emission.add(column, emission.constant(int64_t(v) * lanes));
        Value value = access.rightAt(
            emission.uniform(emission.add(k, emission.constant(row))),
            emission.along(first, tile.lanes),
            Lanes{tile.lanes, masks[v], false});
        access.store(value, square,
                     emission.constant(row * pitch + int64_t(v) * lanes));
      }
    Value line =
        emission.mul(emission.sub(k, range.begin), emission.constant(width));
    Value start = emission.add(place, line);
    for (int64_t at = 0; at < width * step; at += lanes) {
      Value value = vector::GatherOp::create(
          builder, loc, words, square, emission.constant(at / step), order, all,
          emission.integer(words, 0));
      access.store(value, to, emission.add(start, emission.constant(at)));
    }
  });
}

// Columns past the end stand for the last one; nothing stores them.
Coord MatrixCopier::columnAt(Value column, bool mayPassEnd) const {
  if (!mayPassEnd)
    return emission.uniform(column);
  unsigned axis = axisOf(access.maps.rhs, ir::ContractionLoop::n);
  Value last = emission.sub(emission.extent(shapeOf(access.rhs)[axis]),
                            emission.constant(1));
  return emission.uniform(emission.min(column, last));
}

// As many elements of k as are turned at a time, of every such column.
Value MatrixCopier::quadsAlongDepth(Value column, bool mayPassEnd,
                                    Value k) const {
  unsigned count = quadOf(tile, emission.target);
  SmallVector<Value> parts;
  for (unsigned c = 0; c < tile.lanes; c += count) {
    Value from = emission.add(column, emission.constant(c));
    parts.push_back(access.rightAt(emission.along(k, count),
                                   columnAt(from, mayPassEnd),
                                   Lanes{count, {}, false}));
  }
  for (; parts.size() > 1; count *= 2) {
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, 2 * int64_t(count)));
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] =
          vector::ShuffleOp::create(emission.builder, emission.loc,
                                    parts[2 * i], parts[2 * i + 1], order);
    parts.resize(parts.size() / 2);
  }
  return parts.front();
}

// Memory puts the parts of a vector together for nothing; what is left to be
// turned are squares within them.
SmallVector<Value> MatrixCopier::linesAlongDepth(Value column, bool mayPassEnd,
                                                 Value k) const {
  unsigned count = quadOf(tile, emission.target);
  SmallVector<Value> lines;
  for (unsigned at = 0; at < tile.lanes; at += count) {
    SmallVector<Value> rows;
    for (unsigned c = 0; c < count; ++c)
      rows.push_back(quadsAlongDepth(emission.add(column, emission.constant(c)),
                                     mayPassEnd,
                                     emission.add(k, emission.constant(at))));
    lines.append(turnSquares(emission, std::move(rows)));
  }
  return lines;
}

void MatrixCopier::copyRightAlongDepth(Value column, Value valid,
                                       const DepthRange &range, Value to,
                                       Value place) const {
  int64_t lanes = tile.lanes;
  Value width = emission.constant(tile.columns());
  bool mayPassEnd = bool(valid);
  auto placeOf = [&](Value group, Value k) {
    Value line = emission.mul(emission.sub(k, range.begin), width);
    return emission.add(emission.add(place, group), line);
  };
  emission.loop(emission.constant(0), width, lanes, [&](Value group) {
    Value first = emission.add(column, group),
          whole = endOfWhole(range, tile.lanes);
    auto copySquare = [&](Value first, Value k) {
      for (auto [i, line] :
           llvm::enumerate(linesAlongDepth(first, mayPassEnd, k))) {
        Value down = emission.constant(int64_t(i) * tile.columns());
        access.store(line, to, emission.add(placeOf(group, k), down));
      }
    };
    emission.loop(range.begin, whole, lanes,
                  [&](Value k) { copySquare(first, k); });
    int64_t depth = constantOf(access.depth);
    if (emission.target.traits().manyTasks && depth >= lanes) {
      // The last square reaches back.
      Value isLeft =
          arith::CmpIOp::create(emission.builder, emission.loc,
                                arith::CmpIPredicate::slt, whole, range.end);
      return emission.when(isLeft, [&] {
        copySquare(first, emission.sub(range.end, emission.constant(lanes)));
      });
    }
    emission.loop(whole, range.end, 1, [&](Value k) {
      for (int64_t c = 0; c < lanes; ++c) {
        Value number = emission.constant(c);
        Coord from = columnAt(emission.add(first, number), mayPassEnd);
        Value value = access.rightAt(emission.uniform(k), from, Lanes{});
        access.storeOne(value, to, emission.add(placeOf(group, k), number));
      }
    });
  });
}

Value MatrixCopier::placeOfPanel(Value batchNumber, Value column) const {
  AffineExpr columns = shapeOf(access.result).back();
  columns = columns.ceilDiv(tile.columns()) * tile.columns();
  Value from =
      emission.add(emission.mul(batchNumber, emission.extent(columns)), column);
  return emission.mul(from, emission.extent(access.depth));
}

int64_t MatrixCopier::leftElements() const {
  // Vectors that run along the rows of a tile may go past its end.
  return tile.rowBlock * tile.leftStride() + tile.lanes;
}

Value MatrixCopier::placeOfLeft(Value row, unsigned r, Value k) const {
  int64_t rowStep = tile.leftAlongRows ? 1 : tile.leftStride();
  int64_t depthStep = tile.leftAlongRows ? tile.rows : 1;
  Value place =
      emission.add(emission.mul(row, emission.constant(tile.leftStride())),
                   emission.mul(k, emission.constant(depthStep)));
  return emission.add(place, emission.constant(int64_t(r) * rowStep));
}

void MatrixCopier::copyLeft(Value first, Value end, const DepthRange &range,
                            Value to) const {
  if (tile.leftAlongRows)
    return copyLeftAlongRows(first, end, range, to);
  copyLeftAlongDepth(first, end, range, to);
}

// Rows past the last one stand for it.
Coord MatrixCopier::rowAt(Value row) const {
  AffineExpr rows = shapeOf(access.result).rbegin()[1];
  int64_t known = constantOf(rows);
  if (known >= 0 && known % tile.rows == 0)
    return emission.uniform(row);
  Value last = emission.sub(emission.extent(rows), emission.constant(1));
  return emission.uniform(emission.min(row, last));
}

void MatrixCopier::copyLeftAlongDepth(Value first, Value end,
                                      const DepthRange &range, Value to) const {
  Value stride = emission.constant(tile.leftStride());
  Value step = emission.constant(tile.rows);
  Value tiles =
      emission.floorDiv(emission.add(emission.sub(end, first),
                                     emission.sub(step, emission.constant(1))),
                        step);
  Value stop = emission.add(first, emission.mul(tiles, step));
  emission.loop(first, stop, 1, [&](Value row) {
    Value line = emission.mul(emission.sub(row, first), stride);
    if (tile.leftRun)
      return copyLeftRuns(row, range, to, line);
    eachVectorOfDepth(range, [&](Value k, Value mask) {
      Value value = access.leftAt(rowAt(row), emission.along(k, tile.lanes),
                                  Lanes{tile.lanes, mask, false});
      access.store(value, to, emission.add(line, emission.sub(k, range.begin)));
    });
  });
}

// What a vector writes past the end of a run is overwritten by the next one, or
// stands past the row's end.
void MatrixCopier::copyLeftRuns(Value row, const DepthRange &range, Value to,
                                Value line) const {
  constexpr int64_t mostUnrolled = 8;
  MLIRContext *context = emission.builder.getContext();
  int64_t lanes = tile.lanes, vectors = llvm::divideCeil(tile.leftRun, lanes);
  AffineExpr width = getAffineConstantExpr(tile.leftRun, context);
  Value run = emission.constant(tile.leftRun);
  auto copyVector = [&](Value number, Value column, int64_t left) {
    Index place;
    place.lead.push_back(emission.uniform(number));
    place.tail = emission.uniform(column);
    place.tailRank = 1;
    // There are fewer runs than elements.
    Value k = emission.linearize(place, Shape{access.depth, width}).base;
    emission.keepInRow(k, width);
    Value mask;
    if (left < lanes)
      mask = emission.tailMask(emission.constant(left), tile.lanes);
    Value value = access.leftAt(rowAt(row), emission.along(k, tile.lanes),
                                Lanes{tile.lanes, mask, false});
    access.store(value, to, emission.add(line, emission.sub(k, range.begin)));
  };
  auto copyRun = [&](Value number) {
    int64_t whole = vectors > mostUnrolled ? tile.leftRun / lanes : 0;
    emission.loop(emission.constant(0), emission.constant(whole * lanes), lanes,
                  [&](Value column) { copyVector(number, column, lanes); });
    for (int64_t vector = whole; vector < vectors; ++vector)
      copyVector(number, emission.constant(vector * lanes),
                 tile.leftRun - vector * lanes);
  };
  Value first = emission.floorDiv(range.begin, run);
  Value last = emission.floorDiv(range.end, run);
  if (!tile.split)
    return emission.loop(first, last, 1, copyRun);
  // Parts of k begin and end inside of runs.
  auto copyPiece = [&](Value begin, Value end) {
    emission.loop(begin, end, lanes, [&](Value k) {
      emission.keepInRow(k, width);
      Value mask = emission.tailMask(emission.sub(end, k), tile.lanes);
      Value value = access.leftAt(rowAt(row), emission.along(k, tile.lanes),
                                  Lanes{tile.lanes, mask, false});
      access.store(value, to, emission.add(line, emission.sub(k, range.begin)));
    });
  };
  Value up = emission.add(range.begin, emission.constant(tile.leftRun - 1));
  first = emission.floorDiv(up, run);
  Value head = emission.min(emission.mul(first, run), range.end);
  copyPiece(range.begin, head);
  emission.loop(first, last, 1, copyRun);
  copyPiece(emission.max(head, emission.mul(last, run)), range.end);
}

// What a vector writes past a tile's last row is overwritten by the next k, or
// stands past the tile's last one. All that memory has side by side is read at
// once.
void MatrixCopier::copyLeftAlongRows(Value first, Value end,
                                     const DepthRange &range, Value to) const {
  unsigned vectors = llvm::divideCeil(tile.rows, tile.lanes);
  int64_t reach = int64_t(vectors) * tile.lanes;
  auto copyTile = [&](Value row, Value k, bool inVectors) {
    Value local = emission.sub(row, first);
    unsigned step = inVectors ? tile.lanes : 1;
    for (unsigned r = 0; r < tile.rows; r += step) {
      Value from = emission.add(row, emission.constant(r));
      Value place = placeOfLeft(local, r, emission.sub(k, range.begin));
      Coord rows = inVectors ? emission.along(from, step) : rowAt(from);
      Value value =
          access.leftAt(rows, emission.uniform(k), Lanes{step, {}, false});
      if (inVectors)
        access.store(value, to, place);
      else
        access.storeOne(value, to, place);
    }
  };
  // Tiles whose vectors stay within the matrix, then those at its end.
  AffineExpr rows = shapeOf(access.result).rbegin()[1];
  Value limit =
      emission.sub(emission.extent(rows), emission.constant(reach - 1));
  Value inside = emission.max(emission.sub(emission.min(end, limit), first),
                              emission.constant(0));
  Value step = emission.constant(tile.rows);
  Value tiles = emission.floorDiv(
      emission.add(inside, emission.constant(tile.rows - 1)), step);
  Value split = emission.add(first, emission.mul(tiles, step));
  emission.loop(range.begin, range.end, 1, [&](Value k) {
    emission.loop(first, split, tile.rows,
                  [&](Value row) { copyTile(row, k, true); });
    emission.loop(split, end, tile.rows,
                  [&](Value row) { copyTile(row, k, false); });
  });
}

} // namespace sinter::compiler
