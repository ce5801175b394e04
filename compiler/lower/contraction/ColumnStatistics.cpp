/// Column statistics: which kernels have them, and how columns are taken in.
#include "compiler/lower/contraction/ColumnStatistics.h"

#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

// Columns of a task of the last phase.
constexpr int64_t taskColumns = 512;
// Vectors that are taken side by side: a sum's next addition waits for the one
// before it.
constexpr unsigned vectorsTogether = 4;

static bool isOfKind(Operation &op, PatternKind kind) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  return described && described.getPatternKind() == kind;
}

bool hasColumnStatistics(program::KernelOp kernel) {
  bool multiplies = false, reduces = false;
  for (Operation &op : kernel.getBlock()) {
    multiplies |= isOfKind(op, PatternKind::contraction);
    reduces |= isOfKind(op, PatternKind::reduction) &&
               canonicalOrder(&op) == CanonicalOrder::blocks;
  }
  return multiplies && reduces;
}

static bool refuse(std::string *why, const llvm::Twine &text) {
  if (why)
    *why = text.str();
  return false;
}

// The values that a reduction decides.
static llvm::DenseSet<Value> afterReductions(program::KernelOp kernel) {
  llvm::DenseSet<Value> after;
  for (Operation &op : kernel.getBlock()) {
    bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return after.contains(operand);
    });
    if (op.getNumResults() == 1 &&
        (follows || isOfKind(op, PatternKind::reduction)))
      after.insert(op.getResult(0));
  }
  return after;
}

// Whether elements of the output lie where those of the sink's value do.
static bool liesAsProduct(const Sink &sink) {
  return llvm::all_of(sink.views, ir::keepsLinearOrder);
}

// Whether `value` can be computed from what is stored, without the product.
static bool readsStoredOnly(Value value, Value product,
                            const llvm::DenseSet<Value> &stored) {
  llvm::SmallSetVector<Value, 16> behind;
  behind.insert(value);
  for (unsigned next = 0; next < behind.size(); ++next) {
    if (stored.contains(behind[next]))
      continue;
    if (behind[next] == product)
      return false;
    if (Operation *op = behind[next].getDefiningOp())
      behind.insert_range(op->getOperands());
  }
  return true;
}

bool takesColumnsOf(Value product, program::KernelOp kernel, std::string *why) {
  ColumnSpace space(kernel);
  Shape shape = shapeOf(product);
  if (!space.hasReductions() || space.shape != shape ||
      space.axes.size() + 1 != shape.size() ||
      space.isReduced(shape.size() - 1))
    return refuse(why, "reductions beside a contraction take its columns");
  llvm::DenseSet<Value> after = afterReductions(kernel), stored;
  for (Value output : kernel.getOutputs()) {
    if (after.contains(output)
            ? space.isResult(output)
            : shapeOf(output) != shape && space.isResult(output))
      continue;
    auto sink = makeSink(output, shape, 0);
    if (after.contains(output) || !sink)
      return refuse(why, "outputs have an element for each of a product or of "
                         "its columns");
    if (liesAsProduct(*sink))
      stored.insert(sink->value);
  }
  for (Operation *op : space.reductions)
    if (!readsStoredOnly(op->getOperand(0), product, stored))
      return refuse(why, "a product whose columns are reduced is stored");
  return true;
}

SmallVector<Sink> sinksOfProduct(Value product, KernelWriter &writer) {
  ColumnSpace space(writer.kernel);
  Shape shape = shapeOf(product);
  llvm::DenseSet<Value> after = afterReductions(writer.kernel);
  SmallVector<Sink> sinks;
  for (auto [number, output] : llvm::enumerate(writer.kernel.getOutputs())) {
    bool isColumn = after.contains(output) ||
                    (shapeOf(output) != shape && space.isResult(output));
    if (!isColumn)
      sinks.push_back(*makeSink(output, shape, writer.outputBuffer(number)));
  }
  return sinks;
}

namespace {

/// What a sink has stored.
class StoredValue final : public ElementSource {
public:
  explicit StoredValue(const Sink &sink)
      : ElementSource(sink.value), buffer(sink.buffer) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    return Element{loadElements(emission, emission.entry.buffers[buffer],
                                tensor, index, lanes)};
  }

private:
  unsigned buffer;
};

} // namespace

ColumnStatistics::ColumnStatistics(KernelWriter &writer, ArrayRef<Sink> given)
    : writer(writer), sinks(given), space(writer.kernel) {
  AffineExpr states = space.extent.ceilDiv(canonicalBlock) * space.width;
  for (Operation *op : space.reductions) {
    Statistic statistic{op, makeCombiner(op->getResult(0)), {}};
    for (Type type : statistic.combiner->types())
      statistic.workspaces.push_back(writer.addWorkspace(states, type));
    statistics.push_back(std::move(statistic));
  }
}

// ---- blocks
// -------------------------------------------------------------------

unsigned ColumnStatistics::lanesOf(int64_t columns) const {
  unsigned one = space.lanesOf(writer.target);
  for (unsigned together = vectorsTogether; together > 1; together /= 2)
    if (columns > 0 && columns % (int64_t(together) * one) == 0)
      return together * one;
  return one;
}

ColumnSpace::Place ColumnStatistics::place(Emission &emission) const {
  return {emission.constant(0), emission.constant(0),
          emission.extent(space.width)};
}

Value ColumnStatistics::placeOf(Emission &emission, Value block,
                                Value column) const {
  return emission.add(emission.mul(block, emission.extent(space.width)),
                      column);
}

SmallVector<Value>
ColumnStatistics::arraysOf(Emission &emission,
                           const Statistic &statistic) const {
  SmallVector<Value> arrays;
  for (unsigned workspace : statistic.workspaces)
    arrays.push_back(emission.entry.buffers[workspace]);
  return arrays;
}

void ColumnStatistics::readStored(Emission &emission) {
  for (const Sink &sink : sinks)
    if (liesAsProduct(sink))
      emission.setSource(sink.value, std::make_unique<StoredValue>(sink));
  emission.keepReadsInside();
}

void ColumnStatistics::takeInside(Emission &emission, const Part &part) {
  readStored(emission);
  Value size = emission.constant(canonicalBlock);
  Value up = emission.constant(canonicalBlock - 1);
  Value first = emission.floorDiv(emission.add(part.firstRow, up), size);
  // The last block of all may be a short one.
  Value rows = emission.extent(space.extent);
  Value isLast =
      arith::CmpIOp::create(emission.builder, emission.loc,
                            arith::CmpIPredicate::eq, part.endRow, rows);
  Value whole = emission.floorDiv(part.endRow, size);
  Value all = emission.floorDiv(emission.add(part.endRow, up), size);
  Value end = arith::SelectOp::create(emission.builder, emission.loc, isLast,
                                      all, whole);
  emission.loop(first, end, 1,
                [&](Value block) { takeBlock(emission, block, part); });
}

void ColumnStatistics::takeBorder(Emission &emission, const Part &part) {
  readStored(emission);
  Value size = emission.constant(canonicalBlock);
  Value block = emission.floorDiv(part.endRow, size);
  Value begin = emission.mul(block, size);
  Value rows = emission.extent(space.extent);
  // A loop of one round or none.
  auto holds = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(emission.builder, emission.loc, predicate, a,
                                 b);
  };
  using P = arith::CmpIPredicate;
  Value isCut = holds(P::slt, begin, part.endRow);
  Value isOwn = holds(P::sge, begin, part.firstRow);
  Value isInner = holds(P::slt, part.endRow, rows);
  for (Value also : {isOwn, isInner})
    isCut = arith::AndIOp::create(emission.builder, emission.loc, isCut, also);
  emission.when(isCut, [&] { takeBlock(emission, block, part); });
}

void ColumnStatistics::takeBlock(Emission &emission, Value block,
                                 const Part &part) {
  Value size = emission.constant(canonicalBlock);
  Value begin = emission.mul(block, size);
  Value end =
      emission.min(emission.add(begin, size), emission.extent(space.extent));
  // Vectors that all columns are made of need not be what a part is made of.
  int64_t divisor = space.divisorOf(part.columnBlock);
  eachColumn(emission, part.firstColumn, part.endColumn, lanesOf(divisor),
             divisor, [&](Value column, const Lanes &lanes) {
               Values states = statesOf(emission, begin, end, column, lanes);
               Value to = placeOf(emission, block, column);
               ArrayRef<Value> rest = states;
               for (const Statistic &statistic : statistics) {
                 size_t count = statistic.workspaces.size();
                 storeStates(emission, *statistic.combiner,
                             arraysOf(emission, statistic), to, lanes,
                             Values(rest.take_front(count)));
                 rest = rest.drop_front(count);
               }
             });
}

// The states of rows [begin, end), those of all reductions side by side.
ColumnStatistics::Values ColumnStatistics::statesOf(Emission &emission,
                                                    Value begin, Value end,
                                                    Value column,
                                                    const Lanes &lanes) {
  Values start;
  for (const Statistic &statistic : statistics)
    start.append(statistic.combiner->start(
        emission, lanes.count,
        ColumnSpace::positionAt(emission, *statistic.combiner, begin, lanes)));
  return emission.loop(
      begin, end, 1, start, [&](Value row, ValueRange carried) {
        Values states;
        for (const Statistic &statistic : statistics) {
          const Combiner &combiner = *statistic.combiner;
          Values own(carried.take_front(statistic.workspaces.size()));
          carried = carried.drop_front(own.size());
          Index index = space.operandIndex(emission, statistic.op,
                                           place(emission), row, column, lanes);
          Value element =
              emission.vectorAt(statistic.op->getOperand(0), index, lanes);
          Value position =
              ColumnSpace::positionAt(emission, combiner, row, lanes);
          states.append(combiner.take(
              emission, own, combiner.lift(emission, element, position)));
        }
        return states;
      });
}

// ---- merging
// ------------------------------------------------------------------

void ColumnStatistics::addMergePhase() {
  int64_t rows = constantOf(space.extent), columns = constantOf(space.width);
  double blocks = double(rows < 0 ? 64 : rows / canonicalBlock + 1);
  double width =
      double(columns < 0 ? taskColumns : std::min(columns, taskColumns));
  int64_t divisor = space.divisorOf(taskColumns);
  writer.addPhase(space.width.ceilDiv(taskColumns), 0.0005 * blocks * width,
                  [&](Emission &emission, Value task) {
                    Value first =
                        emission.mul(task, emission.constant(taskColumns));
                    Value end = emission.min(
                        emission.add(first, emission.constant(taskColumns)),
                        emission.extent(space.width));
                    eachColumn(emission, first, end, lanesOf(divisor), divisor,
                               [&](Value column, const Lanes &lanes) {
                                 finishColumns(emission, column, lanes);
                               });
                  });
}

ColumnStatistics::Values
ColumnStatistics::mergeBlocks(Emission &emission, const Statistic &statistic,
                              Value first, Value end, Value column,
                              const Lanes &lanes) {
  const Combiner &combiner = *statistic.combiner;
  SmallVector<Value> arrays = arraysOf(emission, statistic);
  return emission.loop(
      first, end, 1, combiner.init(emission, lanes.count),
      [&](Value block, ValueRange carried) {
        Value at = placeOf(emission, block, column);
        Values state = loadStates(emission, combiner, arrays, at, lanes);
        return combiner.merge(emission, Values(carried), state);
      });
}

ColumnStatistics::Values ColumnStatistics::mergeAll(Emission &emission,
                                                    const Statistic &statistic,
                                                    Value column,
                                                    const Lanes &lanes) {
  constexpr int64_t blocksOfChunk = canonicalChunk / canonicalBlock;
  const Combiner &combiner = *statistic.combiner;
  Value zero = emission.constant(0);
  Value blocks = emission.extent(space.extent.ceilDiv(canonicalBlock));
  int64_t rows = constantOf(space.extent);
  if (rows >= 0 && rows <= canonicalChunk)
    return mergeBlocks(emission, statistic, zero, blocks, column, lanes);
  return emission.loop(
      zero, blocks, blocksOfChunk, combiner.init(emission, lanes.count),
      [&](Value first, ValueRange carried) {
        Value end = emission.min(
            emission.add(first, emission.constant(blocksOfChunk)), blocks);
        Values chunk =
            mergeBlocks(emission, statistic, first, end, column, lanes);
        return combiner.merge(emission, Values(carried), chunk);
      });
}

void ColumnStatistics::finishColumns(Emission &emission, Value column,
                                     const Lanes &lanes) {
  ColumnSpace::Place where = place(emission);
  for (const Statistic &statistic : statistics)
    space.provide(emission, statistic.op->getResult(0), where, column, lanes,
                  statistic.combiner->finish(
                      emission, mergeAll(emission, statistic, column, lanes)));
  struct Store {
    unsigned buffer;
    Value output;
    Index index;
    Element element;
  };
  SmallVector<Store> stores;
  for (auto [number, output] : llvm::enumerate(writer.kernel.getOutputs())) {
    unsigned buffer = writer.outputBuffer(number);
    if (llvm::any_of(sinks,
                     [&](const Sink &sink) { return sink.buffer == buffer; }))
      continue;
    Index index = space.resultIndex(emission, output, where, column, lanes);
    stores.push_back(
        {buffer, output, index, emission.at(output, index, lanes)});
  }
  for (const Store &store : stores)
    storeElements(emission, emission.entry.buffers[store.buffer], store.output,
                  store.index, lanes, store.element);
}

} // namespace sinter::compiler
