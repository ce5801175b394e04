/// Scatters whose positions are sorted first: then each element has an owner,
/// which goes along its own updates.
#include "compiler/lower/fiber/SortedScatter.h"

#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/Combiner.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/Inline.h"
#include "compiler/lower/fiber/Fibers.h"
#include "compiler/lower/fiber/RecordRuns.h"
#include "compiler/lower/fiber/StateArrays.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
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
  if (Value repeated = ir::repeatedOperand(tensor)) {
    Shape own = shapeOf(repeated);
    auto offset = int64_t(shape.size() - own.size());
    return isOneElsewhere(own, offset) || varyAlong(repeated, axis - offset);
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
    return writer.target.traits().manyTasks && extent > 0 &&
           updates >= fewestUpdates && updates <= INT32_MAX &&
           extent < INT32_MAX && varyAlong(op.getIndices(), fibers.axis);
  }

  void run() {
    MLIRContext *context = op->getContext();
    RecordRuns records(writer, getAffineConstantExpr(1, context), updates,
                       updates, /*words=*/1);
    starts = writer.addWorkspace(getAffineConstantExpr(extent + 1, context),
                                 IntegerType::get(context, 32));
    // Where order does not matter, parts of many updates are folded aside.
    if (int64_t parts = partsOfPosition(); parts > 1) {
      const Shape &shape = fibers.shape;
      elements = product(shape, 0, shape.size(), context);
      partial.emplace(writer, *combiner, elements * parts);
      addStarts(records);
      addPhase(records, parts, /*isLast=*/false);
      addPhase(records, parts, /*isLast=*/true);
      return;
    }
    addStarts(records);
    addPhase(records, 1, /*isLast=*/true);
  }

private:
  int64_t partsOfPosition() const {
    constexpr int64_t leastPart = 256, mostParts = 64;
    if (combiner->isOrdered())
      return 1;
    int64_t parts = updates / extent / leastPart;
    return std::min(mostParts, int64_t(llvm::bit_floor(uint64_t(parts))));
  }

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
  void addStarts(RecordRuns &records) {
    records.addPhases(
        [&](Emission &emission, Value, Value at, const Lanes &lanes) {
          return makeRecords(emission, at, lanes);
        });
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

  // What a task does with the updates of its elements.
  struct Task {
    const RecordRuns &records;
    Value part;        ///< its number; null where it has all updates
    int64_t parts = 1; ///< that were folded before, or are
    bool isLast = true;
  };

  void addPhase(const RecordRuns &records, int64_t parts, bool isLast) {
    Task task{records, {}, parts, isLast};
    int64_t shares = isLast ? 1 : parts;
    auto inPart = [=](Emission &emission, Value number, auto emit) mutable {
      if (!task.isLast) {
        Value count = emission.constant(shares);
        task.part = emission.mod(number, count);
        number = emission.floorDiv(number, count);
      }
      emit(task, number);
    };
    if (fibers.alongLast)
      addColumns(shares, inPart);
    else
      addRows(shares, inPart);
  }

  // Ends with a state of elements: of all updates, or of a part.
  void finish(Emission &emission, const Task &task, const Index &index,
              const Lanes &lanes,
              llvm::function_ref<Values(const Values &)> fold) {
    if (!task.isLast) {
      Values state = fold(combiner->init(emission, lanes.count));
      partial->store(emission, state, placeOf(emission, task.part, index),
                     lanes);
      return;
    }
    Values state = before(emission, index, lanes);
    if (task.parts == 1)
      return store(emission, index, lanes, fold(state));
    for (int64_t part = 0; part < task.parts; ++part)
      state = combiner->merge(
          emission, state,
          partial->load(emission,
                        placeOf(emission, emission.constant(part), index),
                        lanes));
    store(emission, index, lanes, state);
  }

  Coord placeOf(Emission &emission, Value part, const Index &index) {
    Value first = emission.mul(part, emission.extent(elements));
    return emission.add(emission.uniform(first),
                        emission.linearize(index, fibers.shape));
  }

  // Lanes have neighbours of one position, whose updates are rows.
  void addColumns(int64_t shares, auto inPart) {
    // Where a position has many updates, more of them are on their way.
    bool areMany = updates / 64 >= extent;
    unsigned width = areMany ? fibers.width(writer.target)
                             : fibers.wideWidth(writer.target, /*most=*/2);
    int64_t together = areMany ? 32 : 8;
    AffineExpr columns = fibers.chunks(width);
    writer.addPhase(
        columns * (extent * shares), fiberMicroseconds(fibers.last, 1),
        [&](Emission &emission, Value number) {
          inPart(emission, number, [&](const Task &task, Value own) {
            Value count = emission.extent(columns);
            Value position = emission.floorDiv(own, count);
            fibers.visit(emission, emission.mod(own, count), width,
                         [&](ArrayRef<Coord> fiber, const Lanes &lanes) {
                           addRowsOf(emission, task, fiber, lanes, position,
                                     together);
                         });
          });
        });
  }

  void addRowsOf(Emission &emission, const Task &task, ArrayRef<Coord> fiber,
                 const Lanes &lanes, Value position, int64_t together) {
    Value begin = startOf(emission, position);
    Value end = startOf(emission, emission.add(position, emission.constant(1)));
    if (!task.isLast) {
      Value share =
          emission.floorDiv(emission.add(emission.sub(end, begin),
                                         emission.constant(task.parts - 1)),
                            emission.constant(task.parts));
      begin = emission.min(emission.add(begin, emission.mul(task.part, share)),
                           end);
      end = emission.min(emission.add(begin, share), end);
    }
    auto take = [&](Value first, int64_t count, Values state) {
      SmallVector<Value> numbers, elements;
      for (int64_t next = 0; next < count; ++next) {
        Value at = emission.add(first, emission.constant(next));
        Values record = task.records.load(emission, emission.constant(0),
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
    auto fold = [&](const Values &start) {
      Value size = emission.constant(together);
      Value groups = emission.floorDiv(emission.sub(end, begin), size);
      Value middle = emission.add(begin, emission.mul(groups, size));
      Values state =
          emission.loop(emission.constant(0), groups, 1, start,
                        [&](Value group, ValueRange carried) {
                          Value first =
                              emission.add(begin, emission.mul(group, size));
                          return take(first, together, Values(carried));
                        });
      return emission.loop(middle, end, 1, state,
                           [&](Value first, ValueRange carried) {
                             return take(first, 1, Values(carried));
                           });
    };
    finish(emission, task,
           fibers.at(emission, fiber, emission.uniform(position)), lanes, fold);
  }

  // Lanes have neighbouring positions of a row, each as many updates as it has.
  void addRows(int64_t shares, auto inPart) {
    unsigned width = writer.target.lanes();
    while (width > 4 && extent <= int64_t(width) / 2)
      width /= 2;
    int64_t vectors = llvm::divideCeil(extent, int64_t(width));
    writer.addPhase(
        fibers.rows * (vectors * shares), fiberMicroseconds(fibers.last, width),
        [&](Emission &emission, Value number) {
          inPart(emission, number, [&](const Task &task, Value own) {
            Value count = emission.constant(vectors);
            Value row = emission.floorDiv(own, count);
            Value at = emission.mul(emission.mod(own, count),
                                    emission.constant(width));
            Lanes lanes{width, {}, false};
            if (extent % width != 0)
              lanes.mask = emission.tailMask(
                  emission.sub(emission.constant(extent), at), width);
            addVector(emission, task, fibers.coordinatesOf(emission, row), at,
                      lanes);
          });
        });
  }

  Value startsFrom(Emission &emission, Value at, const Lanes &lanes) {
    return loadLanes(emission, emission.entry.buffers[starts],
                     emission.along(at, lanes.count), lanes);
  }

  // Where the updates of lanes begin, and how many they have: those of a part.
  std::pair<Value, Value> updatesOf(Emission &emission, const Task &task,
                                    Value at, const Lanes &lanes) {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    Value begin = startsFrom(emission, at, lanes);
    Value end =
        startsFrom(emission, emission.add(at, emission.constant(1)), lanes);
    Value counts = arith::SubIOp::create(builder, loc, end, begin);
    Type type = counts.getType();
    if (!task.isLast) {
      // Parts are a power of two.
      Value share = arith::AddIOp::create(
          builder, loc, counts, emission.integer(type, task.parts - 1));
      share = arith::ShRUIOp::create(
          builder, loc, share,
          emission.integer(type, llvm::Log2_64(uint64_t(task.parts))));
      Value part = emission.spread(Element{fromIndex(emission, task.part, 32)},
                                   lanes.count);
      Value skipped = arith::MinUIOp::create(
          builder, loc, arith::MulIOp::create(builder, loc, part, share),
          counts);
      begin = arith::AddIOp::create(builder, loc, begin, skipped);
      counts = arith::MinUIOp::create(
          builder, loc, share,
          arith::SubIOp::create(builder, loc, counts, skipped));
    }
    if (lanes.mask)
      counts = arith::SelectOp::create(builder, loc, lanes.mask, counts,
                                       emission.integer(type, 0));
    return {begin, counts};
  }

  void addVector(Emission &emission, const Task &task, ArrayRef<Coord> fiber,
                 Value at, const Lanes &lanes) {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    auto [begin, counts] = updatesOf(emission, task, at, lanes);
    Value first = begin, some = counts;
    // Of many updates several are on their way.
    int64_t together = std::clamp<int64_t>(
        int64_t(llvm::bit_floor(uint64_t(updates / extent))), 1, 16);
    auto take = [&](Value number, ValueRange carried) {
      SmallVector<Value> flags, elements;
      SmallVector<Coord> places;
      for (int64_t next = 0; next < together; ++next) {
        Value each = emission.add(number, emission.constant(next));
        each = emission.spread(Element{fromIndex(emission, each, 32)},
                               lanes.count);
        flags.push_back(arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::slt, each, some));
        Value place =
            toIndex(emission, arith::AddIOp::create(builder, loc, first, each));
        Values record = task.records.load(
            emission, emission.constant(0), Coord{{}, 0, place, lanes.count},
            Lanes{lanes.count, flags.back(), true});
        places.push_back({{}, 0, low(emission, record.front()), lanes.count});
      }
      for (auto [place, flag] : llvm::zip(places, flags))
        elements.push_back(emission.vectorAt(op.getUpdates(),
                                             fibers.at(emission, fiber, place),
                                             Lanes{lanes.count, flag, true}));
      Values sum(carried);
      for (auto [element, flag] : llvm::zip(elements, flags)) {
        Values after = rounded(
            emission, combiner->merge(emission, sum,
                                      combiner->lift(emission, element, {})));
        for (auto [one, other] : llvm::zip(sum, after))
          one = arith::SelectOp::create(builder, loc, flag, other, one);
      }
      return sum;
    };
    auto fold = [&](const Values &start) {
      Value most = toIndex(
          emission, vector::ReductionOp::create(
                        builder, loc, vector::CombiningKind::MAXSI, some));
      return emission.loop(emission.constant(0), most, together, start, take);
    };
    finish(emission, task,
           fibers.at(emission, fiber, emission.along(at, lanes.count)), lanes,
           fold);
  }

  KernelWriter &writer;
  Value scattered;
  ir::ScatterOpInterface op;
  Fibers fibers;
  int64_t extent, updates;
  std::unique_ptr<Combiner> combiner;
  unsigned starts = 0; ///< the workspace of where positions' records begin
  AffineExpr elements;
  std::optional<StateArrays> partial; ///< of parts of updates
};

} // namespace

bool emitSortedScatter(KernelWriter &writer, Value scattered) {
  SortedScatter sorted(writer, scattered);
  if (!sorted.applies())
    return false;
  sorted.run();
  return true;
}

} // namespace sinter::compiler
