/// FmaAttention: the order of a tile's work, and what is copied.
#include "compiler/target/simt/attention/FmaAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace sinter::compiler {

using Unit = AttentionUnit;

static constexpr int64_t group = FmaAttentionLayout::group;
static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- Structure ----------------------------------------------------------===//

FmaAttention::FmaAttention(OpBuilder &builder, Location loc,
                           const KernelEntry &entry, const Attention &attention,
                           const FmaAttentionLayout &layout,
                           const FmaAttentionDevice &device, Client &client)
    : builder(builder), loc(loc), numbers(builder, loc), entry(entry),
      attention(attention), layout(layout), memory(attention, layout),
      threads(device.threads), allRegisters(device.registers), client(client) {}

// Groups of columns of a line that a thread sums.
static int64_t groupsOfThread(const FmaAttentionMemory::Panel &panel,
                              const FmaAttentionLayout &layout) {
  return int64_t(llvm::divideCeil(panel.groups, layout.across()));
}

int64_t FmaAttention::sumsOf(const Panel &panel) const {
  return layout.threadRows * groupsOfThread(panel, layout) * group;
}

int64_t FmaAttention::sumsOf(const Attention &attention,
                             const FmaAttentionLayout &layout) {
  FmaAttentionMemory memory(attention, layout);
  int64_t groups = 0;
  if (attention.ofWeights)
    groups += groupsOfThread(memory.operands[Unit::stepsOfChanges], layout);
  if (attention.ofChanges)
    groups += groupsOfThread(memory.operands[Unit::stepsOfScores], layout);
  return groups * group * layout.threadRows;
}

void FmaAttention::begin() {
  // Of a multiprocessor, as two of the largest blocks have them; and those of a
  // thread.
  constexpr int64_t allNumbers = 224 * 1024 / 4, registers = 128;
  int64_t blocks = std::min(allNumbers / memory.numbers,
                            allRegisters / registers / layout.threads());
  block = threads.beginPanels(builder, loc, entry, layout.threads(),
                              memory.numbers, std::max<int64_t>(1, blocks));
  auto [down, across] = numbers.split(block.thread, layout.across());
  auto [granules, inGranule] = numbers.split(down, layout.downGranule());
  granule = numbers.mul(granules, int32_t(causalGranule));
  row = numbers.add(granule, inGranule);
  step = across;
}

void FmaAttention::run() {
  begin();
  client.inTile(threads.number(builder, loc), [&](const Place &place) {
    if (attention.isGradient)
      makeGradients(place);
    else
      makeOutput(place);
  });
}

FmaAttention::Values
FmaAttention::loop(Value from, Value to, int64_t step, ValueRange inits,
                   llvm::function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(builder, loc, from, to, index(step), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(op.getBody());
  Values next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, next);
  return Values(op.getResults());
}

bool FmaAttention::endsInside(AffineExpr extent, int64_t size) const {
  return extent.getLargestKnownDivisor() % size != 0;
}

// A tile of queries sees keys up to those of its last granule, one of keys the
// queries from its first granule on.
FmaAttention::Range FmaAttention::stepsOf(const Place &place) {
  Value from = attention.isPart ? place.firstStep : index(0);
  Value to = place.steps;
  if (!attention.isCausal)
    return {from, to};
  if (attention.walksKeys) {
    int64_t unit = std::max(layout.steps, causalGranule);
    Value begin = arith::DivUIOp::create(builder, loc, place.row, index(unit));
    return {arith::MulIOp::create(builder, loc, begin, index(unit)), to};
  }
  Value end = add(place.row, index(layout.rows));
  Value granules =
      arith::CeilDivUIOp::create(builder, loc, end, index(causalGranule));
  end = arith::MulIOp::create(builder, loc, granules, index(causalGranule));
  return {from, arith::MinUIOp::create(builder, loc, end, to)};
}

// A granule's own steps are compared with those of the stage as i32: they may
// come before it. Ends are multiples of what is summed at once.
FmaAttention::Range FmaAttention::seenOf(const Place &place, Value first) {
  Range all{index(0), index(layout.steps)};
  if (!attention.isCausal)
    return all;
  Value begin = numbers.add(numbers.toI32(place.row), granule);
  if (layout.rows < causalGranule) {
    int32_t mask = -int32_t(causalGranule);
    begin = numbers.bitAnd(begin, mask);
  }
  Value zero = numbers.number(0), most = numbers.number(int32_t(layout.steps));
  Value own = numbers.sub(begin, numbers.toI32(first));
  auto within = [&](Value at) {
    at = arith::MaxSIOp::create(builder, loc, at, zero);
    return numbers.toIndex(numbers.smaller(at, most));
  };
  if (attention.walksKeys)
    return {within(own), all.to};
  return {all.from, within(numbers.add(own, int32_t(causalGranule)))};
}

//===- Output -------------------------------------------------------------===//

void FmaAttention::makeOutput(const Place &place) {
  const Panel &values = memory.operands[Unit::stepsOfChanges];
  const size_t rows = size_t(layout.threadRows);
  bring({Unit::rowsOfScores}, place, place.row);
  Values inits(rows, real(-infinity));
  inits.append(rows + size_t(sumsOf(values)), real(0));
  Range steps = stepsOf(place);
  auto softmaxOf = [&](ValueRange carried) {
    return Softmax{Values(carried.take_front(rows)),
                   Values(carried.slice(rows, rows))};
  };
  Values carried =
      loop(steps.from, steps.to, layout.steps, inits,
           [&](Value first, ValueRange carried) {
             Softmax softmax = softmaxOf(carried);
             Values sums(carried.drop_front(2 * rows)), rescales;
             bring({Unit::stepsOfScores, Unit::stepsOfChanges}, place, first);
             threads.wait(builder, loc);
             Values scores =
                 masked(place, first,
                        multiply(Unit::rowsOfScores, Unit::stepsOfScores));
             giveWeights(memory.weights, weigh(softmax, scores, rescales));
             for (auto [at, sum] : llvm::enumerate(sums))
               sum = times(sum, rescales[at / (sums.size() / rows)]);
             threads.wait(builder, loc);
             sums = accumulate(memory.weights, Unit::stepsOfChanges,
                               seenOf(place, first), sums);
             threads.wait(builder, loc);
             Values next = softmax.largest;
             llvm::append_range(next, softmax.sum);
             llvm::append_range(next, sums);
             return next;
           });
  Softmax softmax = softmaxOf(carried);
  finishSoftmax(place, softmax);
  Values factors;
  for (Value sum : softmax.sum)
    factors.push_back(
        attention.isPart
            ? real(1)
            : arith::DivFOp::create(builder, loc, real(1), sum).getResult());
  store(Result::ofWeights, place, values, attention.valueLength,
        ValueRange(carried).drop_front(2 * rows), factors);
}

//===- Gradients ----------------------------------------------------------===//

void FmaAttention::makeGradients(const Place &place) {
  const Panel &values = memory.operands[Unit::stepsOfChanges];
  const Panel &keys = memory.operands[Unit::stepsOfScores];
  const size_t weighed = attention.ofWeights ? size_t(sumsOf(values)) : 0;
  const size_t changed = attention.ofChanges ? size_t(sumsOf(keys)) : 0;
  bring({Unit::rowsOfScores}, place, place.row);
  if (attention.ofChanges)
    bring({Unit::rowsOfChanges}, place, place.row);
  QueryNumbers ofRows;
  if (!attention.walksKeys)
    ofRows = numbersOf(place, numbers.add(numbers.toI32(place.row), row));
  Values inits(weighed + changed, real(0));
  Range steps = stepsOf(place);
  Values sums = loop(
      steps.from, steps.to, layout.steps, inits,
      [&](Value first, ValueRange carried) {
        Values ofWeights(carried.take_front(weighed));
        Values ofChanges(carried.drop_front(weighed));
        bring({Unit::stepsOfScores, Unit::stepsOfChanges}, place, first);
        QueryNumbers queries = ofRows;
        if (attention.walksKeys)
          queries = numbersOf(place, numbers.add(numbers.toI32(first), step));
        threads.wait(builder, loc);
        Values scores = masked(
            place, first, multiply(Unit::rowsOfScores, Unit::stepsOfScores));
        auto ofQuery = [&](const Values &all, size_t at) {
          size_t count = size_t(layout.threadSteps);
          return all[attention.walksKeys ? at % count : at / count];
        };
        Values weights;
        for (auto [at, score] : llvm::enumerate(scores))
          weights.push_back(
              exponential(sub(score, ofQuery(queries.logsumexps, at))));
        weights = existing(place, first, weights);
        if (attention.ofWeights)
          giveWeights(memory.weights, weights);
        if (attention.ofChanges) {
          Values changes = multiply(Unit::rowsOfChanges, Unit::stepsOfChanges);
          for (auto [at, change] : llvm::enumerate(changes))
            change =
                times(weights[at], sub(change, ofQuery(queries.deltas, at)));
          giveWeights(memory.changes, existing(place, first, changes));
        }
        threads.wait(builder, loc);
        Range seen = seenOf(place, first);
        if (attention.ofWeights)
          ofWeights =
              accumulate(memory.weights, Unit::stepsOfChanges, seen, ofWeights);
        if (attention.ofChanges)
          ofChanges =
              accumulate(memory.changes, Unit::stepsOfScores, seen, ofChanges);
        threads.wait(builder, loc);
        llvm::append_range(ofWeights, ofChanges);
        return ofWeights;
      });
  auto storeSum = [&](Result which, const std::optional<Unit::Sum> &sum,
                      const Panel &panel, int64_t columns, ValueRange sums) {
    if (sum)
      store(which, place, panel, columns, sums,
            Values(size_t(layout.threadRows), real(sum->factor)));
  };
  storeSum(Result::ofWeights, attention.ofWeights, values,
           attention.valueLength, ValueRange(sums).take_front(weighed));
  storeSum(Result::ofChanges, attention.ofChanges, keys, attention.length,
           ValueRange(sums).drop_front(weighed));
}

// Of the thread's rows from `first` (i32) on, or of its steps.
FmaAttention::QueryNumbers FmaAttention::numbersOf(const Place &place,
                                                   Value first) {
  using PerQuery = Unit::PerQuery;
  QueryNumbers all;
  int64_t count = attention.walksKeys ? layout.threadSteps : layout.threadRows;
  for (int64_t number = 0; number < count; ++number) {
    int64_t behind = attention.walksKeys ? stepAt(number) : rowAt(number);
    Value query = numbers.toIndex(numbers.add(first, int32_t(behind)));
    llvm::append_range(all.logsumexps,
                       client.read(PerQuery::logsumexp, place, query, 1));
    if (attention.ofChanges)
      llvm::append_range(all.deltas,
                         client.read(PerQuery::delta, place, query, 1));
  }
  return all;
}

//===- Copying ------------------------------------------------------------===//

// Neighbours in memory are read by neighbouring threads; those for which no
// piece is left bring the last one, too.
FmaAttention::Piece FmaAttention::pieceOf(const Panel &panel,
                                          int64_t load) const {
  int64_t pieces = panel.lines * panel.groups;
  Value number = block.thread;
  if (load > 0)
    number = numbers.add(number, int32_t(load * layout.threads()));
  if ((load + 1) * layout.threads() > pieces)
    number = numbers.smaller(number, numbers.number(int32_t(pieces - 1)));
  if (llvm::isPowerOf2_64(uint64_t(panel.groups))) {
    auto [line, inLine] = numbers.split(number, panel.groups);
    return {line, inLine};
  }
  Value line = numbers.divide(number, int32_t(panel.groups));
  return {line, numbers.sub(number, numbers.mul(line, int32_t(panel.groups)))};
}

// Lines that do not exist, and columns behind a line, are 0.
Value FmaAttention::loadPart(Operand which, const Place &place, Value line,
                             Value column, Value exists) {
  const bool isOfScores =
      which == Unit::rowsOfScores || which == Unit::stepsOfScores;
  int64_t length = isOfScores ? attention.length : attention.valueLength;
  unsigned count = unsigned(std::gcd(attention.together[which], group));
  if (length % group != 0) {
    Value inside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, column, index(length));
    exists =
        exists ? arith::AndIOp::create(builder, loc, exists, inside) : inside;
    column = arith::MinUIOp::create(builder, loc, column,
                                    index(length - int64_t(count)));
  }
  Value value = client.readOperand(which, place, line, column, count);
  if (!exists)
    return value;
  TypedAttr nothing = builder.getFloatAttr(attention.element, 0.0);
  if (auto type = dyn_cast<VectorType>(value.getType()))
    nothing = DenseElementsAttr::get(type, nothing);
  return arith::SelectOp::create(
      builder, loc, exists, value,
      arith::ConstantOp::create(builder, loc, nothing));
}

FmaAttention::Values FmaAttention::loadPanel(Operand which, const Place &place,
                                             Value first) {
  const Panel &panel = memory.operands[which];
  const bool areRows =
      which == Unit::rowsOfScores || which == Unit::rowsOfChanges;
  Value end = areRows ? place.rows : place.steps;
  bool ends =
      endsInside(areRows ? attention.rows : attention.steps, panel.lines);
  int64_t count = std::gcd(attention.together[which], group);
  int64_t loads =
      int64_t(llvm::divideCeil(panel.lines * panel.groups, layout.threads()));
  Values values;
  for (int64_t load = 0; load < loads; ++load) {
    Piece piece = pieceOf(panel, load);
    Value line = add(first, numbers.toIndex(piece.line)), exists;
    if (ends) {
      exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     line, end);
      Value last = sub(end, index(1));
      line = arith::MinUIOp::create(builder, loc, line, last);
    }
    Value column = numbers.toIndex(numbers.mul(piece.group, int32_t(group)));
    for (int64_t part = 0; part < group; part += count)
      values.push_back(
          loadPart(which, place, line, add(column, index(part)), exists));
  }
  return values;
}

void FmaAttention::storePanel(Operand which, ValueRange values) {
  const Panel &panel = memory.operands[which];
  const size_t parts =
      size_t(group / std::gcd(attention.together[which], group));
  for (size_t load = 0; load < values.size() / parts; ++load) {
    Piece piece = pieceOf(panel, int64_t(load));
    Value place = threads.placeAt(builder, loc, lineAt(panel, piece.line),
                                  numbers.mul(piece.group, int32_t(group)));
    Values elements;
    for (Value part : values.slice(load * parts, parts))
      llvm::append_range(elements, elementsOf(numbers.toF32(part)));
    Value vector = vector::FromElementsOp::create(
        builder, loc, VectorType::get({group}, builder.getF32Type()), elements);
    threads.store(builder, loc, block, vector, place, 0);
  }
}

// All is asked for before anything is waited for.
void FmaAttention::bring(ArrayRef<Operand> operands, const Place &place,
                         Value first) {
  SmallVector<Values> loaded;
  for (Operand which : operands)
    loaded.push_back(loadPanel(which, place, first));
  for (auto [which, values] : llvm::zip(operands, loaded))
    storePanel(which, values);
}

//===- Storing ------------------------------------------------------------===//

// Sums come by rows, then by groups of columns. They began with 0, to which no
// sum adds up to -0: but for a driver that takes 0 + x for x.
void FmaAttention::store(Result which, const Place &place, const Panel &panel,
                         int64_t columns, ValueRange sums, ValueRange factors) {
  const int64_t groups = groupsOfThread(panel, layout);
  const bool isWhole = columns % group == 0;
  for (int64_t r = 0; r < layout.threadRows; ++r) {
    Value own = numbers.toIndex(numbers.add(row, int32_t(rowAt(r))));
    Value line = add(place.row, own);
    for (int64_t g = 0; g < groups; ++g) {
      Value number = numbers.add(step, int32_t(stepAt(g)));
      Value column = numbers.toIndex(numbers.mul(number, int32_t(group)));
      Values scaled;
      for (Value sum : sums.slice(size_t((r * groups + g) * group), group))
        scaled.push_back(
            times(select(equals(sum, 0), real(0), sum), factors[size_t(r)]));
      auto put = [&](Value numbers, Value column) {
        Value inside = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ult, column, index(columns));
        client.store(which, place, line, column, numbers, inside);
      };
      if (isWhole) {
        put(vector::FromElementsOp::create(
                builder, loc, VectorType::get({group}, builder.getF32Type()),
                scaled),
            column);
        continue;
      }
      for (auto [next, number] : llvm::enumerate(scaled))
        put(number, add(column, index(int64_t(next))));
    }
  }
}

} // namespace sinter::compiler
