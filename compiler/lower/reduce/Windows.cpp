/// The window skeleton: reductions of a few elements whose operand's last axis
/// stays. Lanes are columns, the elements of a result are unrolled, and so are
/// some neighbours along the last dim before the columns. Where views would
/// mask what they read, at the borders, one result at a time is made.
#include "compiler/lower/reduce/Windows.h"
#include "compiler/analysis/ElementCost.h"

#include "compiler/analysis/Access.h"
#include "compiler/analysis/OpsBehind.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/reduce/StoredSource.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Values = Emission::Values;
using Place = ColumnSpace::Place;

// Elements of a result; longer reductions keep their states in memory.
constexpr int64_t mostElements = 49;
// Elements that are taken in by one piece of code.
constexpr int64_t mostUnrolled = 128;
// Columns of a task, and elements it takes in.
constexpr int64_t taskColumns = 512;
constexpr int64_t taskElements = 1 << 19;
// Where lanes are threads, a task is results that are made together, or a few
// times as many, which share what is read for columns; a device runs thousands
// of tasks at once.
constexpr int64_t threadElements = 1 << 12, fewestThreadElements = 1 << 10;
constexpr int64_t threadTasks = 8192;
// Columns of which fewer are neighbours are put side by side before, where more
// rows than these read them.
constexpr int64_t fewNeighbours = 8, manyRows = 512;
// Places along the line whose columns are gone through before the next: what
// the windows over them share stays in the first-level cache.
constexpr int64_t blockedPlaces = 32;
// Columns fill a line of the cache, or a few in a row: what is read then comes
// in longer streams.
constexpr int64_t mostLines = 4;

// Places along the line.
struct Block {
  Value begin, end;
};

// What a task is made of.
struct Cut {
  int64_t columns = 0, rows = 1; ///< of a task, at most
  AffineExpr blocks;             ///< of columns
  int64_t places = 0;            ///< of a part of the line, where it has parts
  AffineExpr parts;              ///< of a line; null where it has none
  AffineExpr tasks;
  double elements = 0; ///< of a task
};

// What is the same for all results of a column, such as weights, and the
// workspace in which columns of it are neighbours.
struct Spread {
  Value tensor;
  unsigned workspace = 0;
};

class WindowsSkeleton {
public:
  WindowsSkeleton(KernelWriter &writer, const ColumnSpace &space)
      : writer(writer), kernel(writer.kernel), space(space),
        sinks(space.sinks(writer.outputBuffer(0))), dims(space.keptDims()),
        traits(writer.target.traits()) {
    for (Operation *op : space.reductions)
      combiners.push_back(makeCombiner(op->getResult(0)));
  }

  bool applies() {
    elements = constantOf(space.extent);
    int64_t columns = constantOf(space.width);
    if (elements < 1 || elements > mostElements || dims.empty() ||
        (columns >= 0 && columns < 4))
      return false;
    line = dims.back();
    rest = product(dims, 0, dims.size() - 1, space.context);
    findInteriors();
    lanes = chooseLanes();
    int64_t vectors = std::max<int64_t>(1, lanes / writer.target.lanes());
    int64_t registers = writer.target.vectorRegisters();
    int64_t states = space.reductions.size() * vectors;
    together =
        std::min(registers / 4 / vectors, mostUnrolled / (elements * states));
    int64_t length = constantOf(line);
    if (length >= 0)
      together = std::min(together, length);
    together =
        int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(together, 1))));
    return true;
  }

  void run() {
    stageSpreads();
    Cut cut = cutFor(traits.manyTasks ? threadElements : taskElements);
    for (int64_t most = threadElements / 2;
         traits.manyTasks && hasFewTasks(cut) && most >= fewestThreadElements;
         most /= 2)
      cut = cutFor(most);
    writer.addPhase(
        cut.tasks,
        cut.elements * elementNanoseconds(kernel.getBlock(), writer.target) /
            1000,
        [=, this](Emission &emission, Value task) {
          emission.readsNearest = traits.apart;
          for (const Spread &spread : spreads)
            emission.setSource(spread.tensor,
                               makeStored(spread.tensor, spread.workspace));
          emitTask(emission, task, cut);
        });
  }

private:
  // Tasks of about so many elements.
  Cut cutFor(int64_t most) const {
    int64_t length = constantOf(line), columns = constantOf(space.width);
    Cut cut;
    cut.columns = traits.manyTasks ? lanes : taskColumns;
    double perPlace =
        double(elements) *
        double(columns < 0 ? cut.columns : std::min(columns, cut.columns));
    double places = double(length < 0 ? 64 : length);
    if (traits.manyTasks && perPlace * places > double(most)) {
      int64_t some = int64_t(double(most) / perPlace);
      cut.places = std::max<int64_t>(1, some / together) * together;
      cut.parts = line.ceilDiv(cut.places);
      places = double(cut.places);
    }
    double perRow = perPlace * places;
    cut.rows = std::max<int64_t>(1, int64_t(double(most) / (perRow + 1)));
    cut.blocks = space.width.ceilDiv(cut.columns);
    cut.tasks = rest.ceilDiv(cut.rows) * cut.blocks;
    if (cut.parts)
      cut.tasks = cut.tasks * cut.parts;
    cut.elements = perRow * double(cut.rows);
    return cut;
  }

  static bool hasFewTasks(const Cut &cut) {
    int64_t tasks = constantOf(cut.tasks);
    return tasks >= 0 && tasks < threadTasks;
  }

  // ---- what all results of a column share
  // -------------------------------------

  // Of what repeats `operand`.
  bool isSpread(Value tensor, Value operand) const {
    Shape inner = shapeOf(operand);
    if (shapeOf(tensor) != space.shape || inner.size() != space.shape.size() ||
        inner.back() != space.width || constantOf(space.width) < 0)
      return false;
    for (unsigned dim = 0; dim + 1 < inner.size(); ++dim)
      if (!space.isReduced(dim) && !isOne(inner[dim]))
        return false;
    int64_t run = neighboursAlong(operand, unsigned(inner.size()) - 1);
    return run > 0 && run < fewNeighbours;
  }

  // Columns that lie apart are read with a line of the cache each.
  void stageSpreads() {
    int64_t rows = constantOf(space.lead);
    if (!traits.manyTasks || space.tailRank != 1 ||
        (rows >= 0 && rows < manyRows))
      return;
    for (Operation *reduction : space.reductions)
      for (Operation *op : opsBehind(reduction->getOperand(0)))
        if (Value operand = ir::repeatedOperand(op->getResult(0));
            operand && isSpread(op->getResult(0), operand) &&
            llvm::none_of(spreads, [&](const Spread &known) {
              return known.tensor == operand;
            }))
          spreads.push_back({operand});
    auto countOf = [&](const Spread &spread, unsigned dims) {
      return product(shapeOf(spread.tensor), 0, dims, space.context);
    };
    unsigned rank = unsigned(space.shape.size());
    for (Spread &spread : spreads)
      spread.workspace =
          writer.addWorkspace(countOf(spread, rank), elementOf(spread.tensor));
    for (const Spread &spread : spreads) {
      std::optional<Preparation> preparation;
      if (auto input = onlyInput(spread.tensor))
        preparation = Preparation{*input, spread.workspace};
      writer.addPhase(
          countOf(spread, rank - 1), 1,
          [&](Emission &emission, Value task) {
            emitSpread(emission, spread, task);
          },
          preparation);
    }
  }

  // A row of columns.
  void emitSpread(Emission &emission, const Spread &spread, Value row) {
    Shape dims = shapeOf(spread.tensor);
    Index flat;
    flat.tail = emission.uniform(row);
    flat.tailRank = unsigned(dims.size()) - 1;
    SmallVector<Coord> place =
        emission.coordinates(flat, Shape(dims.begin(), dims.end() - 1));
    place.emplace_back();
    eachColumn(emission, emission.constant(0), emission.extent(space.width),
               writer.target.lanes(), constantOf(space.width),
               [&](Value column, const Lanes &own) {
                 place.back() = emission.along(column, own.count);
                 Index index = emission.fromCoordinates(place);
                 storeElements(emission,
                               emission.entry.buffers[spread.workspace],
                               spread.tensor, index, own,
                               emission.at(spread.tensor, index, own));
               });
  }

  // Whole lines of the cache, where the columns come out even. What is read for
  // columns but not for places, such as factors, waits in registers: of that
  // there is none where all comes from one input.
  unsigned chooseLanes() const {
    unsigned one = space.lanesOf(writer.target);
    unsigned bits = 32;
    bool isOneInput = true;
    unsigned states = 0;
    for (auto [op, combiner] : llvm::zip(space.reductions, combiners)) {
      bits = std::max(
          bits,
          memoryType(elementOf(op->getResult(0))).getIntOrFloatBitWidth());
      isOneInput &= onlyInput(op->getOperand(0)).has_value();
      states += combiner->needsPosition() ? 2 : 1;
    }
    const MachineModel &machine = writer.target.machines().usual;
    unsigned registers = writer.target.vectorRegisters();
    int64_t lines = isOneInput ? mostLines : registers >= 32 ? 2 : 1;
    int64_t columns = constantOf(space.width);
    for (; lines > 0; lines /= 2) {
      unsigned wide = lines * machine.lineBytes * 8 / bits;
      bool fits =
          lines == 1 || wide / writer.target.lanes() * states <= registers / 2;
      if (fits && wide > one && columns > 0 && columns % wide == 0)
        return wide;
    }
    return one;
  }

  // ---- where no view masks
  // ---------------------------------------------------

  void findInteriors() {
    unsigned numDims = space.shape.size();
    for (unsigned dim = 0; dim < numDims; ++dim) {
      if (space.isReduced(dim))
        continue;
      Interior all = Interior::everything();
      // Columns of several dims have no borders that are known; threads' lanes
      // each find out.
      bool isColumn = dim + space.tailRank >= numDims;
      if (!isColumn || (space.tailRank == 1 && !traits.apart))
        for (Operation *op : space.reductions)
          all = all.both(interiorOf(op->getOperand(0), dim));
      (isColumn ? columnInterior : interiors.emplace_back()) = all;
    }
    hasBorders = !columnInterior.isAll() ||
                 llvm::any_of(interiors, [](const Interior &interior) {
                   return !interior.isAll();
                 });
  }

  // Whether a coordinate, and `more` after it, lie inside; null where all do.
  Value isInside(Emission &emission, Value at, const Interior &interior,
                 int64_t more) {
    if (interior.isAll())
      return {};
    int64_t count = std::max<int64_t>(0, interior.high - interior.low - more);
    Value moved = emission.sub(at, emission.constant(interior.low));
    return arith::CmpIOp::create(emission.builder, emission.loc,
                                 arith::CmpIPredicate::ult, moved,
                                 emission.constant(count));
  }

  // ---- the walk
  // --------------------------------------------------------------

  void emitTask(Emission &emission, Value task, const Cut &cut) {
    Value part;
    if (cut.parts) {
      Value parts = emission.extent(cut.parts);
      part = emission.mod(task, parts);
      task = emission.floorDiv(task, parts);
    }
    Value count = emission.extent(cut.blocks);
    Value size = emission.constant(cut.rows);
    Value begin = emission.mul(emission.floorDiv(task, count), size);
    Value end = emission.min(emission.add(begin, size), emission.extent(rest));
    Value first =
        emission.mul(emission.mod(task, count), emission.constant(cut.columns));
    int64_t all = constantOf(space.width);
    Value last =
        all >= 0 && all <= cut.columns
            ? emission.constant(all)
            : emission.min(emission.add(first, emission.constant(cut.columns)),
                           emission.extent(space.width));
    Value step = emission.constant(lanes);
    Value whole =
        emission.mul(emission.floorDiv(emission.sub(last, first), step), step);
    Value middle = emission.add(first, whole);
    auto eachRow = [&](const Block &block, Value column, Value mask) {
      emission.loop(begin, end, 1, [&](Value row) {
        emitRow(emission, row, block, column, Lanes{lanes, mask, false});
      });
    };
    auto eachColumn = [&](const Block &block) {
      emission.loop(first, middle, lanes,
                    [&](Value column) { eachRow(block, column, {}); });
      if (all < 0 || all % lanes != 0)
        emission.loop(middle, last, lanes, [&](Value column) {
          eachRow(block, column,
                  emission.tailMask(emission.sub(last, column), lanes));
        });
    };
    Value zero = emission.constant(0), length = emission.extent(line);
    if (part) {
      Value from = emission.mul(part, emission.constant(cut.places));
      Value to = emission.add(from, emission.constant(cut.places));
      return eachColumn({from, emission.min(to, length)});
    }
    int64_t known = constantOf(line);
    if (known >= 0 && known <= blockedPlaces * 3 / 2)
      return eachColumn({zero, length});
    int64_t places = blockedPlaces;
    if (known >= 0)
      places = llvm::alignTo(
          llvm::divideCeil(known, llvm::divideCeil(known, places)), together);
    emission.loop(zero, length, places, [&](Value from) {
      Value to = emission.add(from, emission.constant(places));
      eachColumn({from, emission.min(to, length)});
    });
  }

  // The results of a row at the places of a block, in columns from `column` on.
  void emitRow(Emission &emission, Value row, const Block &block, Value column,
               const Lanes &lanes) {
    SmallVector<Coord> place;
    if (dims.size() > 1) {
      Index flat;
      flat.tail = emission.uniform(row);
      flat.tailRank = dims.size() - 1;
      place = emission.coordinates(flat, Shape(dims.begin(), dims.end() - 1));
    }
    if (!hasBorders)
      return emitInterior(emission, place, block, column, lanes);
    const Interior &along = interiors.back();
    Block inner = block;
    if (!along.isAll()) {
      auto clamped = [&](int64_t at) {
        return emission.min(emission.max(emission.constant(at), block.begin),
                            block.end);
      };
      inner = {clamped(along.low), clamped(along.high)};
    }
    Value inside = isInside(emission, column, columnInterior, lanes.count - 1);
    for (auto [coord, interior] : llvm::zip(place, interiors)) {
      Value own = isInside(emission, coord.base, interior, 0);
      if (own)
        inside = inside ? arith::AndIOp::create(emission.builder, emission.loc,
                                                inside, own)
                        : own;
    }
    // First, because what does not depend on the place is read outside then:
    // behind the condition it could not be.
    emitBorder(emission, place, inside, block, inner, column, lanes);
    auto interior = [&] {
      assume(emission, place, column, lanes);
      emitInterior(emission, place, inner, column, lanes);
      emission.forgetRanges();
    };
    // What the line alone masks is not read further out than it is known.
    if (inside)
      emission.when(inside, interior);
    else
      interior();
  }

  // What is promised where the row lies inside.
  void assume(Emission &emission, ArrayRef<Coord> place, Value column,
              const Lanes &lanes) {
    for (auto [coord, interior] : llvm::zip(place, interiors))
      if (!interior.isAll())
        emission.assumeRange(coord.base, interior.low, interior.high - 1);
    if (!columnInterior.isAll())
      emission.assumeRange(column, columnInterior.low,
                           columnInterior.high - int64_t(lanes.count));
  }

  // Places of a block outside `inner`, or all where the row does not lie
  // inside.
  void emitBorder(Emission &emission, ArrayRef<Coord> place, Value inside,
                  const Block &block, const Block &inner, Value column,
                  const Lanes &lanes) {
    OpBuilder &builder = emission.builder;
    Location loc = emission.loc;
    Value zero = emission.constant(0);
    Value skipped = emission.sub(inner.end, inner.begin);
    if (inside)
      skipped = arith::SelectOp::create(builder, loc, inside, skipped, zero);
    Value end = arith::SubIOp::create(builder, loc, block.end, skipped);
    emission.loop(block.begin, end, 1, [&](Value i) {
      Value isAfter = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::sge, i, inner.begin);
      Value jump =
          arith::SelectOp::create(builder, loc, isAfter, skipped, zero);
      Value at = arith::AddIOp::create(builder, loc, i, jump);
      emitResults(emission, place, at, 1, column, lanes);
    });
  }

  void emitInterior(Emission &emission, ArrayRef<Coord> place,
                    const Block &block, Value column, const Lanes &lanes) {
    Value step = emission.constant(together);
    Value whole = emission.mul(
        emission.floorDiv(emission.sub(block.end, block.begin), step), step);
    Value middle = emission.add(block.begin, whole);
    auto results = [&](Value at, int64_t count) {
      const Interior &along = interiors.back();
      if (!along.isAll())
        emission.assumeRange(at, along.low, along.high - count);
      emitResults(emission, place, at, count, column, lanes);
    };
    emission.loop(block.begin, middle, together,
                  [&](Value at) { results(at, together); });
    if (together > 1)
      emission.loop(middle, block.end, 1, [&](Value at) { results(at, 1); });
  }

  // ---- results
  // ---------------------------------------------------------------

  // `count` results from `at` on, of `lanes` columns each. All are computed
  // before the first is stored.
  void emitResults(Emission &emission, ArrayRef<Coord> place, Value at,
                   int64_t count, Value column, const Lanes &lanes) {
    SmallVector<Place> places;
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Coord> coordinates(place);
      coordinates.push_back(
          emission.uniform(emission.add(at, emission.constant(i))));
      Value lead =
          emission.linearize(emission.fromCoordinates(coordinates), dims).base;
      places.push_back({lead, column, {}});
    }
    SmallVector<SmallVector<Values>> states =
        reduce(emission, places, column, lanes);
    SmallVector<std::pair<Index, Element>> stored;
    for (auto [own, where] : llvm::zip(states, places)) {
      for (auto [number, op] : llvm::enumerate(space.reductions))
        space.provide(emission, op->getResult(0), where, column, lanes,
                      combiners[number]->finish(emission, own[number]));
      for (const Sink &sink : sinks) {
        Index index =
            space.resultIndex(emission, sink.value, where, column, lanes);
        stored.push_back({index, emission.at(sink.value, index, lanes)});
      }
    }
    for (auto [number, element] : llvm::enumerate(stored))
      storeToSink(emission, sinks[number % sinks.size()], element.first, lanes,
                  element.second);
  }

  // The states of results, by reduction. One block of the canonical order is
  // all there is: merging it with nothing changes no bit.
  SmallVector<SmallVector<Values>> reduce(Emission &emission,
                                          ArrayRef<Place> places, Value column,
                                          const Lanes &lanes) {
    SmallVector<Values> fresh;
    for (const auto &combiner : combiners)
      fresh.push_back(combiner->start(
          emission, lanes.count,
          ColumnSpace::positionAt(emission, *combiner, emission.constant(0),
                                  lanes)));
    SmallVector<SmallVector<Values>> states(places.size(), fresh);
    for (int64_t i = 0; i < elements; ++i)
      for (auto [own, where] : llvm::zip(states, places))
        for (auto [number, op] : llvm::enumerate(space.reductions)) {
          const Combiner &combiner = *combiners[number];
          Value row = emission.constant(i);
          Index index =
              space.operandIndex(emission, op, where, row, column, lanes);
          Value element = emission.vectorAt(op->getOperand(0), index, lanes);
          Value position =
              ColumnSpace::positionAt(emission, combiner, row, lanes);
          own[number] =
              combiner.take(emission, own[number],
                            combiner.lift(emission, element, position));
        }
    return states;
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  const ColumnSpace &space;
  const SmallVector<Sink> sinks;
  Shape dims; ///< of the results, before the columns
  SmallVector<std::unique_ptr<Combiner>, 2> combiners;
  SmallVector<Spread, 1> spreads;
  SmallVector<Interior> interiors; ///< of `dims`
  Interior columnInterior = Interior::everything();
  bool hasBorders = false;
  AffineExpr line, rest; ///< the last of `dims`, and the product of others
  const LaneTraits &traits;
  int64_t elements = 0; ///< of a result
  int64_t together = 1; ///< results along the line
  unsigned lanes = 1;   ///< columns of a result
};

} // namespace

bool fitWindows(KernelWriter &writer, const ColumnSpace &space) {
  return WindowsSkeleton(writer, space).applies();
}

void emitWindows(KernelWriter &writer, const ColumnSpace &space) {
  WindowsSkeleton skeleton(writer, space);
  skeleton.applies(); // it finds out how
  skeleton.run();
}

} // namespace sinter::compiler
