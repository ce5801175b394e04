/// The skeleton of sorts: each row along the sorted axis has one owner, which
/// brings records of it in order and stores what the results ask for. Where
/// lanes are threads, rows of a known length have many.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/fiber/RecordRuns.h"
#include "compiler/lower/fiber/TopFilter.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Sort.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Rows whose records stand in the frame; those of longer ones stand in a
// workspace.
constexpr int64_t longestInFrame = 4096;
// Tasks of a kernel with a workspace, and the fewest rows of a task, so that
// the workspace stays smaller than the tensor.
constexpr int64_t mostTasks = 32, fewestRows = 8;
// What one task should take, and a row's element.
constexpr double taskMicroseconds = 20;
constexpr double sortMicroseconds = 0.006, filterMicroseconds = 0.0005;

class SortSkeleton {
public:
  SortSkeleton(KernelWriter &writer, Operation *op)
      : writer(writer), x(op->getOperand(0)), context(op->getContext()),
        axis(op->getAttrOfType<IntegerAttr>("axis").getInt()),
        descending(op->getAttrOfType<BoolAttr>("descending").getValue()),
        extent(shapeOf(x)[axis]), count(shapeOf(op->getResult(0))[axis]),
        keys(elementOf(x), descending, context),
        filter(elementOf(x), descending,
               extent == count ? -1 : constantOf(count), writer.target,
               context) {
    Shape shape = shapeOf(x);
    for (auto [dim, size] : llvm::enumerate(shape))
      if (int64_t(dim) != axis)
        others.push_back(size);
    rows = product(others, 0, others.size(), context);
    length = constantOf(extent);
  }

  void run() {
    if (isInRuns())
      return runInRuns();
    bool isInFrame = length >= 0 && length <= longestInFrame;
    if (isInFrame) {
      AffineExpr perTask = number(rowsInTask());
      return addPhase(rows.ceilDiv(perTask), perTask, std::nullopt);
    }
    auto [tasks, rowsInEach] = tasksInAll();
    AffineExpr elements =
        SortRecords::bufferElements(extent, writer.target) * tasks;
    unsigned workspace =
        writer.addWorkspace(elements, IntegerType::get(context, 64));
    addPhase(tasks, rowsInEach, workspace);
  }

private:
  AffineExpr number(int64_t value) const {
    return getAffineConstantExpr(value, context);
  }

  // Records of all rows stand in workspaces then.
  bool isInRuns() const {
    constexpr int64_t mostRecords = int64_t(1) << 27;
    int64_t known = constantOf(rows), most = constantOf(count);
    return writer.target.traits().manyTasks && length > 0 && most > 0 &&
           length * std::max<int64_t>(known, 1) <= mostRecords;
  }

  void runInRuns() {
    RecordRuns runs(writer, rows, length, constantOf(count),
                    keys.isWide() ? 2 : 1);
    runs.addPhases(
        [&](Emission &emission, Value number, Value at, const Lanes &lanes) {
          SmallVector<Coord> coordinates = coordinatesOf(emission, number);
          Coord along = emission.along(at, lanes.count);
          Value key = keys.keyOf(
              emission, rowOf(coordinates).read(emission, along, lanes));
          Value positions = arith::IndexCastOp::create(
              emission.builder, emission.loc,
              emission.vectorType(emission.builder.getI64Type(), lanes.count),
              emission.perLane(along));
          if (keys.isWide())
            return Emission::Values{key, positions};
          return Emission::Values{SortRecords::join(emission, key, positions)};
        },
        [&](Emission &emission, Value number, Value at, const Lanes &lanes,
            const Emission::Values &words) {
          SmallVector<Coord> coordinates = coordinatesOf(emission, number);
          Ordered ordered;
          ordered.positions = words.back();
          if (!keys.isWide()) {
            ordered.positions = SortRecords::lowHalf(emission, words.front());
            ordered.keys = SortRecords::highHalf(emission, words.front());
          }
          store(emission, rowOf(coordinates), ordered,
                indexAt(emission, coordinates, emission.along(at, lanes.count)),
                lanes);
        });
  }

  bool filters() const {
    return filter.leastLength() >= 0 &&
           (length < 0 || length >= filter.leastLength());
  }

  double rowMicroseconds() const {
    double each = filters() ? filterMicroseconds : sortMicroseconds;
    return each * double(length < 0 ? 1024 : std::max<int64_t>(length, 1));
  }

  int64_t rowsInTask() const {
    return std::clamp<int64_t>(int64_t(taskMicroseconds / rowMicroseconds()), 1,
                               64);
  }

  // Tasks that have a workspace each, and their rows.
  std::pair<AffineExpr, AffineExpr> tasksInAll() const {
    int64_t known = constantOf(rows);
    if (known < 0)
      return {rows.ceilDiv(number(2 * fewestRows)), number(2 * fewestRows)};
    AffineExpr tasks = number(std::clamp<int64_t>(
        (known + fewestRows - 1) / fewestRows, 1, mostTasks));
    return {tasks, rows.ceilDiv(tasks)};
  }

  // Rows [task * perTask, ...) for each task.
  void addPhase(AffineExpr tasks, AffineExpr perTask,
                std::optional<unsigned> workspace) {
    int64_t known = constantOf(perTask);
    double microseconds =
        rowMicroseconds() * double(known < 0 ? fewestRows : known);
    writer.addPhase(tasks, microseconds, [&](Emission &emission, Value task) {
      Value size = emission.extent(perTask);
      Value first = emission.mul(task, size);
      Value end =
          emission.min(emission.add(first, size), emission.extent(rows));
      Value base = emission.constant(0), buffer;
      if (workspace) {
        buffer = emission.entry.buffers[*workspace];
        base = emission.mul(task, emission.extent(SortRecords::bufferElements(
                                      extent, writer.target)));
      } else {
        static const char slot = 0;
        int64_t elements = constantOf(
            SortRecords::bufferElements(number(length), writer.target));
        buffer = emission.frameBuffer(
            &slot, MemRefType::get({elements}, emission.builder.getI64Type()));
      }
      emission.loop(first, end, 1,
                    [&](Value row) { emitRow(emission, row, buffer, base); });
    });
  }

  SmallVector<Coord> coordinatesOf(Emission &emission, Value row) const {
    Index flat;
    flat.tail = emission.uniform(row);
    flat.tailRank = others.size();
    SmallVector<Coord> all = others.empty()
                                 ? SmallVector<Coord>()
                                 : emission.coordinates(flat, others);
    all.insert(all.begin() + axis, Coord());
    return all;
  }

  Index indexAt(Emission &emission, ArrayRef<Coord> coordinates,
                const Coord &position) const {
    SmallVector<Coord> all(coordinates);
    all[axis] = position;
    return emission.fromCoordinates(all);
  }

  // The row with these coordinates, which have to stay.
  SortRow rowOf(ArrayRef<Coord> coordinates) const {
    SortRow row;
    row.read = [this, coordinates](Emission &emission, Coord position,
                                   const Lanes &lanes) {
      return emission.vectorAt(x, indexAt(emission, coordinates, position),
                               lanes);
    };
    return row;
  }

  // Of records in order: positions, and keys (i32) of elements that are not
  // wide.
  struct Ordered {
    Value positions, keys;
  };

  void emitRow(Emission &emission, Value number, Value buffer, Value base) {
    SmallVector<Coord> coordinates = coordinatesOf(emission, number);
    SortRow row = rowOf(coordinates);
    row.length = emission.extent(extent);
    auto readKeys = [&](Emission &emission, Value positions, Value mask) {
      Lanes lanes{writer.target.lanes(), mask};
      Coord each{{}, 0, positions, lanes.count};
      return keys.keyOf(emission, row.read(emission, each, lanes));
    };
    SortRecords records(emission, keys, buffer, base, row.length, readKeys);
    order(emission, row, records);
    Value end = emission.extent(count);
    emission.loop(emission.constant(0), end, records.lanes(), [&](Value i) {
      Lanes lanes{records.lanes(), {}};
      int64_t known = constantOf(count);
      if (known < 0 || known % lanes.count != 0)
        lanes.mask = emission.tailMask(emission.sub(end, i), lanes.count);
      Value found = records.load(i);
      Ordered ordered{records.positionsOf(found), {}};
      if (!keys.isWide())
        ordered.keys = records.keysOf(found);
      store(emission, row, ordered,
            indexAt(emission, coordinates, emission.along(i, lanes.count)),
            lanes);
    });
  }

  // Puts the row's records in order, or those of its first elements.
  void order(Emission &emission, const SortRow &row, SortRecords &records) {
    if (!filters()) {
      records.order(fill(emission, row, records), length);
      return;
    }
    auto keep = [&] { return filter.run(emission, row, keys, records); };
    if (length >= 0) {
      records.order(keep(), -1);
      return;
    }
    Value isLong = arith::CmpIOp::create(
        emission.builder, emission.loc, arith::CmpIPredicate::sge, row.length,
        emission.constant(filter.leastLength()));
    Value kept = emission
                     .branch(
                         isLong, emission.builder.getIndexType(),
                         [&]() -> Emission::Values { return {keep()}; },
                         [&]() -> Emission::Values {
                           return {fill(emission, row, records)};
                         })
                     .front();
    records.order(kept, -1);
  }

  // All records of the row.
  Value fill(Emission &emission, const SortRow &row, SortRecords &records) {
    unsigned width = records.lanes();
    emission.loop(emission.constant(0), row.length, width, [&](Value i) {
      Lanes lanes{width, {}};
      if (length < 0 || length % width != 0)
        lanes.mask = emission.tailMask(emission.sub(row.length, i), width);
      Coord along = emission.along(i, width);
      Value positions = arith::IndexCastOp::create(
          emission.builder, emission.loc,
          emission.vectorType(emission.builder.getI64Type(), width),
          emission.perLane(along));
      Value key;
      if (!keys.isWide())
        key = keys.keyOf(emission, row.read(emission, along, lanes));
      records.store(records.make(key, positions), i);
    });
    return row.length;
  }

  void store(Emission &emission, const SortRow &row, const Ordered &ordered,
             const Index &index, const Lanes &lanes) {
    for (auto [number, output] : llvm::enumerate(writer.kernel.getOutputs())) {
      Value element = ordered.positions;
      if (!isa<ir::ArgsortOp>(output.getDefiningOp()))
        element = elementsOf(emission, row, ordered, lanes);
      storeElements(emission,
                    emission.entry.buffers[writer.outputBuffer(number)], output,
                    index, lanes, Element{element});
    }
  }

  // The elements that records stand for: those of their keys, or read anew
  // where the key does not tell.
  Value elementsOf(Emission &emission, const SortRow &row,
                   const Ordered &ordered, const Lanes &lanes) {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    auto readAnew = [&]() -> Emission::Values {
      Value each = arith::IndexCastOp::create(
          builder, loc,
          emission.vectorType(builder.getIndexType(), lanes.count),
          ordered.positions);
      return {row.read(emission, Coord{{}, 0, each, lanes.count}, lanes)};
    };
    if (keys.isWide())
      return readAnew().front();
    auto fromKeys = [&]() -> Emission::Values {
      return {keys.elementOf(emission, ordered.keys)};
    };
    Value isShared = keys.isShared(emission, ordered.keys);
    if (!isShared)
      return fromKeys().front();
    if (lanes.mask)
      isShared = arith::AndIOp::create(builder, loc, isShared, lanes.mask);
    Value any = vector::ReductionOp::create(
        builder, loc, vector::CombiningKind::OR, isShared);
    Type type = emission.vectorType(valueType(elementOf(x)), lanes.count);
    return emission.branch(any, type, readAnew, fromKeys).front();
  }

  KernelWriter &writer;
  Value x;
  MLIRContext *context;
  int64_t axis;
  bool descending;
  AffineExpr extent, count, rows;
  Shape others;
  int64_t length = -1;
  SortKeys keys;
  TopFilter filter;
};

} // namespace

void emitSort(KernelWriter &writer, Operation *op) {
  SortSkeleton(writer, op).run();
}

} // namespace sinter::compiler
