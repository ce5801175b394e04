/// Rows that a block of threads works on together, where lanes are threads: a
/// row stands in the threads' registers, so that it is read once however many
/// passes there are. Threads take columns.
#include "compiler/lower/reduce/BlockRows.h"

#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/kernel/KernelWriter.h"
#include "compiler/lower/reduce/BlockColumns.h"
#include "compiler/lower/reduce/BlockReducer.h"
#include "compiler/lower/reduce/RowSpace.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Values = Emission::Values;
using graph::PatternKind;

// Shorter rows are those of a warp; longer ones have more than one chunk.
constexpr int64_t shortestRow = 2048, longestRow = canonicalChunk;
// Elements of a row that a thread has where the row's length allows that.
constexpr int64_t elementsOfThread = 16;
// Registers of a thread aside from elements.
constexpr int64_t otherRegisters = 32;

PatternKind kindOf(Operation *op) {
  return cast<ir::SinterOpInterface>(op).getPatternKind();
}

class BlockRows {
public:
  explicit BlockRows(KernelWriter &writer)
      : writer(writer), kernel(writer.kernel), space(kernel),
        unit(writer.target.blockThreads()) {}

  Fit fit() {
    bool fits = unit && canonicalLanes % unit->warpThreads() == 0 &&
                space.find() && space.length <= longestRow &&
                space.length % canonicalLanes == 0 && cutRow() &&
                takeColumns() && storesRows() &&
                reducer->numbers(space.reductions) <= unit->mostNumbers();
    if (!fits)
      return Fit::none;
    return isRowOfBlock(space.length) ? Fit::best : Fit::possible;
  }

  void run() {
    columns->announce();
    AffineExpr blocks = columns->empty() ? space.rows : columns->blocks();
    writer.addBlockPhase(blocks * reducer->warps(), [&](Emission &emission) {
      reducer->begin(emission, space.reductions, registers());
      emission.within(emission.builder.getInsertionBlock(), [&] {
        if (!columns->empty())
          return emitRows(emission);
        readRow(emission, reducer->block.number);
        emitRow(emission, reducer->block.number);
      });
    });
    if (!columns->empty())
      columns->addMergePhase();
  }

private:
  // ---- which kernels -------------------------------------------------------

  // Threads that have equally many elements, near to what they should have.
  bool cutRow() {
    // Beside sums of columns, 16 bytes of elements of two. Rows alone are
    // faster by shorter loads (on an H200, 16384 of 4096 elements: gradients of
    // layer_norm take 114 us by eights, 124 by fours; softmax 76.4 and 75.1).
    const int64_t length = space.length;
    bool byEights = !space.columns.empty() && holdsNextRow() &&
                    length % (unit->warpThreads() * 8) == 0;
    neighbours = byEights ? 8 : 4;
    int64_t best = 0;
    for (int64_t some = unit->warpThreads(); some <= unit->mostThreads();
         some += unit->warpThreads()) {
      if (length % (some * neighbours) != 0)
        continue;
      auto distance = [&](int64_t count) {
        return std::abs(length / count - elementsOfThread);
      };
      if (!best || distance(some) < distance(best))
        best = some;
    }
    constexpr int64_t mostElements = 2 * elementsOfThread;
    if (best)
      reducer.emplace(*unit, length, best, neighbours, space.reductions.size(),
                      writer.numerics == NumericsMode::exact);
    return best && length / best <= mostElements;
  }

  bool isFull(Value value) const { return space.isFull(value); }

  bool takeColumns() {
    columns.emplace(writer, space.rows, /*onlyColumns=*/false);
    for (RowResult &one : space.columns)
      columns->add(one.op, std::move(one.combiner));
    return columns->empty() || columns->canMerge();
  }

  bool storesRows() {
    return llvm::all_of(kernel.getOutputs(), [&](Value output) {
      return isFull(output) || columns->makes(output) || space.isNumber(output);
    });
  }

  // What a thread has of the inputs' rows and of what is made of them; of
  // columns also their states and what is read of each row.
  int64_t registers() {
    int64_t arrays = space.fullInputs() + 1;
    if (!columns->empty())
      arrays += int64_t(space.columns.size()) + 1;
    return otherRegisters + steps() * neighbours * arrays;
  }

  // ---- one row -------------------------------------------------------------

  Lanes lanes() const { return Lanes{unsigned(neighbours), {}, false}; }
  int64_t steps() const { return reducer->steps(); }
  Value columnOf(Emission &emission, int64_t step) {
    return reducer->columnOf(emission, step);
  }

  Index indexOf(Emission &emission, Value tensor, Value row, Value column) {
    return space.indexOf(emission, tensor, row, column, neighbours);
  }

  // The rows of a block of the canonical order.
  void emitRows(Emission &emission) {
    Value size = emission.constant(canonicalBlock);
    Value begin = emission.mul(reducer->block.number, size);
    Value end =
        emission.min(emission.add(begin, size), emission.extent(space.rows));
    Value one = emission.constant(1), last = emission.sub(end, one);
    SmallVector<Value> starts;
    for (int64_t step = 0; step < steps(); ++step)
      starts.push_back(columnOf(emission, step));
    readOnce(emission, starts);
    Values carried = columns->start(emission, steps(), lanes().count);
    size_t count = carried.size();
    if (holdsNextRow())
      llvm::append_range(carried, readRow(emission, begin));
    Values states = emission.loop(
        begin, end, 1, carried, [&](Value row, ValueRange carried) {
          Value next = emission.min(emission.add(row, one), last);
          Values held;
          if (holdsNextRow()) {
            provideRow(emission, row, carried.drop_front(count));
            held = readRow(emission, next);
          } else {
            readRow(emission, row);
            fetchRow(emission, next);
          }
          emitRow(emission, row);
          Values after = columns->take(
              emission, carried.take_front(count),
              [&](Value tensor) { return elementsOf(emission, tensor, row); });
          // The next row's numbers of warps take the place of this one's, which
          // all have read before they wait again.
          if (reducer->countTogether(space.reductions) ==
              space.reductions.size())
            reducer->wait(emission);
          llvm::append_range(after, held);
          return after;
        });
    columns->keep(emission, reducer->block.number,
                  ArrayRef(states).take_front(count), starts);
  }

  // What all rows read stays in registers.
  void readOnce(Emission &emission, ArrayRef<Value> starts) {
    for (BlockArgument input : kernel.getInputs()) {
      Shape own = shapeOf(input);
      if (own.size() != 1 || own.back() != space.shape.back())
        continue;
      for (Value column : starts) {
        Index index;
        index.tail = emission.along(column, neighbours);
        index.tailRank = 1;
        emission.at(input, index, lanes());
      }
    }
  }

  Values elementsOf(Emission &emission, Value tensor, Value row) {
    Values elements;
    for (int64_t step = 0; step < steps(); ++step)
      elements.push_back(emission.vectorAt(
          tensor, indexOf(emission, tensor, row, columnOf(emission, step)),
          lanes()));
    return elements;
  }

  // What it reads of the inputs has been read.
  void emitRow(Emission &emission, Value row) {
    for (size_t first = 0, count = 0; first < space.reductions.size();
         first += count) {
      ArrayRef<RowResult> rest = ArrayRef(space.reductions).drop_front(first);
      count = reducer->countTogether(rest);
      reduce(emission, rest.take_front(count), row, int64_t(first));
    }
    storeRow(emission, row);
  }

  // Elements of two bytes wait in registers while the row before is worked on;
  // wider ones would take too many.
  bool holdsNextRow() {
    return llvm::all_of(kernel.getInputs(), [&](Value input) {
      return !isFull(input) || elementOf(input).getIntOrFloatBitWidth() == 16;
    });
  }

  // All that is read of the row is on its way at once.
  Values readRow(Emission &emission, Value row) {
    Values elements;
    for (BlockArgument input : kernel.getInputs())
      if (isFull(input))
        llvm::append_range(elements, elementsOf(emission, input, row));
    return elements;
  }

  // As read by `readRow` before.
  void provideRow(Emission &emission, Value row, ValueRange elements) {
    for (BlockArgument input : kernel.getInputs())
      for (int64_t step = 0; isFull(input) && step < steps(); ++step) {
        emission.provide(
            input, indexOf(emission, input, row, columnOf(emission, step)),
            lanes(), Element{elements.front()});
        elements = elements.drop_front();
      }
  }

  // Asks for a row that is read next.
  void fetchRow(Emission &emission, Value row) {
    for (BlockArgument input : kernel.getInputs())
      for (int64_t step = 0; isFull(input) && step < steps(); ++step) {
        Index index = indexOf(emission, input, row, columnOf(emission, step));
        unit->fetch(emission.builder, emission.loc,
                    emission.buffers[input.getArgNumber()],
                    emission.linearize(index, shapeOf(input)).base);
      }
  }

  // All is known before anything is stored: it may take an input's memory.
  void storeRow(Emission &emission, Value row) {
    for (Value output : kernel.getOutputs())
      if (!columns->makes(output))
        for (Value column : startsOf(emission, output))
          elementAt(emission, output, row, column);
    for (auto [number, output] : llvm::enumerate(kernel.getOutputs())) {
      if (columns->makes(output))
        continue;
      Value buffer = emission.entry.buffers[writer.outputBuffer(number)];
      auto store = [&, output = output] {
        for (Value column : startsOf(emission, output))
          storeElements(emission, buffer, output,
                        indexOf(emission, output, row, column),
                        column ? lanes() : Lanes{},
                        elementAt(emission, output, row, column));
      };
      if (isFull(output))
        store();
      else
        emission.when(reducer->isBelow(emission, reducer->block.thread, 1),
                      store);
    }
  }

  // Where a thread has elements of a row; null for the one of the whole row.
  SmallVector<Value> startsOf(Emission &emission, Value output) {
    if (!isFull(output))
      return {Value()};
    SmallVector<Value> starts;
    for (int64_t step = 0; step < steps(); ++step)
      starts.push_back(columnOf(emission, step));
    return starts;
  }

  Element elementAt(Emission &emission, Value output, Value row, Value column) {
    return emission.at(output, indexOf(emission, output, row, column),
                       column ? lanes() : Lanes{});
  }

  void reduce(Emission &emission, ArrayRef<RowResult> results, Value row,
              int64_t first) {
    SmallVector<BlockReducer::Part> parts;
    for (const RowResult &result : results)
      parts.push_back(
          {result, elementsOf(emission, result.op->getOperand(0), row)});
    SmallVector<Element> elements = reducer->reduce(emission, parts, first);
    for (auto [result, element] : llvm::zip(results, elements)) {
      Value tensor = result.op->getResult(0);
      emission.provide(tensor, indexOf(emission, tensor, row, {}), Lanes{},
                       element);
      emission.setSource(tensor, makeKnown(tensor, element));
    }
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  RowSpace space;
  const BlockThreads *unit;
  std::optional<BlockColumns> columns;
  int64_t neighbours = 0; ///< as of BlockReducer
  std::optional<BlockReducer> reducer;
};

} // namespace

bool isRowOfBlock(int64_t length) {
  return length >= shortestRow && length <= longestRow &&
         length % canonicalLanes == 0;
}

bool joinsBlockRows(Operation *op) {
  PatternKind kind = kindOf(op);
  if (kind != PatternKind::reduction)
    return kind == PatternKind::pointwise || kind == PatternKind::source ||
           ir::keepsLinearOrder(op) || ir::repeatsElements(op);
  auto combiner = makeCombiner(op->getResult(0));
  return combiner && !combiner->needsPosition() &&
         combiner->types().size() == 1 && combiner->types().front().isF32();
}

Fit fitOfBlockRows(KernelWriter &writer) { return BlockRows(writer).fit(); }

void emitBlockRows(KernelWriter &writer) {
  BlockRows rows(writer);
  rows.fit(); // it finds out how
  rows.run();
}

} // namespace sinter::compiler
