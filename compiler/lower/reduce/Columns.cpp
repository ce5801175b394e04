/// The column skeleton: reductions whose operand's last axis stays. Rows are
/// read as they lie in memory, several at a time; a block of columns has its
/// states in the function's frame. The order is canonical: blocks of 64 rows
/// one after the other, chunks of 8192 in order.
#include "compiler/lower/kernel/KernelWriter.h"

#include "compiler/analysis/ElementCost.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/reduce/BlockColumns.h"
#include "compiler/lower/reduce/BlockRows.h"
#include "compiler/lower/reduce/ColumnSpace.h"
#include "compiler/lower/reduce/WindowSums.h"
#include "compiler/lower/reduce/Windows.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Values = Emission::Values;

// Columns of a task: their states stay in the first-level cache.
constexpr int64_t mostColumns = 512;
// Tasks that keep many threads busy: with fewer, chunks are tasks too.
constexpr int64_t enoughTasks = 16;
// Where lanes are threads: columns of one load, and tasks for each of the many
// threads that wait for memory; blocks are tasks too, with fewer.
constexpr int64_t threadTasks = 8192;
// Rows that are taken in before the states are stored again.
constexpr int64_t rowsAtOnce = 8;
constexpr int64_t rowsAtOnceByThreads = 16;
// Partial states that are read at a time then, and columns of a task that
// merges them: each thread has one.
constexpr int64_t partsAtOnce = 64;
constexpr int64_t mergedByThreads = 32;

// Rows and columns at most that blocks of threads read: more of either keep
// warps busy by themselves.
constexpr int64_t blockRows = 1024, blockColumns = 16384;

// One reduction of the kernel and its states: arrays over the columns of a
// task, for the current block, the current chunk and the whole.
struct Column {
  Operation *op = nullptr;
  std::shared_ptr<Combiner> combiner;
  SmallVector<Value> block, chunk, total;
  SmallVector<unsigned> partials; ///< workspaces, when chunks are tasks
};

using Place = ColumnSpace::Place;

class ColumnsSkeleton {
public:
  ColumnsSkeleton(KernelWriter &writer, const ColumnSpace &space)
      : writer(writer), kernel(writer.kernel), space(space),
        sinks(space.sinks(writer.outputBuffer(0))), lead(space.lead),
        width(space.width), extent(space.extent),
        manyTasks(writer.target.traits().manyTasks),
        taskColumns(manyTasks ? threadColumns() : mostColumns),
        partRows(manyTasks ? canonicalBlock : canonicalChunk),
        ownColumns(taskColumns) {
    for (Operation *op : space.reductions)
      columns.push_back({op, makeCombiner(op->getResult(0)), {}, {}, {}, {}});
  }

  Fit fit(program::Owner owner) {
    switch (owner) {
    case program::Owner::lane:
      return Fit::best;
    case program::Owner::block:
      return isForBlocks() ? Fit::best : Fit::none;
    case program::Owner::grid:
      if (constantOf(extent) <= partRows || constantOf(space.results) <= 0)
        return Fit::none;
      return isSplit() ? Fit::best : Fit::possible;
    default:
      return Fit::none;
    }
  }

  void run(program::Owner owner) {
    int64_t rows = constantOf(extent), count = constantOf(width);
    AffineExpr tasks = tasksOf(taskColumns);
    double nanoseconds = elementNanoseconds(kernel.getBlock(), writer.target);
    double elements =
        double(rows < 0 ? 1024 : rows) *
        double(count < 0 ? taskColumns : std::min(count, taskColumns));
    if (owner == program::Owner::block)
      return columnsOfBlocks()->addRowsPhase(space);
    if (owner == program::Owner::lane) {
      writer.addPhase(tasks, elements * nanoseconds / 1000,
                      [=, this](Emission &emission, Value task) {
                        emitTask(emission, placeOf(emission, task));
                      });
      return;
    }
    int64_t parts = llvm::divideCeil(rows, partRows);
    writer.noteSplit(partRows);
    for (Column &column : columns)
      for (Type type : column.combiner->types())
        column.partials.push_back(
            writer.addWorkspace(space.results * number(parts), type));
    // Neighbours in memory are worked on at the same time.
    writer.addPhase(
        tasks * number(parts), elements * nanoseconds / 1000 / double(parts),
        [=, this](Emission &emission, Value task) {
          Value count = emission.extent(tasks);
          emitPartial(emission, placeOf(emission, emission.mod(task, count)),
                      emission.floorDiv(task, count));
        });
    if (auto blocks = columnsOfBlocks())
      return blocks->addMergePhase();
    if (manyTasks)
      ownColumns = mergedByThreads;
    writer.addPhase(tasksOf(ownColumns),
                    0.001 * double(parts) * double(ownColumns),
                    [=, this](Emission &emission, Value task) {
                      emitMerge(emission, placeOf(emission, task), parts);
                    });
  }

private:
  AffineExpr number(int64_t value) const {
    return getAffineConstantExpr(value, space.context);
  }

  // As many as a warp loads at once, if no load has fewer.
  int64_t threadColumns() {
    int64_t all = constantOf(space.width);
    unsigned wide = loopLanes(writer.kernel.getBlock(), writer.target);
    return all > 0 && all % wide == 0 ? wide : writer.target.lanes();
  }

  // The columns for blocks of threads, where those can have them.
  std::optional<BlockColumns> columnsOfBlocks() {
    BlockColumns blocks(writer, extent, /*onlyColumns=*/true);
    for (const Column &column : columns)
      if (joinsBlockRows(column.op))
        blocks.add(column.op, column.combiner,
                   column.partials.empty() ? 0 : column.partials.front());
    bool isPlain = isOne(lead) && !space.isTurned() && space.tailRank == 1 &&
                   blocks.count() == columns.size() && blocks.canMerge();
    return isPlain ? std::optional(std::move(blocks)) : std::nullopt;
  }

  // Of few rows a block of threads reads all.
  bool isForBlocks() {
    int64_t rows = constantOf(extent), count = constantOf(width);
    return rows >= 1 && rows <= blockRows && count <= blockColumns &&
           isCheap() && columnsOfBlocks();
  }

  AffineExpr tasksOf(int64_t columns) const {
    return lead * width.ceilDiv(number(columns));
  }

  // Few results of many rows: parts are worked on side by side. No bit depends
  // on it.
  bool isSplit() const {
    int64_t rows = constantOf(extent);
    int64_t count = constantOf(tasksOf(taskColumns));
    return rows > 2 * partRows && count > 0 &&
           count < (manyTasks ? threadTasks : enoughTasks);
  }

  Place placeOf(Emission &emission, Value task) {
    Place place;
    Value count = emission.extent(width.ceilDiv(number(ownColumns)));
    place.lead = emission.floorDiv(task, count);
    place.first =
        emission.mul(emission.mod(task, count), emission.constant(ownColumns));
    int64_t all = constantOf(width);
    if (all >= 0 && all <= ownColumns)
      return {place.lead, emission.constant(0), emission.constant(all)};
    place.end =
        emission.min(emission.add(place.first, emission.constant(ownColumns)),
                     emission.extent(width));
    return place;
  }

  // ---- states in the frame -------------------------------------------------

  void makeBuffers(Emission &emission) {
    int64_t rows = constantOf(extent);
    bool isOne = rows >= 0 && rows <= canonicalChunk;
    for (Column &column : columns) {
      auto make = [&](unsigned level) {
        SmallVector<Value> buffers;
        for (auto [slot, type] : llvm::enumerate(column.combiner->types())) {
          auto array = MemRefType::get({taskColumns}, memoryType(type));
          const char *key = reinterpret_cast<const char *>(&column);
          buffers.push_back(
              emission.frameBuffer(key + 4 * level + slot, array));
        }
        return buffers;
      };
      column.block = make(0);
      column.chunk = make(1);
      column.total = isOne ? column.chunk : make(2);
    }
  }

  // ---- loops ---------------------------------------------------------------

  // Runs `body` for the columns of a task.
  void eachColumn(Emission &emission, const Place &place,
                  llvm::function_ref<void(Value, const Lanes &)> body) {
    unsigned lanes = space.lanesOf(emission.target);
    if (manyTasks && constantOf(width) >= ownColumns)
      lanes = unsigned(ownColumns);
    compiler::eachColumn(emission, place.first, place.end, lanes,
                         space.divisorOf(ownColumns), body);
  }

  using Buffers = SmallVector<Value> Column::*;

  // Runs `body` for all states of a task, whole vectors: arrays are longer.
  void eachState(Emission &emission, const Place &place,
                 llvm::function_ref<void(Value, const Lanes &)> body) {
    unsigned lanes = manyTasks ? unsigned(ownColumns) : emission.target.lanes();
    emission.loop(emission.constant(0), emission.sub(place.end, place.first),
                  lanes, [&](Value at) { body(at, Lanes{lanes, {}, false}); });
  }

  void clear(Emission &emission, const Place &place, Buffers buffers) {
    eachState(emission, place, [&](Value at, const Lanes &lanes) {
      for (const Column &column : columns)
        storeStates(emission, *column.combiner, column.*buffers, at, lanes,
                    column.combiner->init(emission, lanes.count));
    });
  }

  void startBlock(Emission &emission, const Place &place, Value row) {
    eachState(emission, place, [&](Value at, const Lanes &lanes) {
      for (const Column &column : columns)
        storeStates(
            emission, *column.combiner, column.block, at, lanes,
            column.combiner->start(emission, lanes.count,
                                   positionAt(emission, column, row, lanes)));
    });
  }

  // into = merge(into, from).
  void mergeInto(Emission &emission, const Place &place, Buffers into,
                 Buffers from) {
    eachState(emission, place, [&](Value at, const Lanes &lanes) {
      for (const Column &column : columns) {
        Values a =
            loadStates(emission, *column.combiner, column.*into, at, lanes);
        Values b =
            loadStates(emission, *column.combiner, column.*from, at, lanes);
        storeStates(emission, *column.combiner, column.*into, at, lanes,
                    column.combiner->merge(emission, a, b));
      }
    });
  }

  static Value positionAt(Emission &emission, const Column &column, Value row,
                          const Lanes &lanes) {
    return ColumnSpace::positionAt(emission, *column.combiner, row, lanes);
  }

  // The state in the frame is read and written whole: a masked lane of it
  // belongs to no column.
  static Lanes unmasked(const Lanes &lanes) {
    return Lanes{lanes.count, {}, false};
  }

  // Takes rows [row, row + count) into the states of the block.
  void takeRows(Emission &emission, const Place &place, Value row,
                int64_t count) {
    eachColumn(emission, place, [&](Value at, const Lanes &lanes) {
      Value own = emission.sub(at, place.first);
      SmallVector<Values> states;
      for (const Column &column : columns)
        states.push_back(loadStates(emission, *column.combiner, column.block,
                                    own, unmasked(lanes)));
      for (int64_t i = 0; i < count; ++i) {
        Value number = emission.add(row, emission.constant(i));
        for (auto [column, state] : llvm::zip(columns, states)) {
          const Combiner &combiner = *column.combiner;
          Index index =
              space.operandIndex(emission, column.op, place, number, at, lanes);
          Value element =
              emission.vectorAt(column.op->getOperand(0), index, lanes);
          Value position = positionAt(emission, column, number, lanes);
          state = combiner.take(emission, state,
                                combiner.lift(emission, element, position));
        }
      }
      for (auto [column, state] : llvm::zip(columns, states))
        storeStates(emission, *column.combiner, column.block, own,
                    unmasked(lanes), state);
    });
  }

  // Whether code for many elements is short.
  bool isCheap() const {
    SmallVector<Value> operands;
    for (const Column &column : columns)
      operands.push_back(column.op->getOperand(0));
    constexpr double cheapest = 8;
    return operationsBehind(operands) < cheapest * double(columns.size()) &&
           columns.size() < 3;
  }

  int64_t rowsTogether(Emission &emission) const {
    if (!isCheap() || emission.target.lanes() == 1)
      return 2;
    if (!emission.target.traits().inOrder)
      return rowsAtOnce;
    int64_t all = constantOf(width);
    bool isNarrow = all > 0 && all <= mergedByThreads;
    return isNarrow ? 2 * rowsAtOnceByThreads : rowsAtOnceByThreads;
  }

  // The states of rows [first, last), one block, in the block's buffers.
  void takeBlock(Emission &emission, const Place &place, Value first,
                 Value last) {
    int64_t rows = constantOf(extent), together = rowsTogether(emission);
    startBlock(emission, place, first);
    Value step = emission.constant(together);
    Value whole =
        emission.mul(emission.floorDiv(emission.sub(last, first), step), step);
    Value middle = emission.add(first, whole);
    emission.loop(first, middle, together,
                  [&](Value row) { takeRows(emission, place, row, together); });
    if (rows < 0 || rows % together != 0)
      emission.loop(middle, last, 1,
                    [&](Value row) { takeRows(emission, place, row, 1); });
  }

  // The states of rows [begin, end), one chunk, in the chunk's buffers.
  void takeChunk(Emission &emission, const Place &place, Value begin,
                 Value end) {
    clear(emission, place, &Column::chunk);
    emission.loop(begin, end, canonicalBlock, [&](Value first) {
      Value last = emission.min(
          emission.add(first, emission.constant(canonicalBlock)), end);
      takeBlock(emission, place, first, last);
      mergeInto(emission, place, &Column::chunk, &Column::block);
    });
  }

  void emitTask(Emission &emission, const Place &place) {
    makeBuffers(emission);
    Value zero = emission.constant(0), end = emission.extent(extent);
    int64_t rows = constantOf(extent);
    if (rows >= 0 && rows <= canonicalChunk) {
      takeChunk(emission, place, zero, end);
    } else {
      clear(emission, place, &Column::total);
      emission.loop(zero, end, canonicalChunk, [&](Value begin) {
        Value size = emission.constant(canonicalChunk);
        takeChunk(emission, place, begin,
                  emission.min(emission.add(begin, size), end));
        mergeInto(emission, place, &Column::total, &Column::chunk);
      });
    }
    emitOutputs(emission, place);
  }

  // Partial states stand as state[part][result].
  Value partialPlace(Emission &emission, const Place &place, Value part,
                     Value column) {
    Value row =
        emission.add(emission.mul(part, emission.extent(lead)), place.lead);
    return emission.add(emission.mul(row, emission.extent(width)), column);
  }

  SmallVector<Value> partialsOf(Emission &emission, const Column &column) {
    SmallVector<Value> arrays;
    for (unsigned buffer : column.partials)
      arrays.push_back(emission.entry.buffers[buffer]);
    return arrays;
  }

  void emitPartial(Emission &emission, const Place &place, Value part) {
    makeBuffers(emission);
    Value size = emission.constant(partRows);
    Value begin = emission.mul(part, size);
    Value end =
        emission.min(emission.add(begin, size), emission.extent(extent));
    if (manyTasks)
      takeBlock(emission, place, begin, end);
    else
      takeChunk(emission, place, begin, end);
    Buffers taken = manyTasks ? &Column::block : &Column::chunk;
    eachColumn(emission, place, [&](Value at, const Lanes &lanes) {
      Value own = emission.sub(at, place.first);
      Value to = partialPlace(emission, place, part, at);
      for (const Column &column : columns)
        storeStates(emission, *column.combiner, partialsOf(emission, column),
                    to, lanes,
                    loadStates(emission, *column.combiner, column.*taken, own,
                               unmasked(lanes)));
    });
  }

  // into = merge(into, parts [part, part + count) in order), all of which are
  // read before.
  void mergeParts(Emission &emission, const Place &place, Buffers into,
                  Value part, int64_t count) {
    eachColumn(emission, place, [&](Value at, const Lanes &lanes) {
      Value own = emission.sub(at, place.first);
      for (const Column &column : columns) {
        SmallVector<Values> parts;
        for (int64_t i = 0; i < count; ++i) {
          Value number = emission.add(part, emission.constant(i));
          Value from = partialPlace(emission, place, number, at);
          parts.push_back(loadStates(emission, *column.combiner,
                                     partialsOf(emission, column), from,
                                     lanes));
        }
        Values state = loadStates(emission, *column.combiner, column.*into, own,
                                  unmasked(lanes));
        for (const Values &next : parts)
          state = column.combiner->merge(emission, state, next);
        storeStates(emission, *column.combiner, column.*into, own,
                    unmasked(lanes), state);
      }
    });
  }

  // As `mergeParts`, of all in [begin, end).
  void mergeRange(Emission &emission, const Place &place, Buffers into,
                  Value begin, Value end) {
    if (emission.target.traits().inOrder) {
      Value step = emission.constant(partsAtOnce);
      Value whole =
          emission.mul(emission.floorDiv(emission.sub(end, begin), step), step);
      Value middle = emission.add(begin, whole);
      emission.loop(begin, middle, partsAtOnce, [&](Value part) {
        mergeParts(emission, place, into, part, partsAtOnce);
      });
      begin = middle;
    }
    emission.loop(begin, end, 1, [&](Value part) {
      mergeParts(emission, place, into, part, 1);
    });
  }

  void emitMerge(Emission &emission, const Place &place, int64_t parts) {
    makeBuffers(emission);
    clear(emission, place, &Column::total);
    int64_t inChunk = canonicalChunk / partRows;
    Value zero = emission.constant(0), end = emission.constant(parts);
    if (inChunk == 1 || parts <= inChunk) {
      mergeRange(emission, place, &Column::total, zero, end);
      return emitOutputs(emission, place);
    }
    emission.loop(zero, end, inChunk, [&](Value begin) {
      clear(emission, place, &Column::chunk);
      Value size = emission.constant(inChunk);
      mergeRange(emission, place, &Column::chunk, begin,
                 emission.min(emission.add(begin, size), end));
      mergeInto(emission, place, &Column::total, &Column::chunk);
    });
    emitOutputs(emission, place);
  }

  // ---- what is stored ------------------------------------------------------

  // Makes a reduction's result known, here and no further out.
  void provide(Emission &emission, const Column &column, const Place &place,
               Value at, Value own, const Lanes &lanes) {
    Values state = loadStates(emission, *column.combiner, column.total, own,
                              unmasked(lanes));
    space.provide(emission, column.op->getResult(0), place, at, lanes,
                  column.combiner->finish(emission, state));
  }

  void emitOutputs(Emission &emission, const Place &place) {
    eachColumn(emission, place, [&](Value at, const Lanes &lanes) {
      Value own = emission.sub(at, place.first);
      for (const Column &column : columns)
        provide(emission, column, place, at, own, lanes);
      SmallVector<std::pair<Index, Element>> elements;
      for (const Sink &sink : sinks) {
        Index index = space.resultIndex(emission, sink.value, place, at, lanes);
        elements.push_back({index, emission.at(sink.value, index, lanes)});
      }
      for (auto [sink, stored] : llvm::zip(sinks, elements))
        storeToSink(emission, sink, stored.first, lanes, stored.second);
    });
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  const ColumnSpace &space;
  const SmallVector<Sink> sinks;
  SmallVector<Column, 2> columns;
  AffineExpr lead, width, extent;
  const bool manyTasks;
  const int64_t taskColumns;
  const int64_t partRows; ///< of a task, where there are few columns
  int64_t ownColumns;     ///< of a task of the phase at hand
};

} // namespace

Fit fitOfColumns(KernelWriter &writer, program::Skeleton skeleton,
                 program::Owner owner) {
  ColumnSpace space(writer.kernel);
  if (!space.isValid())
    return Fit::none;
  switch (skeleton) {
  case program::Skeleton::windows:
    return fitWindows(writer, space) ? Fit::best : Fit::none;
  case program::Skeleton::window_sums:
    return fitWindowSums(writer, space) ? Fit::best : Fit::none;
  default:
    return ColumnsSkeleton(writer, space).fit(owner);
  }
}

// A skeleton lives as long as the phases that it emits: they run at once.
void emitColumns(KernelWriter &writer, program::Skeleton skeleton,
                 program::Owner owner) {
  ColumnSpace space(writer.kernel);
  switch (skeleton) {
  case program::Skeleton::windows:
    return emitWindows(writer, space);
  case program::Skeleton::window_sums:
    return emitWindowSums(writer, space);
  default:
    ColumnsSkeleton(writer, space).run(owner);
  }
}

} // namespace sinter::compiler
