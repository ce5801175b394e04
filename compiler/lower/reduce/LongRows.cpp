/// Rows of any length that a block of threads works on together, where lanes
/// are threads: threads take columns, and go along the row once for each
/// reduction that needs another, and once to store. What they read again is
/// near.
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/kernel/KernelWriter.h"
#include "compiler/lower/reduce/BlockReducer.h"
#include "compiler/lower/reduce/RowSpace.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

using Values = Emission::Values;

// Shorter rows are those of a warp.
constexpr int64_t shortestRow = 2048;
constexpr int64_t threadsOfRow = 512;
// Elements that a thread has on their way, and its registers aside from those.
constexpr int64_t elementsAtOnce = 8, otherRegisters = 32;

class LongRows {
public:
  explicit LongRows(KernelWriter &writer)
      : writer(writer), kernel(writer.kernel), space(kernel),
        unit(writer.target.blockThreads()) {}

  // Threads sum columns of their own, which is another order than that of
  // `exact`.
  Fit fit() {
    bool fits = unit && writer.numerics != NumericsMode::exact &&
                space.find() && space.columns.empty() && hasRows() &&
                storesRows() &&
                reducer->numbers(space.reductions) <= unit->mostNumbers();
    if (!fits)
      return Fit::none;
    return length >= shortestRow ? Fit::best : Fit::possible;
  }

  void run() {
    writer.addBlockPhase(
        space.rows * reducer->warps(), [&](Emission &emission) {
          reducer->begin(emission, space.reductions,
                         otherRegisters +
                             together * neighbours * space.fullInputs());
          emission.within(emission.builder.getInsertionBlock(),
                          [&] { emitRow(emission, reducer->block.number); });
        });
  }

private:
  // ---- which kernels -------------------------------------------------------

  bool hasRows() {
    length = space.length;
    if (length < unit->warpThreads())
      return false;
    bool areShort = llvm::all_of(kernel.getInputs(), [&](Value input) {
      return !isFull(input) || elementOf(input).getIntOrFloatBitWidth() <= 16;
    });
    neighbours = areShort ? 8 : 4;
    while (length % neighbours != 0)
      neighbours /= 2;
    together = elementsAtOnce / neighbours;
    int64_t threads = std::min(threadsOfRow, unit->mostThreads());
    reducer.emplace(*unit, length, threads, neighbours, space.reductions.size(),
                    /*inOrder=*/false);
    stride = threads * neighbours;
    return true;
  }

  bool isFull(Value value) const { return space.isFull(value); }

  bool storesRows() {
    return llvm::all_of(kernel.getOutputs(), [&](Value output) {
      return isFull(output) || space.isNumber(output);
    });
  }

  // ---- one row -------------------------------------------------------------

  Index indexOf(Emission &emission, Value tensor, Value row, Value column) {
    return space.indexOf(emission, tensor, row, column, neighbours);
  }
  Lanes lanes() const { return Lanes{unsigned(neighbours), {}, false}; }

  void emitRow(Emission &emission, Value row) {
    for (size_t first = 0, count = 0; first < space.reductions.size();
         first += count) {
      ArrayRef<RowResult> rest = ArrayRef(space.reductions).drop_front(first);
      count = reducer->countTogether(rest);
      reduce(emission, rest.take_front(count), row, int64_t(first));
    }
    if (space.storesFull()) {
      auto store = [&](ArrayRef<Value> columns, ValueRange) {
        storeColumns(emission, row, columns);
        return Values();
      };
      walk(emission, {}, store);
      // A number of the row may take the place of one that threads read.
      reducer->wait(emission);
    }
    storeNumbers(emission, row);
  }

  using Body = llvm::function_ref<Values(ArrayRef<Value>, ValueRange)>;

  // The thread's columns, so many at a time, and what is left of the row.
  Values walk(Emission &emission, const Values &start, Body body) {
    Value own = reducer->columnOf(emission, 0);
    auto columnAt = [&](Value first, int64_t step) {
      return emission.add(emission.add(first, own),
                          emission.constant(step * stride));
    };
    int64_t whole = length / (stride * together) * (stride * together);
    Values states = emission.loop(
        emission.constant(0), emission.constant(whole), stride * together,
        start, [&](Value first, ValueRange carried) {
          SmallVector<Value> columns;
          for (int64_t step = 0; step < together; ++step)
            columns.push_back(columnAt(first, step));
          return body(columns, carried);
        });
    for (; whole < length; whole += stride) {
      Value column = columnAt(emission.constant(whole), 0);
      if (whole + stride <= length) {
        states = body({column}, states);
        continue;
      }
      Value isInside = BlockReducer::isBelow(emission, column, length);
      Values before = states;
      if (states.empty())
        emission.when(isInside, [&] { body({column}, {}); });
      else
        states = emission.branch(
            isInside, ValueRange(before).getTypes(),
            [&] { return body({column}, before); }, [&] { return before; });
    }
    return states;
  }

  void reduce(Emission &emission, ArrayRef<RowResult> results, Value row,
              int64_t first) {
    Values start;
    for (const RowResult &result : results)
      start.append(result.combiner->init(emission, unsigned(neighbours)));
    Values states =
        walk(emission, start, [&](ArrayRef<Value> columns, ValueRange carried) {
          SmallVector<Values> elements;
          for (Value column : columns)
            elements.push_back(elementsOf(emission, results, row, column));
          Values after(carried);
          for (const Values &some : elements)
            for (auto [result, state, element] :
                 llvm::zip(results, after, some))
              state = result.combiner
                          ->take(emission, {state},
                                 result.combiner->lift(emission, element, {}))
                          .front();
          return after;
        });
    SmallVector<BlockReducer::Part> parts;
    for (auto [result, state] : llvm::zip(results, states))
      parts.push_back({result, {state}});
    SmallVector<Element> known = reducer->reduce(emission, parts, first);
    for (auto [result, element] : llvm::zip(results, known)) {
      Value tensor = result.op->getResult(0);
      emission.provide(tensor, indexOf(emission, tensor, row, {}), Lanes{},
                       element);
      emission.setSource(tensor, makeKnown(tensor, element));
    }
  }

  Values elementsOf(Emission &emission, ArrayRef<RowResult> results, Value row,
                    Value column) {
    Values elements;
    for (const RowResult &result : results) {
      Value tensor = result.op->getOperand(0);
      elements.push_back(emission.vectorAt(
          tensor, indexOf(emission, tensor, row, column), lanes()));
    }
    return elements;
  }

  // All are known before one is stored: it may take an input's memory.
  void storeColumns(Emission &emission, Value row, ArrayRef<Value> columns) {
    SmallVector<Element> elements;
    auto each = [&](auto visit) {
      for (Value column : columns)
        for (auto [number, output] : llvm::enumerate(kernel.getOutputs()))
          if (isFull(output))
            visit(number, output, indexOf(emission, output, row, column));
    };
    each([&](size_t, Value output, const Index &index) {
      elements.push_back(emission.at(output, index, lanes()));
    });
    const Element *next = elements.begin();
    each([&](size_t number, Value output, const Index &index) {
      storeElements(emission,
                    emission.entry.buffers[writer.outputBuffer(number)], output,
                    index, lanes(), *next++);
    });
  }

  void storeNumbers(Emission &emission, Value row) {
    SmallVector<std::pair<size_t, Element>> elements;
    OperandRange outputs = kernel.getOutputs();
    for (auto [number, output] : llvm::enumerate(outputs))
      if (!isFull(output))
        elements.push_back(
            {number,
             emission.at(output, indexOf(emission, output, row, {}), Lanes{})});
    if (elements.empty())
      return;
    Value isFirst = BlockReducer::isBelow(emission, reducer->block.thread, 1);
    emission.when(isFirst, [&] {
      for (auto [number, element] : elements)
        storeElements(
            emission, emission.entry.buffers[writer.outputBuffer(number)],
            outputs[number], indexOf(emission, outputs[number], row, {}),
            Lanes{}, element);
    });
  }

  KernelWriter &writer;
  program::KernelOp kernel;
  RowSpace space;
  const BlockThreads *unit;
  int64_t length = 0;     ///< of a row
  int64_t neighbours = 0; ///< as of BlockReducer
  int64_t together = 0;   ///< vectors of a thread that are on their way
  int64_t stride = 0;     ///< from a thread's column to its next
  std::optional<BlockReducer> reducer;
};

} // namespace

Fit fitOfLongRows(KernelWriter &writer) { return LongRows(writer).fit(); }

void emitLongRows(KernelWriter &writer) {
  LongRows rows(writer);
  rows.fit(); // it finds out how
  rows.run();
}

} // namespace sinter::compiler
