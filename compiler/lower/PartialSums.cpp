/// PartialSums: parts of k, added in order.
#include "compiler/lower/PartialSums.h"

#include "compiler/lower/ElementSource.h"
#include "compiler/lower/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

// Elements of a task; where there are threads for many, of a row at most.
constexpr int64_t taskElements = 4096;
constexpr int64_t threadsElements = 64;
// Parts that are on their way at once there.
constexpr int64_t partsAtOnce = 16;

namespace {

// Adds up and finishes rows of the result.
class PartialSums {
public:
  PartialSums(Emission &emission, ir::MatmulOp op, const DepthSplit &split,
              Value partials, ArrayRef<Sink> sinks)
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
    Index index;
    Shape leading(shape.begin(), shape.end() - 1);
    Index flat;
    flat.tail = emission.uniform(row);
    flat.tailRank = leading.size();
    SmallVector<Coord> place = emission.coordinates(flat, leading);
    place.push_back(emission.along(column, lanes.count));
    index = emission.fromCoordinates(place);
    Value sum = sumAt(row, column, lanes);
    emission.provide(
        result, index, lanes,
        Element{fromAccumulator(emission, sum, elementOf(result))});
    SmallVector<Element> elements;
    for (const Sink &sink : sinks)
      elements.push_back(emission.at(sink.value, index, lanes));
    for (auto [sink, element] : llvm::zip(sinks, elements))
      storeToSink(emission, sink, index, lanes, element);
  }

  Value sumAt(Value row, Value column, const Lanes &lanes) {
    Value width = emission.extent(shape.back());
    Value first = emission.add(emission.mul(row, width), column);
    Value elements =
        emission.extent(product(shape, 0, shape.size(), result.getContext()));
    auto part = [&](Value number) {
      Value place = emission.add(emission.mul(number, elements), first);
      return loadLanes(emission, partials, emission.along(place, lanes.count),
                       lanes);
    };
    // The sums with parts [begin, end) added, `together` of them loaded at
    // once.
    auto addParts = [&](Value begin, Value end, int64_t together, Value sum) {
      return emission
          .loop(begin, end, together, sum,
                [&](Value number, ValueRange carried) -> Emission::Values {
                  Emission::Values loaded;
                  for (int64_t next = 0; next < together; ++next)
                    loaded.push_back(
                        part(emission.add(number, emission.constant(next))));
                  Value sum = carried.front();
                  for (Value value : loaded)
                    sum = arith::AddFOp::create(emission.builder, emission.loc,
                                                sum, value);
                  return {sum};
                })
          .front();
    };
    Value begin = emission.constant(1), end = emission.extent(split.count);
    Value sum = part(emission.constant(0));
    if (!emission.target.lanesAreThreads())
      return addParts(begin, end, 1, sum);
    Value step = emission.constant(partsAtOnce);
    Value whole =
        emission.mul(emission.floorDiv(emission.sub(end, begin), step), step);
    Value middle = emission.add(begin, whole);
    sum = addParts(begin, middle, partsAtOnce, sum);
    return addParts(middle, end, 1, sum);
  }

  Emission &emission;
  Value result;
  Shape shape;
  const DepthSplit &split;
  Value partials;
  ArrayRef<Sink> sinks;
};

} // namespace

void addPartialSums(KernelWriter &writer, ir::MatmulOp op,
                    const DepthSplit &split, unsigned partials,
                    ArrayRef<Sink> sinks) {
  Shape shape = shapeOf(op.getResult());
  AffineExpr rows = product(shape, 0, shape.size() - 1, op.getContext());
  AffineExpr width = shape.back();
  int64_t columns = std::max<int64_t>(1, constantOf(width));
  bool areThreads = writer.target.lanesAreThreads();
  int64_t most = areThreads ? threadsElements : taskElements;
  int64_t block = std::max<int64_t>(1, most / columns);
  bool cutsRows = areThreads && columns > most;
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
