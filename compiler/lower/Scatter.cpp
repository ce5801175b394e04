/// The skeleton of scatters: every fiber along the op's axis has one owner,
/// which goes along the positions in order. Where lanes are threads and fibers
/// have positions in common, those are sorted first: then each element has an
/// owner, which goes along its own updates.
#include "compiler/lower/KernelWriter.h"

#include "compiler/lower/CanonicalNan.h"
#include "compiler/lower/Combiner.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/Fibers.h"
#include "compiler/lower/Inline.h"
#include "compiler/lower/MaskedViews.h"
#include "compiler/lower/RecordRuns.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// The skeleton of a scatter. Where lanes are threads and fibers are few, each
// has several owners, of some of its places each: all look at every position.
class ScatterSkeleton {
public:
  ScatterSkeleton(KernelWriter &writer, Value scattered)
      : writer(writer), scattered(scattered),
        op(cast<ir::ScatterOpInterface>(scattered.getDefiningOp())),
        axis(op.getAxis()), fibers(shapeOf(scattered), axis, op->getContext()),
        extent(shapeOf(scattered)[axis]),
        updates(shapeOf(op.getIndices())[axis]),
        combiner(makeCombiner(scattered)) {}

  void run() {
    unsigned width = fibers.width(writer.target);
    AffineExpr chunks = fibers.chunks(width);
    choosePlaces(constantOf(chunks));
    AffineExpr parts = getAffineConstantExpr(1, op->getContext());
    if (places > 0)
      parts = extent.ceilDiv(places);
    writer.addPhase(chunks * parts, fiberMicroseconds(updates, width),
                    [&](Emission &emission, Value chunk) {
                      Value count = emission.extent(parts);
                      part = emission.mod(chunk, count);
                      fibers.visit(
                          emission, emission.floorDiv(chunk, count), width,
                          [&](ArrayRef<Coord> coordinates, const Lanes &lanes) {
                            emitFiber(emission, coordinates, lanes);
                          });
                    });
  }

private:
  // Of an owner; 0 where it has all of them.
  void choosePlaces(int64_t chunks) {
    constexpr int64_t enoughOwners = 2048;
    int64_t length = constantOf(extent);
    if (!writer.target.lanesAreThreads() || chunks <= 0 || length <= 0 ||
        chunks >= enoughOwners)
      return;
    places = llvm::divideCeil(length, llvm::divideCeil(enoughOwners, chunks));
  }

  void emitFiber(Emission &emission, ArrayRef<Coord> coordinates,
                 const Lanes &lanes) {
    begin = emission.constant(0);
    end = emission.extent(extent);
    if (places > 0) {
      begin = emission.mul(part, emission.constant(places));
      end = emission.min(emission.add(begin, emission.constant(places)), end);
    }
    emission.loop(begin, end, 1, [&](Value i) {
      Index index = fibers.at(emission, coordinates, emission.uniform(i));
      storeElements(emission, buffer(emission), scattered, index, lanes,
                    canonicalNan(emission, scattered,
                                 emission.at(op.getX(), index, lanes)));
    });
    // Of an owner of some places most positions are none: several are looked
    // at before the first is used.
    int64_t together = places > 0 ? 32 : 1;
    Value count = emission.extent(updates), step = emission.constant(together);
    Value whole = emission.mul(emission.floorDiv(count, step), step);
    emission.loop(emission.constant(0), whole, together, [&](Value i) {
      addUpdates(emission, coordinates, lanes, i, together);
    });
    int64_t known = constantOf(updates);
    if (together > 1 && (known < 0 || known % together != 0))
      emission.loop(whole, count, 1, [&](Value i) {
        addUpdates(emission, coordinates, lanes, i, 1);
      });
  }

  void addUpdates(Emission &emission, ArrayRef<Coord> coordinates,
                  const Lanes &lanes, Value first, int64_t count) {
    SmallVector<std::pair<Index, Coord>> found;
    for (int64_t next = 0; next < count; ++next) {
      Value i = emission.add(first, emission.constant(next));
      Index from = fibers.at(emission, coordinates, emission.uniform(i));
      found.push_back({from, readPositions(emission, op, op.getIndices(), from,
                                           lanes, extent)});
    }
    for (const auto &[from, position] : found)
      addUpdate(emission, coordinates, lanes, from, position);
  }

  void addUpdate(Emission &emission, ArrayRef<Coord> coordinates, Lanes lanes,
                 const Index &from, const Coord &position) {
    Index to = fibers.at(emission, coordinates, position);
    Value condition = isNotEmpty(emission, extent);
    if (places > 0) {
      Value own = isOwn(emission, position);
      if (position.isUniform())
        condition = own;
      else
        lanes = narrow(emission, lanes, own);
    }
    auto apply = [&] {
      Value update = emission.vectorAt(op.getUpdates(), from, lanes);
      Value before =
          loadElements(emission, buffer(emission), scattered, to, lanes);
      Emission::Values state =
          combiner->merge(emission, combiner->lift(emission, before, {}),
                          combiner->lift(emission, update, {}));
      Value after = combiner->finish(emission, state);
      storeElements(emission, buffer(emission), scattered, to, lanes,
                    canonicalNan(emission, scattered, Element{after}));
    };
    if (condition)
      emission.when(condition, apply);
    else
      apply();
  }

  // Of each lane, or of all.
  Value isOwn(Emission &emission, const Coord &position) {
    Coord moved = emission.sub(position, emission.uniform(begin));
    Value at = emission.perLane(moved);
    Value size = emission.sub(end, begin);
    if (auto vector = dyn_cast<VectorType>(at.getType()))
      size = emission.spread(Element{size}, unsigned(vector.getNumElements()));
    return arith::CmpIOp::create(emission.builder, emission.loc,
                                 arith::CmpIPredicate::ult, at, size);
  }

  Value buffer(Emission &emission) {
    return emission.entry.buffers[writer.outputBuffer(0)];
  }

  KernelWriter &writer;
  Value scattered;
  ir::ScatterOpInterface op;
  unsigned axis;
  Fibers fibers;
  AffineExpr extent, updates;
  std::unique_ptr<Combiner> combiner;
  int64_t places = 0;
  Value part;       ///< number of the owner
  Value begin, end; ///< its places
};

} // namespace

namespace {

// Whether elements of a tensor are the same but along an axis.
bool varyAlong(Value tensor, int64_t axis) {
  Shape shape = shapeOf(tensor);
  auto isOneElsewhere = [&](const Shape &dims, int64_t offset) {
    for (auto [dim, size] : llvm::enumerate(dims))
      if (int64_t(dim) + offset != axis && constantOf(size) != 1)
        return false;
    return true;
  };
  if (isOneElsewhere(shape, 0))
    return true;
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<ir::FullOp>(op))
    return true;
  if (auto iota = dyn_cast_or_null<ir::IotaOp>(op))
    return int64_t(iota.getAxis()) == axis;
  if (auto repeated = dyn_cast_or_null<ir::BroadcastOp>(op)) {
    Shape own = shapeOf(repeated.getX());
    auto offset = int64_t(shape.size() - own.size());
    return isOneElsewhere(own, offset) ||
           varyAlong(repeated.getX(), axis - offset);
  }
  return isa_and_nonnull<ir::PointwiseOpInterface>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return varyAlong(operand, axis); });
}

// Scatters whose fibers have positions in common. What one element becomes
// takes its updates in the order that one owner of all would.
class SortedScatter {
public:
  SortedScatter(KernelWriter &writer, Value scattered)
      : writer(writer), scattered(scattered),
        op(cast<ir::ScatterOpInterface>(scattered.getDefiningOp())),
        fibers(shapeOf(scattered), op.getAxis(), op->getContext()),
        extent(constantOf(fibers.shape[fibers.axis])),
        updates(constantOf(shapeOf(op.getIndices())[fibers.axis])),
        combiner(makeCombiner(scattered)) {}

  // Few positions are looked through in no time.
  bool applies() {
    constexpr int64_t fewestUpdates = 64;
    return writer.target.lanesAreThreads() && extent > 0 &&
           updates >= fewestUpdates && updates <= INT32_MAX &&
           extent < INT32_MAX && varyAlong(op.getIndices(), fibers.axis);
  }

  void run() {
    MLIRContext *context = op->getContext();
    RecordRuns records(writer, getAffineConstantExpr(1, context), updates,
                       updates, /*words=*/1);
    starts = writer.addWorkspace(getAffineConstantExpr(extent + 1, context),
                                 IntegerType::get(context, 32));
    records.addPhases(
        [&](Emission &emission, Value, Value at, const Lanes &lanes) {
          return makeRecords(emission, at, lanes);
        });
    addStarts(records);
    if (fibers.alongLast)
      addColumns(records);
    else
      addRows(records);
  }

private:
  // ---- positions -----------------------------------------------------------

  Value fromIndex(Emission &emission, Value index, unsigned width) {
    Type type = emission.builder.getIntegerType(width);
    if (auto vector = dyn_cast<VectorType>(index.getType()))
      type = vector.clone(type);
    return arith::IndexCastOp::create(emission.builder, emission.loc, type,
                                      index);
  }
  Value toIndex(Emission &emission, Value number) {
    Type type = emission.builder.getIndexType();
    if (auto vector = dyn_cast<VectorType>(number.getType()))
      type = vector.clone(type);
    return arith::IndexCastOp::create(emission.builder, emission.loc, type,
                                      number);
  }
  // What records of a position begin with.
  Value high(Emission &emission, Value position) {
    Value number = fromIndex(emission, position, 64);
    return arith::ShLIOp::create(emission.builder, emission.loc, number,
                                 emission.integer(number.getType(), 32));
  }
  Value low(Emission &emission, Value record) {
    Value number = arith::AndIOp::create(
        emission.builder, emission.loc, record,
        emission.integer(record.getType(), int64_t(UINT32_MAX)));
    return toIndex(emission, number);
  }

  // A position, and which update it is of.
  Emission::Values makeRecords(Emission &emission, Value at,
                               const Lanes &lanes) {
    SmallVector<Coord> first(fibers.shape.size(),
                             emission.uniform(emission.constant(0)));
    Coord along = emission.along(at, lanes.count);
    Coord position = readPositions(emission, op, op.getIndices(),
                                   fibers.at(emission, first, along), lanes,
                                   fibers.shape[fibers.axis]);
    Value places =
        emission.spread(Element{emission.perLane(position)}, lanes.count);
    return {arith::OrIOp::create(
        emission.builder, emission.loc, high(emission, places),
        fromIndex(emission, emission.perLane(along), 64))};
  }

  // Where the records of each position begin, and where the last ones end.
  void addStarts(const RecordRuns &records) {
    unsigned width = writer.target.lanes();
    MLIRContext *context = op->getContext();
    int64_t vectors = llvm::divideCeil(extent + 1, int64_t(width));
    writer.addPhase(
        getAffineConstantExpr(vectors, context), 0.5,
        [&](Emission &emission, Value task) {
          Value at = emission.mul(task, emission.constant(width));
          Value mask = emission.tailMask(
              emission.sub(emission.constant(extent + 1), at), width);
          Value positions = emission.perLane(emission.along(at, width));
          Value found =
              records.countBelow(emission, {high(emission, positions)},
                                 emission.constant(0), mask);
          vector::MaskedStoreOp::create(emission.builder, emission.loc,
                                        emission.entry.buffers[starts], at,
                                        mask, fromIndex(emission, found, 32));
        });
  }

  Value startOf(Emission &emission, Value position) {
    Value start =
        memref::LoadOp::create(emission.builder, emission.loc,
                               emission.entry.buffers[starts], position);
    return toIndex(emission, start);
  }

  // ---- elements ------------------------------------------------------------

  using Values = Emission::Values;

  // Rounded as an element that is stored, and brought back.
  Values rounded(Emission &emission, const Values &state) {
    Element element{combiner->finish(emission, state)};
    return combiner->lift(emission,
                          canonicalNan(emission, scattered, element).value, {});
  }

  void store(Emission &emission, const Index &index, const Lanes &lanes,
             const Values &state) {
    storeElements(emission, emission.entry.buffers[writer.outputBuffer(0)],
                  scattered, index, lanes,
                  canonicalNan(emission, scattered,
                               Element{combiner->finish(emission, state)}));
  }

  Values before(Emission &emission, const Index &index, const Lanes &lanes) {
    Value element = emission.vectorAt(op.getX(), index, lanes);
    return combiner->lift(emission, element, {});
  }

  // Lanes have neighbours of one position, whose updates are rows.
  void addColumns(const RecordRuns &records) {
    // Where a position has many updates, more of them are on their way.
    bool areMany = updates / 64 >= extent;
    unsigned width = areMany ? fibers.width(writer.target)
                             : fibers.wideWidth(writer.target, /*most=*/4);
    int64_t together = areMany ? 32 : 4;
    AffineExpr columns = fibers.chunks(width);
    writer.addPhase(columns * extent, fiberMicroseconds(fibers.last, 1),
                    [&](Emission &emission, Value task) {
                      Value count = emission.extent(columns);
                      Value position = emission.floorDiv(task, count);
                      fibers.visit(
                          emission, emission.mod(task, count), width,
                          [&](ArrayRef<Coord> fiber, const Lanes &lanes) {
                            addRowsOf(emission, records, fiber, lanes, position,
                                      together);
                          });
                    });
  }

  void addRowsOf(Emission &emission, const RecordRuns &records,
                 ArrayRef<Coord> fiber, const Lanes &lanes, Value position,
                 int64_t together) {
    Value begin = startOf(emission, position);
    Value end = startOf(emission, emission.add(position, emission.constant(1)));
    Index index = fibers.at(emission, fiber, emission.uniform(position));
    auto take = [&](Value first, int64_t count, Values state) {
      SmallVector<Value> numbers, elements;
      for (int64_t next = 0; next < count; ++next) {
        Value at = emission.add(first, emission.constant(next));
        Values record = records.load(emission, emission.constant(0),
                                     emission.uniform(at), Lanes{});
        numbers.push_back(low(emission, record.front()));
      }
      for (Value number : numbers)
        elements.push_back(emission.vectorAt(
            op.getUpdates(),
            fibers.at(emission, fiber, emission.uniform(number)), lanes));
      for (Value element : elements)
        state = rounded(emission,
                        combiner->merge(emission, state,
                                        combiner->lift(emission, element, {})));
      return state;
    };
    Value size = emission.constant(together);
    Value groups = emission.floorDiv(emission.sub(end, begin), size);
    Value middle = emission.add(begin, emission.mul(groups, size));
    Values state = before(emission, index, lanes);
    state = emission.loop(emission.constant(0), groups, 1, state,
                          [&](Value group, ValueRange carried) {
                            Value first =
                                emission.add(begin, emission.mul(group, size));
                            return take(first, together, Values(carried));
                          });
    state = emission.loop(middle, end, 1, state,
                          [&](Value first, ValueRange carried) {
                            return take(first, 1, Values(carried));
                          });
    store(emission, index, lanes, state);
  }

  // Lanes have neighbouring positions of a row, each as many updates as it has.
  void addRows(const RecordRuns &records) {
    unsigned width = writer.target.lanes();
    while (width > 4 && extent <= int64_t(width) / 2)
      width /= 2;
    int64_t vectors = llvm::divideCeil(extent, int64_t(width));
    writer.addPhase(fibers.rows * vectors,
                    fiberMicroseconds(fibers.last, width),
                    [&](Emission &emission, Value task) {
                      Value count = emission.constant(vectors);
                      Value row = emission.floorDiv(task, count);
                      Value at = emission.mul(emission.mod(task, count),
                                              emission.constant(width));
                      Lanes lanes{width, {}, false};
                      if (extent % width != 0)
                        lanes.mask = emission.tailMask(
                            emission.sub(emission.constant(extent), at), width);
                      addVector(emission, records,
                                fibers.coordinatesOf(emission, row), at, lanes);
                    });
  }

  Value startsFrom(Emission &emission, Value at, const Lanes &lanes) {
    return loadLanes(emission, emission.entry.buffers[starts],
                     emission.along(at, lanes.count), lanes);
  }

  void addVector(Emission &emission, const RecordRuns &records,
                 ArrayRef<Coord> fiber, Value at, const Lanes &lanes) {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    Value begin = startsFrom(emission, at, lanes);
    Value end =
        startsFrom(emission, emission.add(at, emission.constant(1)), lanes);
    Value counts = arith::SubIOp::create(builder, loc, end, begin);
    if (lanes.mask)
      counts = arith::SelectOp::create(builder, loc, lanes.mask, counts,
                                       emission.integer(counts.getType(), 0));
    Value most = toIndex(
        emission, vector::ReductionOp::create(
                      builder, loc, vector::CombiningKind::MAXSI, counts));
    Index index = fibers.at(emission, fiber, emission.along(at, lanes.count));
    Values state = before(emission, index, lanes);
    state = emission.loop(
        emission.constant(0), most, 1, state,
        [&](Value number, ValueRange carried) {
          Value next = emission.spread(Element{fromIndex(emission, number, 32)},
                                       lanes.count);
          Value isThere = arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::slt, next, counts);
          Lanes some{lanes.count, isThere, true};
          Value place = toIndex(
              emission, arith::AddIOp::create(builder, loc, begin, next));
          Values record = records.load(emission, emission.constant(0),
                                       Coord{{}, 0, place, lanes.count}, some);
          Coord from{{}, 0, low(emission, record.front()), lanes.count};
          Value element = emission.vectorAt(
              op.getUpdates(), fibers.at(emission, fiber, from), some);
          Values before(carried);
          Values after = rounded(
              emission, combiner->merge(emission, before,
                                        combiner->lift(emission, element, {})));
          for (auto [one, other] : llvm::zip(after, before))
            one = arith::SelectOp::create(builder, loc, isThere, one, other);
          return after;
        });
    store(emission, index, lanes, state);
  }

  KernelWriter &writer;
  Value scattered;
  ir::ScatterOpInterface op;
  Fibers fibers;
  int64_t extent, updates;
  std::unique_ptr<Combiner> combiner;
  unsigned starts = 0; ///< the workspace of where positions' records begin
};

} // namespace

void emitScatter(KernelWriter &writer, Value scattered) {
  SortedScatter sorted(writer, scattered);
  if (sorted.applies())
    return sorted.run();
  ScatterSkeleton(writer, scattered).run();
}

} // namespace sinter::compiler
