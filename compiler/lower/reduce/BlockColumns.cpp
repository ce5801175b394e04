/// Columns of the rows that blocks of threads work on.
#include "compiler/lower/reduce/BlockColumns.h"

#include "compiler/analysis/OpsBehind.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/reduce/BlockMerge.h"
#include "compiler/lower/reduce/ColumnSpace.h"

using namespace mlir;

namespace sinter::compiler {

void BlockColumns::add(Operation *op, std::shared_ptr<Combiner> combiner,
                       unsigned workspace) {
  statistics.push_back({op, std::move(combiner), workspace});
}

bool BlockColumns::makes(Value output) const {
  auto behind = opsBehind(output);
  return llvm::any_of(statistics, [&](const Statistic &statistic) {
    return behind.contains(statistic.op);
  });
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

using Values = Emission::Values;
using Statistics = ArrayRef<BlockColumns::Statistic>;

/// States of blocks of rows, merged as the statistics' combiners do it.
class MergedStates : public MergedNumbers {
public:
  using Finish = std::function<void(Emission &, Value, const Values &)>;
  MergedStates(Statistics statistics, Finish store)
      : statistics(statistics), store(std::move(store)) {}

  size_t count() const override { return statistics.size(); }
  Value init(Emission &emission, size_t number) const override {
    return statistics[number].combiner->init(emission, 1).front();
  }
  Value merge(Emission &emission, size_t number, Value a,
              Value b) const override {
    return statistics[number].combiner->merge(emission, {a}, {b}).front();
  }
  void finish(Emission &emission, Value column,
              const Values &totals) const override {
    store(emission, column, totals);
  }

protected:
  const Statistics statistics;

private:
  const Finish store;
};

/// Those that another phase has kept.
class KeptStates final : public MergedStates {
public:
  KeptStates(Statistics statistics, Finish store, AffineExpr width)
      : MergedStates(statistics, std::move(store)), width(width) {}

  Values at(Emission &emission, Value part, Value column) const override {
    Value place =
        emission.add(emission.mul(part, emission.extent(width)), column);
    Values states;
    for (const auto &statistic : statistics)
      states.append(loadStates(emission, *statistic.combiner,
                               {emission.entry.buffers[statistic.workspace]},
                               place, Lanes{}));
    return states;
  }

private:
  const AffineExpr width;
};

/// Those of rows that a thread reads, a block of them at once.
class ReadStates final : public MergedStates {
public:
  ReadStates(Statistics statistics, Finish store, const ColumnSpace &space)
      : MergedStates(statistics, std::move(store)), space(space) {}

  int64_t reads() const override {
    return canonicalBlock * int64_t(statistics.size());
  }
  Values at(Emission &emission, Value part, Value column) const override {
    Values states;
    for (size_t number = 0; number < statistics.size(); ++number)
      states.push_back(init(emission, number));
    Value rows = emission.extent(space.extent);
    Value last = emission.sub(rows, emission.constant(1));
    Value first = emission.mul(part, emission.constant(canonicalBlock));
    int64_t all = constantOf(space.extent);
    bool isEven = all % canonicalBlock == 0;
    for (int64_t next = 0; next < std::min(all, canonicalBlock); ++next) {
      Value row = emission.add(first, emission.constant(next));
      Value isRow;
      if (!isEven && all > canonicalBlock)
        isRow = arith::CmpIOp::create(emission.builder, emission.loc,
                                      arith::CmpIPredicate::ult, row, rows);
      takeRow(emission, isRow ? emission.min(row, last) : row, isRow, column,
              states);
    }
    return states;
  }

private:
  void takeRow(Emission &emission, Value row, Value isRow, Value column,
               Values &states) const {
    ColumnSpace::Place place{emission.constant(0), emission.constant(0),
                             emission.extent(space.width)};
    for (auto [statistic, state] : llvm::zip(statistics, states)) {
      const Combiner &combiner = *statistic.combiner;
      Value element =
          emission.vectorAt(statistic.op->getOperand(0),
                            space.operandIndex(emission, statistic.op, place,
                                               row, column, Lanes{}),
                            Lanes{});
      Value after =
          combiner.take(emission, {state}, combiner.lift(emission, element, {}))
              .front();
      state = isRow ? arith::SelectOp::create(emission.builder, emission.loc,
                                              isRow, after, state)
                          .getResult()
                    : after;
    }
  }

  const ColumnSpace &space;
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
  // All are known before one is stored: it may take an input's memory.
  SmallVector<std::pair<size_t, Element>> elements;
  OperandRange outputs = writer.kernel.getOutputs();
  for (auto [number, output] : llvm::enumerate(outputs))
    if (onlyColumns || makes(output))
      elements.push_back(
          {number, emission.at(output, indexOf(output), Lanes{})});
  for (auto [number, element] : elements)
    storeElements(emission, emission.entry.buffers[writer.outputBuffer(number)],
                  outputs[number], indexOf(outputs[number]), Lanes{}, element);
}

bool BlockColumns::canMerge() const {
  return BlockMerge(writer, blocks(), width(), statistics.size()).applies();
}

void BlockColumns::addMergePhase() const {
  auto store = [&](Emission &emission, Value column, const Values &totals) {
    finish(emission, column, totals);
  };
  BlockMerge(writer, blocks(), width(), statistics.size())
      .addPhase(KeptStates(statistics, store, width()));
}

void BlockColumns::addRowsPhase(const ColumnSpace &space) const {
  auto store = [&](Emission &emission, Value column, const Values &totals) {
    finish(emission, column, totals);
  };
  BlockMerge(writer, blocks(), width(), statistics.size())
      .addPhase(ReadStates(statistics, store, space));
}

} // namespace sinter::compiler
