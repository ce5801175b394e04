/// Columns of the rows that blocks of threads work on.
#include "compiler/lower/BlockColumns.h"

#include "compiler/lower/ColumnSpace.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/ReductionOrder.h"
#include "compiler/target/BlockThreads.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::compiler {

// Columns that a block of threads merges the states of: each thread of a warp
// has one.
static constexpr int64_t mergedColumns = 32, mergeThreads = 256;

void BlockColumns::add(Operation *op, std::shared_ptr<Combiner> combiner,
                       unsigned workspace) {
  statistics.push_back({op, std::move(combiner), workspace});
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

void BlockColumns::keep(Emission &emission, Value block, ValueRange states,
                        ArrayRef<Value> columns) const {
  for (const Statistic &statistic : statistics)
    for (Value column : columns) {
      Value state = states.front();
      states = states.drop_front();
      unsigned lanes = cast<VectorType>(state.getType()).getNumElements();
      storeStates(
          emission, *statistic.combiner,
          {emission.entry.buffers[statistic.workspace]},
          emission.add(emission.mul(block, emission.extent(width())), column),
          Lanes{lanes, {}, false}, {state});
    }
}

// ---- merging ---------------------------------------------------------------

namespace {

// A block of threads merges the states of some columns: all bring those of a
// chunk of the canonical order to the memory that they share, then a warp for
// each reduction merges them, a thread for each column.
class Merger {
public:
  using Values = Emission::Values;
  using Statistics = ArrayRef<BlockColumns::Statistic>;

  Merger(Emission &emission, Statistics statistics, AffineExpr blocks,
         AffineExpr width)
      : emission(emission), unit(*emission.target.blockThreads()),
        statistics(statistics), blocks(blocks), width(width) {}

  static int64_t numbers(size_t statistics) {
    return int64_t(statistics) * (blocksOfChunk + 1) * mergedColumns;
  }

  // The total of each reduction in the column at hand, known to the threads of
  // the first warp.
  Values run() {
    block =
        unit.begin(emission.builder, emission.loc, emission.entry, mergeThreads,
                   numbers(statistics.size()), 2 * loadsOfThread());
    Value columns = emission.constant(mergedColumns);
    lane = emission.mod(block.thread, columns);
    warp = emission.floorDiv(block.thread, columns);
    column = emission.add(emission.mul(block.number, columns), lane);
    Values start;
    for (const auto &statistic : statistics)
      start.append(statistic.combiner->init(emission, 1));
    Value all = emission.extent(blocks);
    Values totals = emission.loop(
        emission.constant(0), all, blocksOfChunk, start,
        [&](Value begin, ValueRange carried) {
          Value end = emission.min(
              emission.add(begin, emission.constant(blocksOfChunk)), all);
          return mergeChunk(begin, end, carried);
        });
    return share(totals);
  }

  Value column;
  BlockThreads::Block block;

private:
  static constexpr int64_t blocksOfChunk = canonicalChunk / canonicalBlock;
  static constexpr int64_t warps = mergeThreads / mergedColumns;
  static constexpr int64_t loadsOfThread() { return blocksOfChunk / warps; }

  void wait() { unit.wait(emission.builder, emission.loc); }

  // Of a reduction's number `row`, counted in rows of columns, in the memory.
  Value placeOf(size_t statistic, Value row) {
    Value first = emission.constant(int64_t(statistic) * blocksOfChunk);
    return emission.add(emission.mul(emission.add(first, row),
                                     emission.constant(mergedColumns)),
                        lane);
  }

  Value load(Value place) {
    return memref::LoadOp::create(emission.builder, emission.loc, block.memory,
                                  place);
  }

  void store(Value value, Value place) {
    memref::StoreOp::create(emission.builder, emission.loc, value, block.memory,
                            place);
  }

  // Beyond the last block that is read again, and not merged.
  void bring(Value begin, Value end) {
    Value last = emission.sub(end, emission.constant(1));
    Values states;
    auto rowOf = [&](int64_t load) {
      return emission.add(warp, emission.constant(load * warps));
    };
    for (const auto &statistic : statistics)
      for (int64_t number = 0; number < loadsOfThread(); ++number) {
        Value from = emission.min(emission.add(begin, rowOf(number)), last);
        Value place =
            emission.add(emission.mul(from, emission.extent(width)), column);
        states.append(loadStates(emission, *statistic.combiner,
                                 {emission.entry.buffers[statistic.workspace]},
                                 place, Lanes{}));
      }
    for (auto [number, state] : llvm::enumerate(states))
      store(state, placeOf(number / loadsOfThread(),
                           rowOf(int64_t(number) % loadsOfThread())));
  }

  Value isWarp(size_t number) {
    return arith::CmpIOp::create(emission.builder, emission.loc,
                                 arith::CmpIPredicate::eq, warp,
                                 emission.constant(int64_t(number)));
  }

  Values mergeChunk(Value begin, Value end, ValueRange carried) {
    bring(begin, end);
    wait();
    Values totals;
    for (size_t number = 0; number < statistics.size(); ++number) {
      const Combiner &combiner = *statistics[number].combiner;
      Value before = carried[number];
      totals.append(emission.branch(
          isWarp(number), before.getType(),
          [&] {
            return combiner.merge(emission, {before},
                                  merged(number, emission.sub(end, begin)));
          },
          [&] { return Values{before}; }));
    }
    wait();
    return totals;
  }

  // The first `count` states of a chunk.
  Values merged(size_t number, Value count) {
    constexpr int64_t together = 16;
    const Combiner &combiner = *statistics[number].combiner;
    auto merge = [&](Value first, Value last, int64_t step, Values start) {
      return emission.loop(
          first, last, step, start, [&](Value row, ValueRange carried) {
            Values state(carried);
            for (int64_t next = 0; next < step; ++next)
              state = combiner.merge(
                  emission, state,
                  {load(placeOf(number,
                                emission.add(row, emission.constant(next))))});
            return state;
          });
    };
    Value step = emission.constant(together);
    Value whole = emission.mul(emission.floorDiv(count, step), step);
    Values state = merge(emission.constant(0), whole, together,
                         combiner.init(emission, 1));
    return merge(whole, count, 1, state);
  }

  Values share(const Values &totals) {
    auto placeOfTotal = [&](size_t number) {
      int64_t row =
          int64_t(statistics.size()) * blocksOfChunk + int64_t(number);
      return emission.add(emission.constant(row * mergedColumns), lane);
    };
    for (auto [number, total] : llvm::enumerate(totals))
      emission.when(isWarp(number), [&, number = number, total = total] {
        store(total, placeOfTotal(number));
      });
    wait();
    Values shared;
    for (size_t number = 0; number < totals.size(); ++number)
      shared.push_back(load(placeOfTotal(number)));
    return shared;
  }

  Emission &emission;
  const BlockThreads &unit;
  Statistics statistics;
  AffineExpr blocks, width;
  Value lane, warp;
};

} // namespace

void BlockColumns::finish(Emission &emission, Value column,
                          ArrayRef<Value> totals) const {
  auto indexOf = [&](Value tensor) {
    Index index;
    index.tail = emission.uniform(column);
    index.tailRank = shapeOf(tensor).size();
    return index;
  };
  for (auto [statistic, total] : llvm::zip(statistics, totals)) {
    Value result = statistic.op->getResult(0);
    Element element{statistic.combiner->finish(emission, {total})};
    emission.provide(result, indexOf(result), Lanes{}, element);
    emission.setSource(result, makeKnown(result, element));
  }
  for (auto [number, output] : llvm::enumerate(writer.kernel.getOutputs()))
    if (makes(output))
      storeElements(emission,
                    emission.entry.buffers[writer.outputBuffer(number)], output,
                    indexOf(output), Lanes{},
                    emission.at(output, indexOf(output), Lanes{}));
}

bool BlockColumns::canMerge() const {
  const BlockThreads *unit = writer.target.blockThreads();
  return unit && unit->warpThreads() == mergedColumns &&
         statistics.size() <= mergeThreads / mergedColumns &&
         Merger::numbers(statistics.size()) <= unit->mostNumbers() &&
         constantOf(width()) % mergedColumns == 0 && constantOf(width()) > 0;
}

void BlockColumns::addMergePhase() {
  AffineExpr tasks = width().floorDiv(mergedColumns);
  writer.addBlockPhase(
      tasks * (mergeThreads / mergedColumns), [&](Emission &emission) {
        Merger merger(emission, statistics, blocks(), width());
        Values totals = merger.run();
        Value isFirst = arith::CmpIOp::create(
            emission.builder, emission.loc, arith::CmpIPredicate::ult,
            merger.block.thread, emission.constant(mergedColumns));
        emission.when(isFirst,
                      [&] { finish(emission, merger.column, totals); });
      });
}

} // namespace sinter::compiler
