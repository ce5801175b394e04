/// PartialSums: parts of k, added in order.
#include "compiler/lower/contraction/PartialSums.h"

#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "compiler/lower/reduce/BlockMerge.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace sinter::compiler {

// Elements of a task; where there are threads for many, of a row at most.
constexpr int64_t taskElements = 4096;
constexpr int64_t threadsElements = 64;
// Parts that are on their way at once there. Of more, blocks of threads merge
// those of so many elements.
constexpr int64_t partsAtOnce = 16;
constexpr int64_t blocksElements = 1 << 16;

// Stores what the sinks make of a sum.
static void storeSum(Emission &emission, Value result, ArrayRef<Sink> sinks,
                     const Index &index, const Lanes &lanes, Value sum) {
  emission.provide(result, index, lanes,
                   Element{fromAccumulator(emission, sum, elementOf(result))});
  SmallVector<Element> elements;
  for (const Sink &sink : sinks)
    elements.push_back(emission.at(sink.value, index, lanes));
  for (auto [sink, element] : llvm::zip(sinks, elements))
    storeToSink(emission, sink, index, lanes, element);
}

namespace {

/// Sums of many parts; an element of the result is a column.
class MergedSums final : public MergedNumbers {
public:
  MergedSums(ir::ContractionOpInterface op, AffineExpr elements,
             unsigned partials, ArrayRef<Sink> sinks)
      : result(op.getResult()), elements(elements), partials(partials),
        sinks(sinks) {}

  size_t count() const override { return 1; }
  Values at(Emission &emission, Value part, Value column) const override {
    Value place =
        emission.add(emission.mul(part, emission.extent(elements)), column);
    return {memref::LoadOp::create(emission.builder, emission.loc,
                                   emission.entry.buffers[partials], place)};
  }
  Value init(Emission &emission, size_t) const override {
    return emission.number(emission.builder.getF32Type(), -0.0);
  }
  Value merge(Emission &emission, size_t, Value a, Value b) const override {
    return arith::AddFOp::create(emission.builder, emission.loc, a, b);
  }
  void finish(Emission &emission, Value column,
              const Values &totals) const override {
    Index index;
    index.tail = emission.uniform(column);
    index.tailRank = shapeOf(result).size();
    storeSum(emission, result, sinks, index, Lanes{}, totals.front());
  }

private:
  const Value result;
  const AffineExpr elements;
  const unsigned partials;
  const ArrayRef<Sink> sinks;
};

// Adds up and finishes rows of the result.
class PartialSums {
public:
  PartialSums(Emission &emission, ir::ContractionOpInterface op,
              const DepthSplit &split, Value partials, ArrayRef<Sink> sinks)
      : emission(emission), result(op.getResult()), shape(shapeOf(result)),
        split(split), partials(partials), sinks(sinks) {}

  /// Columns [begin, end) of row `row` of all rows of all batches; `begin` is a
  /// multiple of all lanes.
  void finishRow(Value row, Value begin, Value end) {
    unsigned lanes = emission.target.lanes();
    int64_t columns = constantOf(shape.back());
    while (columns >= 0 && lanes > 4 && columns <= lanes / 2)
      lanes /= 2;
    Value step = emission.constant(lanes);
    Value whole = emission.mul(emission.floorDiv(end, step), step);
    emission.loop(begin, whole, lanes, [&](Value column) {
      finish(row, column, Lanes{lanes, {}, false});
    });
    if (columns >= 0 && columns % lanes == 0)
      return;
    emission.loop(whole, end, lanes, [&](Value column) {
      Value mask = emission.tailMask(emission.sub(end, column), lanes);
      finish(row, column, Lanes{lanes, mask, false});
    });
  }

private:
  void finish(Value row, Value column, const Lanes &lanes) {
    Shape leading(shape.begin(), shape.end() - 1);
    Index flat;
    flat.tail = emission.uniform(row);
    flat.tailRank = leading.size();
    SmallVector<Coord> place = emission.coordinates(flat, leading);
    place.push_back(emission.along(column, lanes.count));
    storeSum(emission, result, sinks, emission.fromCoordinates(place), lanes,
             sumAt(row, column, lanes));
  }

  /// Where sums of a part stand: how far from its start, and which lanes.
  struct Place {
    Value first;
    const Lanes &lanes;
  };

  Value part(const Place &at, Value number) {
    Value elements =
        emission.extent(product(shape, 0, shape.size(), result.getContext()));
    Value place = emission.add(emission.mul(number, elements), at.first);
    return loadLanes(emission, partials, emission.along(place, at.lanes.count),
                     at.lanes);
  }

  // The sums with parts [begin, end) added, `together` of them loaded at once.
  Value addParts(const Place &at, Value begin, Value end, int64_t together,
                 Value sum) {
    return emission
        .loop(begin, end, together, sum,
              [&](Value number, ValueRange carried) -> Emission::Values {
                Emission::Values loaded;
                for (int64_t next = 0; next < together; ++next)
                  loaded.push_back(
                      part(at, emission.add(number, emission.constant(next))));
                Value sum = carried.front();
                for (Value value : loaded)
                  sum = arith::AddFOp::create(emission.builder, emission.loc,
                                              sum, value);
                return {sum};
              })
        .front();
  }

  Value sumOfParts(const Place &at, Value first, Value end) {
    Value begin = emission.add(first, emission.constant(1));
    Value sum = part(at, first);
    if (!emission.target.traits().inOrder)
      return addParts(at, begin, end, 1, sum);
    Value step = emission.constant(partsAtOnce);
    Value whole =
        emission.mul(emission.floorDiv(emission.sub(end, begin), step), step);
    Value middle = emission.add(begin, whole);
    sum = addParts(at, begin, middle, partsAtOnce, sum);
    return addParts(at, middle, end, 1, sum);
  }

  // Many parts in chunks where blocks of threads merge such: whether those do
  // depends on how many parts are known.
  Value sumAt(Value row, Value column, const Lanes &lanes) {
    Value width = emission.extent(shape.back());
    Place at{emission.add(emission.mul(row, width), column), lanes};
    Value zero = emission.constant(0), end = emission.extent(split.count);
    constexpr int64_t chunk = BlockMerge::partsOfChunk;
    int64_t count = constantOf(split.count);
    bool isOneChunk = count >= 0 && count <= chunk;
    if (!emission.target.blockThreads() || isOneChunk)
      return sumOfParts(at, zero, end);
    auto endOfChunk = [&](Value first) {
      return emission.min(emission.add(first, emission.constant(chunk)), end);
    };
    Value sum = sumOfParts(at, zero, endOfChunk(zero));
    return emission
        .loop(emission.constant(chunk), end, chunk, sum,
              [&](Value first, ValueRange carried) -> Emission::Values {
                Value added = sumOfParts(at, first, endOfChunk(first));
                return {arith::AddFOp::create(emission.builder, emission.loc,
                                              carried.front(), added)};
              })
        .front();
  }

  Emission &emission;
  Value result;
  Shape shape;
  const DepthSplit &split;
  Value partials;
  ArrayRef<Sink> sinks;
};

} // namespace

void addPartialSums(KernelWriter &writer, ir::ContractionOpInterface op,
                    const DepthSplit &split, unsigned partials,
                    ArrayRef<Sink> sinks) {
  Shape shape = shapeOf(op.getResult());
  AffineExpr all = product(shape, 0, shape.size(), op.getContext());
  BlockMerge merge(writer, split.count, all, 1);
  if (constantOf(split.count) > partsAtOnce &&
      constantOf(all) <= blocksElements && op.getSumType().isF32() &&
      merge.applies())
    return merge.addPhase(MergedSums(op, all, partials, sinks));
  AffineExpr rows = product(shape, 0, shape.size() - 1, op.getContext());
  AffineExpr width = shape.back();
  int64_t columns = std::max<int64_t>(1, constantOf(width));
  bool manyTasks = writer.target.traits().manyTasks;
  int64_t most = manyTasks ? threadsElements : taskElements;
  int64_t block = std::max<int64_t>(1, most / columns);
  bool cutsRows = manyTasks && columns > most;
  AffineExpr parts = cutsRows ? width.ceilDiv(most)
                              : getAffineConstantExpr(1, op.getContext());
  double perPart = 0.0002 * double(cutsRows ? most : block * columns);
  writer.addPhase(
      rows.ceilDiv(block) * parts, 8 * perPart,
      [&](Emission &emission, Value chunk) {
        PartialSums sums(emission, op, split, emission.entry.buffers[partials],
                         sinks);
        Value begin = emission.constant(0), stop = emission.extent(width);
        if (cutsRows) {
          Value part = emission.mod(chunk, emission.extent(parts));
          chunk = emission.floorDiv(chunk, emission.extent(parts));
          begin = emission.mul(part, emission.constant(most));
          stop =
              emission.min(emission.add(begin, emission.constant(most)), stop);
        }
        Value first = emission.mul(chunk, emission.constant(block));
        Value end = emission.add(first, emission.constant(block));
        emission.loop(first, emission.min(end, emission.extent(rows)), 1,
                      [&](Value row) { sums.finishRow(row, begin, stop); });
      });
}

} // namespace sinter::compiler
