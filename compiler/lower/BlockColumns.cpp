/// Columns of the rows that blocks of threads work on.
#include "compiler/lower/BlockColumns.h"

#include "compiler/lower/ColumnSpace.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/ReductionOrder.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::compiler {

// Columns of a task of the last phase: each thread has one. States of blocks
// that are read at a time.
static constexpr int64_t mergedColumns = 32, mergedBlocks = 32;

void BlockColumns::add(Operation *op, std::unique_ptr<Combiner> combiner) {
  statistics.push_back({op, std::move(combiner), 0});
}

bool BlockColumns::makes(Value output) const {
  llvm::SmallSetVector<Value, 16> behind;
  behind.insert(output);
  for (unsigned next = 0; next < behind.size(); ++next) {
    Operation *op = behind[next].getDefiningOp();
    if (llvm::any_of(statistics, [&](const Statistic &statistic) {
          return statistic.op == op;
        }))
      return true;
    if (op)
      behind.insert_range(op->getOperands());
  }
  return false;
}

AffineExpr BlockColumns::width() const {
  return shapeOf(statistics.front().op->getOperand(0)).back();
}

AffineExpr BlockColumns::blocks() const { return rows.ceilDiv(canonicalBlock); }

void BlockColumns::announce() {
  for (Statistic &statistic : statistics)
    statistic.workspace = writer.addWorkspace(
        blocks() * width(), statistic.combiner->types().front());
}

BlockColumns::Values BlockColumns::start(Emission &emission, int64_t steps,
                                         unsigned lanes) const {
  Values states;
  for (const Statistic &statistic : statistics)
    states.append(steps, statistic.combiner->init(emission, lanes).front());
  return states;
}

BlockColumns::Values BlockColumns::take(Emission &emission, ValueRange states,
                                        ElementsOf elementsOf) const {
  Values after;
  for (const Statistic &statistic : statistics) {
    const Combiner &combiner = *statistic.combiner;
    for (Value element : elementsOf(statistic.op->getOperand(0))) {
      Value before = states[after.size()];
      after.push_back(
          combiner
              .take(emission, {before}, combiner.lift(emission, element, {}))
              .front());
    }
  }
  return after;
}

Value BlockColumns::placeOf(Emission &emission, Value block,
                            Value column) const {
  return emission.add(emission.mul(block, emission.extent(width())), column);
}

void BlockColumns::keep(Emission &emission, Value block, ValueRange states,
                        ArrayRef<Value> columns) const {
  for (const Statistic &statistic : statistics)
    for (Value column : columns) {
      Value state = states.front();
      states = states.drop_front();
      unsigned lanes = cast<VectorType>(state.getType()).getNumElements();
      storeStates(emission, *statistic.combiner,
                  {emission.entry.buffers[statistic.workspace]},
                  placeOf(emission, block, column), Lanes{lanes, {}, false},
                  {state});
    }
}

// ---- merging ---------------------------------------------------------------

// States are read before the first of them is merged.
Value BlockColumns::mergeBlocks(Emission &emission, const Statistic &statistic,
                                Value begin, Value end, Value column,
                                const Lanes &lanes) const {
  const Combiner &combiner = *statistic.combiner;
  auto merge = [&](Value first, Value last, int64_t count, Values start) {
    return emission.loop(
        first, last, count, start, [&](Value block, ValueRange carried) {
          SmallVector<Values> states;
          for (int64_t next = 0; next < count; ++next)
            states.push_back(loadStates(
                emission, combiner,
                {emission.entry.buffers[statistic.workspace]},
                placeOf(emission, emission.add(block, emission.constant(next)),
                        column),
                lanes));
          Values all(carried);
          for (const Values &state : states)
            all = combiner.merge(emission, all, state);
          return all;
        });
  };
  Value step = emission.constant(mergedBlocks);
  Value whole =
      emission.mul(emission.floorDiv(emission.sub(end, begin), step), step);
  Value middle = emission.add(begin, whole);
  Values state =
      merge(begin, middle, mergedBlocks, combiner.init(emission, lanes.count));
  return merge(middle, end, 1, state).front();
}

// Chunks of the canonical order one after the other.
Value BlockColumns::mergeAll(Emission &emission, const Statistic &statistic,
                             Value column, const Lanes &lanes) const {
  constexpr int64_t blocksOfChunk = canonicalChunk / canonicalBlock;
  const Combiner &combiner = *statistic.combiner;
  Value all = emission.extent(blocks());
  return emission
      .loop(emission.constant(0), all, blocksOfChunk,
            combiner.init(emission, lanes.count),
            [&](Value begin, ValueRange carried) {
              Value end = emission.min(
                  emission.add(begin, emission.constant(blocksOfChunk)), all);
              Value chunk =
                  mergeBlocks(emission, statistic, begin, end, column, lanes);
              return combiner.merge(emission, Values(carried), {chunk});
            })
      .front();
}

void BlockColumns::finish(Emission &emission, Value column,
                          const Lanes &lanes) const {
  auto indexOf = [&](Value tensor) {
    Index index;
    index.tail = emission.along(column, lanes.count);
    index.tailRank = shapeOf(tensor).size();
    return index;
  };
  for (const Statistic &statistic : statistics) {
    Value result = statistic.op->getResult(0);
    Value state = mergeAll(emission, statistic, column, lanes);
    Element element{statistic.combiner->finish(emission, {state})};
    emission.provide(result, indexOf(result), lanes, element);
    emission.setSource(result, makeKnown(result, element));
  }
  for (auto [number, output] : llvm::enumerate(writer.kernel.getOutputs()))
    if (makes(output))
      storeElements(
          emission, emission.entry.buffers[writer.outputBuffer(number)], output,
          indexOf(output), lanes, emission.at(output, indexOf(output), lanes));
}

void BlockColumns::addMergePhase() {
  Lanes lanes{unsigned(mergedColumns), {}, false};
  AffineExpr tasks = width().floorDiv(mergedColumns);
  writer.addPhase(tasks, 1, [&](Emission &emission, Value task) {
    finish(emission, emission.mul(task, emission.constant(mergedColumns)),
           lanes);
  });
}

} // namespace sinter::compiler
