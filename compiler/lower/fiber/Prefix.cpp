/// The skeleton of prefixes: cumsum and the like. Fibers are cut in chunks,
/// whose totals are known before they are gone along: a few long ones have many
/// owners. The bits are those of one owner.
///
/// Along the last axis chunks have `chunkElements`, of which vectors of
/// `LaneScan::mostLanes` are folded in order; so are vectors of the totals of
/// chunks. Along another axis chunks have `blockElements`, taken one after the
/// other; so are totals.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/Combiner.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/fiber/Fibers.h"
#include "compiler/lower/fiber/LaneScan.h"
#include "compiler/lower/fiber/StateArrays.h"
#include "compiler/target/SizeClasses.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Values = Emission::Values;

constexpr int64_t chunkElements = 4096, blockElements = 64;
// Owners that are enough: each goes along whole fibers then. Cores share few
// short fibers out among themselves for nothing.
constexpr int64_t enoughThreads = 4096, enoughCores = 16;
constexpr int64_t shortestOfCores = 16384;
// Vectors that threads have on their way, and the elements of one of them.
constexpr int64_t vectorsAtOnce = 4, elementsAtOnce = 16;

class PrefixSkeleton {
public:
  PrefixSkeleton(KernelWriter &writer, Value prefix)
      : writer(writer), prefix(prefix), context(prefix.getContext()),
        fibers(fibersOf(prefix)), extent(fibers.shape[fibers.axis]),
        length(constantOf(extent)), combiner(makeCombiner(prefix)),
        traits(writer.target.traits()) {
    auto op = cast<ir::PrefixOpInterface>(prefix.getDefiningOp());
    x = op.getX();
    backwards = op.getReverse();
  }

  void run() {
    if (fibers.alongLast)
      runColumns();
    else
      runRows();
  }

private:
  static Fibers fibersOf(Value prefix) {
    auto op = cast<ir::PrefixOpInterface>(prefix.getDefiningOp());
    return Fibers(shapeOf(prefix), op.getAxis(), prefix.getContext());
  }

  AffineExpr number(int64_t value) const {
    return getAffineConstantExpr(value, context);
  }

  Value element(Emission &emission, const Index &index,
                const Lanes &lanes) const {
    return emission.vectorAt(x, index, lanes);
  }

  void store(Emission &emission, const Index &index, const Lanes &lanes,
             const Values &state) const {
    Value value = combiner->finish(emission, state);
    storeElements(emission, emission.entry.buffers[writer.outputBuffer(0)],
                  prefix, index, lanes,
                  canonicalNan(emission, prefix, Element{value}));
  }

  // ---- along the last axis -------------------------------------------------

  // A run of vectors of elements or of states, folded in order.
  struct Run {
    unsigned lanes = LaneScan::mostLanes;
    int64_t together = 1;
    bool isWhole = false; ///< of so many vectors together
    std::function<Values(Value at, const Lanes &)> read;
    /// Takes what the lanes of a vector were folded to, behind a state.
    std::function<void(const LaneScan &, const Values &, Value at,
                       const Lanes &)>
        visit;
  };

  // Of elements [begin, end), from a state on; gives the state behind them.
  Values fold(Emission &emission, const Run &run, Value begin, Value end,
              Values state) const {
    int64_t step = run.lanes * run.together;
    Value width = emission.constant(run.lanes), size = emission.constant(step);
    Value groups = emission.floorDiv(emission.sub(end, begin), size);
    Value middle = emission.add(begin, emission.mul(groups, size));
    Value zero = emission.constant(0);
    auto takeGroups = [&] {
      state = emission.loop(
          zero, groups, 1, state, [&](Value group, ValueRange carried) {
            if (backwards)
              group = emission.sub(emission.sub(groups, group),
                                   emission.constant(1));
            Value first = emission.add(begin, emission.mul(group, size));
            SmallVector<Value> places;
            for (int64_t next = 0; next < run.together; ++next)
              places.push_back(
                  emission.add(first, emission.constant(next * run.lanes)));
            return foldVectors(emission, run, places, Lanes{run.lanes, {}},
                               Values(carried));
          });
    };
    auto takeRest = [&] {
      Value rest = emission.floorDiv(
          emission.add(emission.sub(end, middle),
                       emission.constant(int64_t(run.lanes) - 1)),
          width);
      state = emission.loop(
          zero, rest, 1, state, [&](Value next, ValueRange carried) {
            if (backwards)
              next =
                  emission.sub(emission.sub(rest, next), emission.constant(1));
            Value at = emission.add(middle, emission.mul(next, width));
            Value mask = emission.tailMask(emission.sub(end, at), run.lanes);
            return foldVectors(emission, run, {at}, Lanes{run.lanes, mask},
                               Values(carried));
          });
    };
    if (!backwards)
      takeGroups();
    if (!run.isWhole)
      takeRest();
    if (backwards)
      takeGroups();
    return state;
  }

  // All are read before one is folded.
  Values foldVectors(Emission &emission, const Run &run, ArrayRef<Value> places,
                     const Lanes &lanes, Values state) const {
    SmallVector<Values> read;
    for (Value at : places)
      read.push_back(run.read(at, lanes));
    SmallVector<LaneScan> scans;
    for (Values &lifted : read) {
      if (lanes.mask) {
        Values none = combiner->init(emission, run.lanes);
        for (auto [value, other] : llvm::zip(lifted, none))
          value = arith::SelectOp::create(emission.builder, emission.loc,
                                          lanes.mask, value, other);
      }
      scans.emplace_back(emission, *combiner, run.lanes, backwards);
      scans.back().fold(lifted);
    }
    for (size_t i = 0; i < places.size(); ++i) {
      size_t number = backwards ? places.size() - 1 - i : i;
      if (run.visit)
        run.visit(scans[number], state, places[number], lanes);
      state = combiner->merge(emission, state, scans[number].total());
    }
    return state;
  }

  // The run of elements of a fiber.
  Run elementsOf(Emission &emission, ArrayRef<Coord> fiber) const {
    Run run;
    if (length >= 0 && length < LaneScan::mostLanes)
      run.lanes = std::max<unsigned>(
          LaneScan::fewestLanes, unsigned(llvm::bit_ceil(uint64_t(length))));
    run.together = traits.inOrder ? vectorsAtOnce : 1;
    SmallVector<Coord> coordinates(fiber);
    run.read = [=, this, &emission](Value at, const Lanes &lanes) {
      Index index =
          fibers.at(emission, coordinates, emission.along(at, lanes.count));
      return combiner->lift(emission, element(emission, index, lanes), {});
    };
    return run;
  }

  bool isWhole(const Run &run, int64_t count) const {
    return count >= 0 && count % (run.lanes * run.together) == 0;
  }

  // As `elementsOf`, each stored behind what came before the chunk, if there
  // was anything.
  Run storedOf(Emission &emission, ArrayRef<Coord> fiber,
               std::optional<Values> before) const {
    Run run = elementsOf(emission, fiber);
    SmallVector<Coord> coordinates(fiber);
    run.visit = [=, this, &emission](const LaneScan &scan, const Values &state,
                                     Value at, const Lanes &lanes) {
      Index index =
          fibers.at(emission, coordinates, emission.along(at, lanes.count));
      Values base = before ? combiner->merge(emission, *before, state) : state;
      store(emission, index, lanes, scan.from(base));
    };
    return run;
  }

  void runRows() {
    if (length >= 0 && length <= chunkElements) {
      writer.addPhase(
          fibers.rows, fiberMicroseconds(extent, 1),
          [&](Emission &emission, Value row) {
            Run run = storedOf(emission, fibers.coordinatesOf(emission, row),
                               std::nullopt);
            run.isWhole = isWhole(run, length);
            fold(emission, run, emission.constant(0), emission.extent(extent),
                 combiner->init(emission, 1));
          });
      return;
    }
    AffineExpr chunks = extent.ceilDiv(number(chunkElements));
    StateArrays states(writer, *combiner, fibers.rows * chunks);
    // One chunk alone has nothing before it.
    AffineExpr isCut =
        valueAt(extent, {{0, number(0)}, {chunkElements + 1, number(1)}});
    double microseconds = 0.001 * double(chunkElements);
    auto inChunk = [&](Emission &emission, Value task, auto emit) {
      Value count = emission.extent(chunks);
      Value row = emission.floorDiv(task, count);
      Value size = emission.constant(chunkElements);
      Value begin = emission.mul(emission.mod(task, count), size);
      Value end =
          emission.min(emission.add(begin, size), emission.extent(extent));
      emit(fibers.coordinatesOf(emission, row), begin, end);
    };
    bool areWhole = length >= 0 && length % chunkElements == 0;
    writer.addPhase(
        fibers.rows * chunks * isCut, microseconds,
        [&](Emission &emission, Value task) {
          inChunk(emission, task,
                  [&](ArrayRef<Coord> fiber, Value begin, Value end) {
                    Run run = elementsOf(emission, fiber);
                    run.isWhole = areWhole;
                    Values total = fold(emission, run, begin, end,
                                        combiner->init(emission, 1));
                    states.store(emission, total, emission.uniform(task), {});
                  });
        });
    writer.addPhase(fibers.rows, fiberMicroseconds(chunks, 1),
                    [&](Emission &emission, Value row) {
                      foldTotals(emission, states, row, chunks);
                    });
    writer.addPhase(
        fibers.rows * chunks, microseconds,
        [&](Emission &emission, Value task) {
          Values before = states.load(emission, emission.uniform(task), {});
          inChunk(emission, task,
                  [&](ArrayRef<Coord> fiber, Value begin, Value end) {
                    Run run = storedOf(emission, fiber, before);
                    run.isWhole = areWhole;
                    fold(emission, run, begin, end,
                         combiner->init(emission, 1));
                  });
        });
  }

  // Puts what comes before each chunk of a row in the place of its total.
  void foldTotals(Emission &emission, const StateArrays &states, Value row,
                  AffineExpr chunks) const {
    Value count = emission.extent(chunks);
    Value first = emission.mul(row, count);
    Run run;
    run.together = traits.inOrder ? vectorsAtOnce : 1;
    run.isWhole = isWhole(run, constantOf(chunks));
    auto placeAt = [&](Value at, const Lanes &lanes) {
      return emission.along(emission.add(first, at), lanes.count);
    };
    run.read = [&](Value at, const Lanes &lanes) {
      return states.load(emission, placeAt(at, lanes), lanes);
    };
    run.visit = [&](const LaneScan &scan, const Values &state, Value at,
                    const Lanes &lanes) {
      states.store(emission, scan.before(state), placeAt(at, lanes), lanes);
    };
    fold(emission, run, emission.constant(0), count,
         combiner->init(emission, 1));
  }

  // ---- along another axis --------------------------------------------------

  // The states of fibers side by side, after elements [begin, end) of each;
  // what each is behind `before` is stored, if that is given.
  Values foldColumns(Emission &emission, ArrayRef<Coord> fiber,
                     const Lanes &lanes, Value begin, Value end,
                     const Values *before) const {
    int64_t together = columnsTogether(lanes.count);
    Value size = emission.constant(together);
    Value whole =
        emission.mul(emission.floorDiv(emission.sub(end, begin), size), size);
    Value last = emission.sub(emission.add(begin, end), emission.constant(1));
    auto take = [&](Value first, int64_t count, Values state) {
      SmallVector<Index> places;
      for (int64_t next = 0; next < count; ++next) {
        Value at = emission.add(first, emission.constant(next));
        if (backwards)
          at = emission.sub(last, at);
        places.push_back(fibers.at(emission, fiber, emission.uniform(at)));
      }
      SmallVector<Value> elements;
      for (const Index &place : places)
        elements.push_back(element(emission, place, lanes));
      SmallVector<Values> sums;
      for (Value each : elements) {
        state = combiner->merge(emission, state,
                                combiner->lift(emission, each, {}));
        sums.push_back(state);
      }
      if (before)
        for (auto [place, sum] : llvm::zip(places, sums))
          store(emission, place, lanes,
                combiner->merge(emission, *before, sum));
      return state;
    };
    Value middle = emission.add(begin, whole);
    Values state = emission.loop(
        begin, middle, together, combiner->init(emission, lanes.count),
        [&](Value first, ValueRange carried) {
          return take(first, together, Values(carried));
        });
    if (together == 1)
      return state;
    return emission.loop(middle, end, 1, state,
                         [&](Value first, ValueRange carried) {
                           return take(first, 1, Values(carried));
                         });
  }

  // Rows of elements that are on their way; each is written out.
  int64_t columnsTogether(unsigned width) const {
    if (!traits.inOrder)
      return 1;
    constexpr int64_t most = 8, mostOfLong = 2;
    int64_t lanes = writer.target.lanes();
    return std::clamp<int64_t>(elementsAtOnce / 2 * lanes / width, 1,
                               combiner->mergesLong() ? mostOfLong : most);
  }

  Value blockEnd(Emission &emission, Value begin) const {
    return emission.min(emission.add(begin, emission.constant(blockElements)),
                        emission.extent(extent));
  }

  bool hasEnoughColumns(int64_t owners) const {
    if (length >= 0 && length <= blockElements)
      return true;
    if (traits.manyTasks)
      return owners >= enoughThreads;
    return owners < 0 || owners >= enoughCores || length < shortestOfCores;
  }

  void runColumns() {
    unsigned width = fibers.wideWidth(writer.target, traits.manyTasks ? 2 : 8);
    AffineExpr columns = fibers.chunks(width);
    AffineExpr blocks = extent.ceilDiv(number(blockElements));
    if (hasEnoughColumns(constantOf(columns))) {
      writer.addPhase(columns, fiberMicroseconds(extent, width),
                      [&](Emission &emission, Value chunk) {
                        fibers.visit(
                            emission, chunk, width,
                            [&](ArrayRef<Coord> fiber, const Lanes &lanes) {
                              foldBlocks(emission, fiber, lanes, blocks);
                            });
                      });
      return;
    }
    Shape totals = fibers.shape;
    totals[fibers.axis] = blocks;
    StateArrays states(writer, *combiner,
                       product(totals, 0, totals.size(), context));
    auto placeOf = [&](Emission &emission, ArrayRef<Coord> fiber, Value block) {
      Index index = fibers.at(emission, fiber, emission.uniform(block));
      return emission.linearize(index, totals);
    };
    auto inBlock = [&](Emission &emission, Value task, auto emit) {
      Value count = emission.extent(columns);
      Value block = emission.floorDiv(task, count);
      Value begin = emission.mul(block, emission.constant(blockElements));
      fibers.visit(emission, emission.mod(task, count), width,
                   [&](ArrayRef<Coord> fiber, const Lanes &lanes) {
                     emit(fiber, lanes, placeOf(emission, fiber, block), begin,
                          blockEnd(emission, begin));
                   });
    };
    double microseconds = fiberMicroseconds(number(blockElements), width);
    writer.addPhase(
        columns * blocks, microseconds, [&](Emission &emission, Value task) {
          inBlock(emission, task,
                  [&](ArrayRef<Coord> fiber, const Lanes &lanes,
                      const Coord &place, Value begin, Value end) {
                    Values total =
                        foldColumns(emission, fiber, lanes, begin, end, {});
                    states.store(emission, total, place, lanes);
                  });
        });
    writer.addPhase(
        columns, fiberMicroseconds(blocks, width),
        [&](Emission &emission, Value chunk) {
          fibers.visit(emission, chunk, width,
                       [&](ArrayRef<Coord> fiber, const Lanes &lanes) {
                         foldBlockTotals(
                             emission, states, lanes, blocks, [&](Value block) {
                               return placeOf(emission, fiber, block);
                             });
                       });
        });
    writer.addPhase(
        columns * blocks, microseconds, [&](Emission &emission, Value task) {
          inBlock(emission, task,
                  [&](ArrayRef<Coord> fiber, const Lanes &lanes,
                      const Coord &place, Value begin, Value end) {
                    Values before = states.load(emission, place, lanes);
                    foldColumns(emission, fiber, lanes, begin, end, &before);
                  });
        });
  }

  Value blockAt(Emission &emission, Value number, Value count) const {
    if (!backwards)
      return number;
    return emission.sub(emission.sub(count, number), emission.constant(1));
  }

  // Goes along whole fibers.
  void foldBlocks(Emission &emission, ArrayRef<Coord> fiber, const Lanes &lanes,
                  AffineExpr blocks) const {
    Value count = emission.extent(blocks);
    emission.loop(
        emission.constant(0), count, 1, combiner->init(emission, lanes.count),
        [&](Value number, ValueRange carried) {
          Values before(carried);
          Value begin = emission.mul(blockAt(emission, number, count),
                                     emission.constant(blockElements));
          Values total = foldColumns(emission, fiber, lanes, begin,
                                     blockEnd(emission, begin), &before);
          return combiner->merge(emission, before, total);
        });
  }

  // Puts what comes before each block in the place of its total.
  void foldBlockTotals(Emission &emission, const StateArrays &states,
                       const Lanes &lanes, AffineExpr blocks,
                       llvm::function_ref<Coord(Value)> placeOf) const {
    int64_t together = columnsTogether(lanes.count);
    Value count = emission.extent(blocks), size = emission.constant(together);
    Value whole = emission.mul(emission.floorDiv(count, size), size);
    auto take = [&](Value first, int64_t some, Values state) {
      SmallVector<Coord> places;
      for (int64_t next = 0; next < some; ++next)
        places.push_back(placeOf(blockAt(
            emission, emission.add(first, emission.constant(next)), count)));
      SmallVector<Values> totals;
      for (const Coord &place : places)
        totals.push_back(states.load(emission, place, lanes));
      for (auto [place, total] : llvm::zip(places, totals)) {
        states.store(emission, state, place, lanes);
        state = combiner->merge(emission, state, total);
      }
      return state;
    };
    Values state =
        emission.loop(emission.constant(0), whole, together,
                      combiner->init(emission, lanes.count),
                      [&](Value first, ValueRange carried) {
                        return take(first, together, Values(carried));
                      });
    if (together > 1)
      emission.loop(whole, count, 1, state,
                    [&](Value first, ValueRange carried) {
                      return take(first, 1, Values(carried));
                    });
  }

  KernelWriter &writer;
  Value prefix, x;
  MLIRContext *context;
  Fibers fibers;
  AffineExpr extent;
  int64_t length;
  std::unique_ptr<Combiner> combiner;
  const LaneTraits &traits;
  bool backwards = false;
};

} // namespace

void emitPrefix(KernelWriter &writer, Value prefix) {
  PrefixSkeleton(writer, prefix).run();
}

} // namespace sinter::compiler
