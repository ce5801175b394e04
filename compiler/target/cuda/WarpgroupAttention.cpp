/// WarpgroupAttention: what the threads do that multiply, and those that copy.
///
/// The order of products and waits is that of FlashAttention-3 (Shah et al.,
/// 2024): scores of a stage are summed while those of the one before are
/// multiplied by values, and one warpgroup's exponentials run while the other
/// one multiplies.
#include "compiler/target/cuda/WarpgroupAttention.h"

#include "compiler/target/cuda/WarpgroupLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;

namespace sinter::compiler {

using Layout = WarpgroupLayout;

static constexpr int64_t lineBytes = 128;
static constexpr int64_t boxColumns = Layout::boxColumns;
static constexpr unsigned producerRegisters = 24, consumerRegisters = 240;
// Barriers by which warpgroups take turns; those before are of boxes.
static constexpr int32_t firstTurnBarrier = 4;
static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- Layout -------------------------------------------------------------===//

// As many as registers suffice for: with sums of an output there are scores;
// with those of gradients scores and changes, with those of both gradients of
// steps less of them, where a mask is read, too.
static int64_t stepsFor(const AttentionUnit::Attention &attention) {
  if (!attention.isGradient)
    return 128;
  return attention.isMasked && attention.walksKeys ? 32 : 64;
}

// A tile's boxes take slots in turn, as many times as there are slots.
static int64_t slotsFor(int64_t boxes) { return boxes == 4 ? 2 : boxes; }

AttentionLayout::AttentionLayout(const AttentionUnit::Attention &attention)
    : rows(consumers * Layout::rows), steps(stepsFor(attention)),
      boxes(llvm::divideCeil(attention.length, boxColumns)),
      valueBoxes(llvm::divideCeil(attention.valueLength, boxColumns)),
      rowsBytes(boxes * rows * lineBytes),
      scoresBytes(boxes * steps * lineBytes),
      changesBytes(valueBoxes * steps * lineBytes),
      boxesOut(slotsFor((attention.ofWeights ? valueBoxes : 0) +
                        (attention.ofChanges ? boxes : 0))) {
  if (attention.ofChanges)
    rowsBytes += valueBoxes * rows * lineBytes;
  constexpr int64_t most = 4;
  int64_t rest = Layout::mostBytes - rowsBytes -
                 consumers * boxesOut * Layout::boxBytes - 16;
  stages = std::min(most, rest / (scoresBytes + changesBytes + 32));
}

int64_t AttentionLayout::barriersAt() const {
  return boxesAt() + consumers * boxesOut * Layout::boxBytes;
}

//===- The kernel ---------------------------------------------------------===//

WarpgroupAttention::WarpgroupAttention(OpBuilder &builder, Location loc,
                                       const KernelEntry &entry,
                                       const Attention &attention,
                                       Client &client)
    : WarpgroupBlock(builder, loc, entry), attention(attention),
      layout(attention), client(client),
      rowsRing{0, 1, layout.rowsBytes, layout.barriersAt()},
      scoresRing{layout.scoresAt(), layout.stages, layout.scoresBytes,
                 layout.barriersAt() + 16},
      changesRing{layout.changesAt(), layout.stages, layout.changesBytes,
                  layout.barriersAt() + 16 + 16 * layout.stages},
      scores(ptx, attention.element, layout.steps,
             layout.boxes * boxColumns / WarpgroupProduct::depthOfStep,
             SharedOperand{true, layout.rows * lineBytes},
             SharedOperand{true, layout.steps * lineBytes}),
      changes(ptx, attention.element, layout.steps,
              layout.valueBoxes * boxColumns / WarpgroupProduct::depthOfStep,
              SharedOperand{true, layout.rows * lineBytes},
              SharedOperand{true, layout.steps * lineBytes}),
      ofWeights(ptx, attention.element, layout.valueBoxes * boxColumns,
                layout.steps / WarpgroupProduct::depthOfStep, std::nullopt,
                SharedOperand{false, layout.steps * lineBytes}),
      ofChanges(ptx, attention.element, layout.boxes * boxColumns,
                layout.steps / WarpgroupProduct::depthOfStep, std::nullopt,
                SharedOperand{false, layout.steps * lineBytes}) {}

WarpgroupAttention::Operand
WarpgroupAttention::declare(const BlockUnit::Matrix &matrix, int64_t boxes,
                            int64_t rows) {
  return {&matrix, addMap(matrix, attention.element, boxColumns, rows), boxes,
          rows};
}

void WarpgroupAttention::run() {
  rowsOfScores = declare(attention.rowsOfScores, layout.boxes, layout.rows);
  stepsOfScores = declare(attention.stepsOfScores, layout.boxes, layout.steps);
  stepsOfChanges =
      declare(attention.stepsOfChanges, layout.valueBoxes, layout.steps);
  if (attention.ofChanges)
    rowsOfChanges =
        declare(attention.rowsOfChanges, layout.valueBoxes, layout.rows);
  auto resultMap = [&](const AttentionUnit::Sum &sum) {
    return addMap(sum.matrix, attention.element, boxColumns, Layout::rows);
  };
  if (attention.ofWeights)
    weightsMap = resultMap(*attention.ofWeights);
  if (attention.ofChanges)
    changesMap = resultMap(*attention.ofChanges);
  Share share{layout.bytes(), layout.consumers, 1, producerRegisters,
              consumerRegisters};
  WarpgroupBlock::run(share, [&] {
    for (const Ring *ring : {&rowsRing, &scoresRing, &changesRing})
      initRing(*ring, layout.consumers);
  });
}

// Stages that some row sees.
WarpgroupAttention::Range WarpgroupAttention::stagesOf(const Place &place) {
  Value row = ptx.toI32(place.row), end = ptx.toI32(place.steps);
  Value from = ptx.number(0);
  if (attention.isCausal && attention.walksKeys)
    from = ptx.divide(row, int32_t(layout.steps));
  else if (attention.isCausal)
    end = ptx.smaller(end, ptx.add(row, int32_t(layout.rows)));
  end = ptx.divide(ptx.add(end, int32_t(layout.steps - 1)),
                   int32_t(layout.steps));
  return {from, end};
}

//===- Copying ------------------------------------------------------------===//

void WarpgroupAttention::copy(const Operand &operand, const Place &place,
                              Value row, Value to, Value full) {
  for (int64_t box = 0; box < operand.boxes; ++box) {
    Values coordinates{ptx.number(int32_t(box * boxColumns)), row};
    for (unsigned axis : operand.matrix->batches)
      coordinates.push_back(ptx.toI32(place.batch[axis]));
    ptx.copyIn(ptx.add(to, int32_t(box * operand.rows * lineBytes)),
               operand.map, coordinates, full);
  }
}

// Rings are empty at first: as if a round before had been taken out. An output
// walks from the last stage on, which hides steps.
void WarpgroupAttention::produce() {
  Value zero = ptx.number(0), one = ptx.number(1);
  forTiles({one, zero, one, zero, one}, [&](Value tile, ValueRange carried) {
    Values ended;
    client.inTile(tile, [&](const Place &place) {
      Turn rows{zero, carried[0]};
      waitEmpty(rowsRing, rows);
      Value full = fullAt(rowsRing, zero), row = ptx.toI32(place.row);
      ptx.expectBytes(full, int32_t(rowsRing.stageBytes));
      Value to = stageAt(rowsRing, zero);
      copy(rowsOfScores, place, row, to, full);
      if (attention.ofChanges)
        copy(rowsOfChanges, place, row,
             ptx.add(to, int32_t(layout.boxes * layout.rows * lineBytes)),
             full);
      Range range = stagesOf(place);
      Values turns = loop(
          range.from, range.to, one, carried.drop_front(),
          [&](Value stage, ValueRange carried) -> Values {
            if (!attention.isGradient)
              stage = ptx.sub(ptx.add(range.to, -1), stage);
            Value step = ptx.mul(stage, int32_t(layout.steps));
            auto fill = [&](const Ring &ring, const Turn &turn,
                            const Operand &operand) {
              waitEmpty(ring, turn);
              Value full = fullAt(ring, turn.stage);
              ptx.expectBytes(full, int32_t(ring.stageBytes));
              copy(operand, place, step, stageAt(ring, turn.stage), full);
              return next(ring, turn);
            };
            Turn scores = fill(scoresRing, turn(carried, 0), stepsOfScores);
            Turn changes = fill(changesRing, turn(carried, 2), stepsOfChanges);
            return {scores.stage, scores.parity, changes.stage, changes.parity};
          });
      ended = {ptx.bitXor(carried[0], one)};
      llvm::append_range(ended, turns);
    });
    return ended;
  });
}

//===- Arithmetic ---------------------------------------------------------===//

Value WarpgroupAttention::real(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(float(value)));
}
Value WarpgroupAttention::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value WarpgroupAttention::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value WarpgroupAttention::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value WarpgroupAttention::fma(Value a, Value b, Value c) {
  return LLVM::FMAOp::create(builder, loc, a, b, c);
}
Value WarpgroupAttention::larger(Value a, Value b) {
  return arith::MaxNumFOp::create(builder, loc, a, b);
}

Value WarpgroupAttention::ofRow(Value value,
                                llvm::function_ref<Value(Value, Value)> join) {
  for (int32_t distance : {1, 2})
    value = join(value, ptx.exchange(value, distance));
  return value;
}

WarpgroupAttention::Values WarpgroupAttention::zeros(int64_t count) {
  return Values(size_t(count), real(0));
}

// Sums of a thread: two of the upper row, two of the lower one, eight columns
// further again.
static unsigned rowOf(size_t sum) { return sum / 2 % 2; }
static int32_t columnOf(size_t sum) { return int32_t(sum / 4 * 8 + sum % 2); }

WarpgroupAttention::Values WarpgroupAttention::wordsOf(const Values &numbers) {
  Values words;
  for (size_t at = 0; at < numbers.size(); at += 2)
    words.push_back(ptx.pack(attention.element, numbers[at], numbers[at + 1]));
  return words;
}

// Powers of 2 from scores.
double WarpgroupAttention::factor() const {
  return attention.isMasked ? 1 : attention.scale * std::numbers::log2e;
}

WarpgroupAttention::Values WarpgroupAttention::addMask(const Place &place,
                                                       Value stage,
                                                       const Values &scores) {
  if (!attention.isMasked)
    return scores;
  Value step = ptx.add(ptx.mul(stage, int32_t(layout.steps)),
                       ptx.mul(ptx.bitAnd(thread, 3), 2));
  Value share =
      ptx.add(ptx.toI32(place.row), ptx.mul(consumer, int32_t(Layout::rows)));
  Values sums;
  for (size_t at = 0; at < scores.size(); at += 2) {
    Value row = ptx.add(share, rowsOfThread()[rowOf(at)]);
    auto added = client.readMask(place, ptx.toIndex(row),
                                 ptx.toIndex(ptx.add(step, columnOf(at))));
    for (size_t next : {0, 1}) {
      Value mask = mul(added[next], real(std::numbers::log2e));
      sums.push_back(fma(scores[at + next],
                         real(attention.scale * std::numbers::log2e), mask));
    }
  }
  return sums;
}

// Steps that do not exist, and those that causality hides, score -infinity.
WarpgroupAttention::Values WarpgroupAttention::hideSteps(const Place &place,
                                                         Value stage,
                                                         const Values &scores) {
  Value first = ptx.add(ptx.mul(stage, int32_t(layout.steps)),
                        ptx.mul(ptx.bitAnd(thread, 3), 2));
  Value share =
      ptx.add(ptx.toI32(place.row), ptx.mul(consumer, int32_t(Layout::rows)));
  Value end = ptx.sub(ptx.toI32(place.steps), first);
  Value ends[2] = {end, end}, begins[2];
  if (attention.isCausal)
    for (auto [number, row] : llvm::enumerate(rowsOfThread())) {
      Value own = ptx.sub(ptx.add(share, row), first);
      if (attention.walksKeys)
        begins[number] = own;
      else
        ends[number] = ptx.smaller(end, ptx.add(own, 1));
    }
  Values seen;
  Value hidden = real(-infinity);
  for (auto [at, score] : llvm::enumerate(scores)) {
    Value column = ptx.number(columnOf(at)), result = score;
    result = ptx.select(ptx.less(column, ends[rowOf(at)]), result, hidden);
    if (Value begin = begins[rowOf(at)])
      result = ptx.select(ptx.less(column, begin), hidden, result);
    seen.push_back(result);
  }
  return seen;
}

// Whether a stage has steps that some row of the tile does not see.
Value WarpgroupAttention::mayHide(const Place &place, Value stage) {
  Value begin = ptx.mul(stage, int32_t(layout.steps));
  Value end = ptx.add(begin, int32_t(layout.steps));
  Value row = ptx.toI32(place.row);
  Value hides = ptx.less(ptx.toI32(place.steps), end);
  if (!attention.isCausal)
    return hides;
  Value crosses = attention.walksKeys
                      ? ptx.less(begin, ptx.add(row, int32_t(layout.rows - 1)))
                      : ptx.less(ptx.add(row, 1), end);
  return arith::OrIOp::create(builder, loc, hides, crosses);
}

WarpgroupAttention::Values
WarpgroupAttention::hideWhereNeeded(const Place &place, Value stage,
                                    const Values &scores) {
  auto op = scf::IfOp::create(builder, loc, ValueRange(scores).getTypes(),
                              mayHide(place, stage), /*else=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(op.thenBlock());
  scf::YieldOp::create(builder, loc, hideSteps(place, stage, scores));
  builder.setInsertionPointToEnd(op.elseBlock());
  scf::YieldOp::create(builder, loc, scores);
  return Values(op.getResults());
}

// Weights relative to the largest score so far; `rescale` is what the sums so
// far are multiplied by then. Where all scores are -infinity, so that there is
// nothing to be relative to, weights are 0.
WarpgroupAttention::Values WarpgroupAttention::weigh(Softmax &softmax,
                                                     const Values &scores,
                                                     Value (&rescale)[2],
                                                     bool isFirstStage) {
  constexpr size_t chains = 4; // of each row, side by side
  Value factor = real(this->factor()), offset[2];
  for (unsigned row : {0, 1}) {
    Values parts;
    for (auto [at, score] : llvm::enumerate(scores)) {
      if (rowOf(at) != row)
        continue;
      size_t chain = (at / 4 * 2 + at % 2) % chains;
      if (parts.size() <= chain)
        parts.push_back(score);
      else
        parts[chain] = larger(parts[chain], score);
    }
    Value largest =
        larger(larger(parts[0], parts[1]), larger(parts[2], parts[3]));
    largest = ofRow(largest, [&](Value a, Value b) { return larger(a, b); });
    Value before = softmax.largest[row];
    if (!isFirstStage)
      largest = larger(before, largest);
    Value isNone = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OEQ, largest, real(-infinity));
    Value base = ptx.select(isNone, real(0), largest);
    offset[row] = mul(base, real(-this->factor()));
    if (!isFirstStage)
      rescale[row] = ptx.exp2(fma(before, factor, offset[row]));
    softmax.largest[row] = largest;
  }
  Values weights, parts[2];
  for (auto [at, score] : llvm::enumerate(scores)) {
    unsigned row = rowOf(at);
    Value weight = ptx.exp2(fma(score, factor, offset[row]));
    weights.push_back(weight);
    size_t chain = (at / 4 * 2 + at % 2) % chains;
    if (parts[row].size() <= chain)
      parts[row].push_back(weight);
    else
      parts[row][chain] = add(parts[row][chain], weight);
  }
  for (unsigned row : {0, 1}) {
    Value sum = add(add(parts[row][0], parts[row][1]),
                    add(parts[row][2], parts[row][3]));
    softmax.sum[row] =
        isFirstStage ? sum : fma(softmax.sum[row], rescale[row], sum);
  }
  return weights;
}

//===- Output -------------------------------------------------------------===//

void WarpgroupAttention::consume() {
  Value zero = ptx.number(0);
  if (!attention.isGradient)
    when(ptx.equals(consumer, 1), [&] {
      ptx.arriveThreads(ptx.number(firstTurnBarrier),
                        int32_t(layout.consumers * Layout::threads));
    });
  forTiles({zero, zero, zero, zero, zero}, [&](Value tile, ValueRange carried) {
    Values ended;
    client.inTile(tile, [&](const Place &place) {
      waitFull(rowsRing, {zero, carried[0]});
      Values turns(carried.drop_front());
      turns = attention.isGradient ? makeGradients(place, turns)
                                   : makeOutput(place, turns);
      ended = {ptx.bitXor(carried[0], ptx.number(1))};
      llvm::append_range(ended, turns);
    });
    return ended;
  });
  when(isFirst, [&] { ptx.waitForCopies(0, /*written=*/true); });
}

WarpgroupAttention::Values WarpgroupAttention::makeOutput(const Place &place,
                                                          const Values &turns) {
  const int32_t all = int32_t(layout.consumers * Layout::threads);
  Value one = ptx.number(1);
  Value share = ptx.add(memory, ptx.mul(consumer, int32_t(Layout::boxBytes)));
  Range range = stagesOf(place);
  Value last = ptx.add(range.to, -1);

  Turn scoresTurn = turn(turns, 0);
  waitFull(scoresRing, scoresTurn);
  Values sums = scores.multiply({share}, stageAt(scoresRing, scoresTurn.stage));
  sums = scores.wait(0, sums);
  release(scoresRing, scoresTurn.stage);
  sums = addMask(place, last, sums);
  Softmax softmax;
  Value rescale[2];
  Values weights = weigh(softmax, hideSteps(place, last, sums), rescale,
                         /*isFirstStage=*/true);

  // Carried: turns, words of weights, what was summed, and of both rows.
  Turn then = next(scoresRing, scoresTurn);
  Values carried{then.stage, then.parity, turns[2], turns[3]};
  llvm::append_range(carried, wordsOf(weights));
  const size_t numWords = weights.size() / 2, sumsAt = 4 + numWords;
  const size_t rowsAt = sumsAt + size_t(ofWeights.sums());
  llvm::append_range(carried, zeros(ofWeights.sums()));
  llvm::append_range(carried, softmax.largest);
  llvm::append_range(carried, softmax.sum);
  auto wordsIn = [&](ValueRange values) { return values.slice(4, numWords); };
  auto sumsIn = [&](ValueRange values) {
    return values.slice(sumsAt, rowsAt - sumsAt);
  };
  auto softmaxIn = [&](ValueRange values) {
    return Softmax{{values[rowsAt], values[rowsAt + 1]},
                   {values[rowsAt + 2], values[rowsAt + 3]}};
  };

  Value own = ptx.add(consumer, firstTurnBarrier);
  Value other = ptx.add(ptx.bitXor(consumer, one), firstTurnBarrier);
  carried = loop(
      one, range.to, one, carried,
      [&](Value round, ValueRange carried) -> Values {
        Turn scoresTurn = turn(carried, 0), valuesTurn = turn(carried, 2);
        Softmax softmax = softmaxIn(carried);
        waitFull(scoresRing, scoresTurn);
        ptx.syncThreads(own, all);
        Values sums =
            scores.multiply({share}, stageAt(scoresRing, scoresTurn.stage));
        waitFull(changesRing, valuesTurn);
        Values results = ofWeights.multiply(
            wordsIn(carried), stageAt(changesRing, valuesTurn.stage), one,
            sumsIn(carried));
        ptx.arriveThreads(other, all);
        sums = scores.wait(1, sums);
        release(scoresRing, scoresTurn.stage);
        sums = addMask(place, ptx.sub(last, round), sums);
        Value rescale[2];
        Values weights = weigh(softmax, sums, rescale, /*isFirstStage=*/false);
        results = ofWeights.wait(0, results);
        release(changesRing, valuesTurn.stage);
        for (auto [at, result] : llvm::enumerate(results))
          result = mul(result, rescale[rowOf(at)]);
        Turn nextScores = next(scoresRing, scoresTurn);
        Turn nextValues = next(changesRing, valuesTurn);
        Values all{nextScores.stage, nextScores.parity, nextValues.stage,
                   nextValues.parity};
        llvm::append_range(all, wordsOf(weights));
        llvm::append_range(all, results);
        llvm::append_range(all, softmax.largest);
        llvm::append_range(all, softmax.sum);
        return all;
      });

  release(rowsRing, ptx.number(0));
  Turn valuesTurn = turn(carried, 2);
  waitFull(changesRing, valuesTurn);
  Values results = ofWeights.multiply(wordsIn(carried),
                                      stageAt(changesRing, valuesTurn.stage),
                                      one, sumsIn(carried));
  softmax = softmaxIn(carried);
  for (Value &sum : softmax.sum)
    sum = ofRow(sum, [&](Value a, Value b) { return add(a, b); });
  if (attention.storesLogsumexp)
    storeLogsumexp(place, softmax);
  Value inverse[2];
  for (unsigned row : {0, 1})
    inverse[row] =
        arith::DivFOp::create(builder, loc, real(1), softmax.sum[row]);
  results = ofWeights.wait(0, results);
  release(changesRing, valuesTurn.stage);
  for (auto [at, result] : llvm::enumerate(results))
    result = mul(result, inverse[rowOf(at)]);
  storeSum(place, *attention.ofWeights, weightsMap, 0, layout.valueBoxes,
           results);
  Turn nextValues = next(changesRing, valuesTurn);
  return {carried[0], carried[1], nextValues.stage, nextValues.parity};
}

void WarpgroupAttention::storeLogsumexp(const Place &place,
                                        const Softmax &softmax) {
  Value share =
      ptx.add(ptx.toI32(place.row), ptx.mul(consumer, int32_t(Layout::rows)));
  Value isFirstOfRow = ptx.equals(ptx.bitAnd(thread, 3), 0);
  for (auto [number, row] : llvm::enumerate(rowsOfThread())) {
    Value exponent = fma(softmax.largest[number], real(factor()),
                         ptx.log2(softmax.sum[number]));
    client.storeLogsumexp(place, ptx.toIndex(ptx.add(share, row)),
                          mul(exponent, real(std::numbers::ln2)), isFirstOfRow);
  }
}

void WarpgroupAttention::storeSum(const Place &place,
                                  const AttentionUnit::Sum &sum, Value map,
                                  int64_t firstSlot, int64_t boxes,
                                  const Values &numbers) {
  Values scaled;
  for (Value number : numbers)
    scaled.push_back(sum.factor == 1 ? number : mul(number, real(sum.factor)));
  Values words = wordsOf(scaled);
  const size_t wordsOfBox = words.size() / size_t(boxes);
  for (int64_t box = 0; box < boxes; ++box) {
    Values coordinates{ptx.number(int32_t(box * boxColumns)),
                       ptx.add(ptx.toI32(place.row),
                               ptx.mul(consumer, int32_t(Layout::rows)))};
    for (unsigned axis : sum.matrix.batches)
      coordinates.push_back(ptx.toI32(place.batch[axis]));
    storeBox(map, coordinates, layout.boxesAt(), layout.boxesOut,
             firstSlot + box,
             ArrayRef(words).slice(size_t(box) * wordsOfBox, wordsOfBox));
  }
}

//===- Gradients ----------------------------------------------------------===//

// Of the thread's two queries, or, where it has rows of keys, of its columns.
WarpgroupAttention::Numbers WarpgroupAttention::numbersOf(const Place &place,
                                                          Value query) {
  using PerQuery = AttentionUnit::PerQuery;
  Numbers numbers;
  auto read = [&](Value query, unsigned count) {
    Value index = ptx.toIndex(query);
    for (Value each : client.read(PerQuery::logsumexp, place, index, count))
      numbers.logsumexps.push_back(mul(each, real(-std::numbers::log2e)));
    if (attention.ofChanges)
      llvm::append_range(numbers.deltas,
                         client.read(PerQuery::delta, place, index, count));
  };
  if (attention.walksKeys) {
    for (int64_t column = 0; column < layout.steps; column += 8)
      read(ptx.add(query, int32_t(column)), 2);
    return numbers;
  }
  for (Value row : rowsOfThread())
    read(ptx.add(query, row), 1);
  return numbers;
}

WarpgroupAttention::Values
WarpgroupAttention::makeGradients(const Place &place, const Values &turns) {
  Value one = ptx.number(1);
  Value share = ptx.mul(consumer, int32_t(Layout::boxBytes));
  Value rows = ptx.add(memory, share);
  Value rowsOfGrads =
      ptx.add(rows, int32_t(layout.boxes * layout.rows * lineBytes));
  Value factor = real(this->factor());
  const bool hasWeights = attention.ofWeights.has_value();
  const bool hasChanges = attention.ofChanges.has_value();
  Numbers numbers;
  if (!attention.walksKeys)
    numbers =
        numbersOf(place, ptx.add(ptx.toI32(place.row),
                                 ptx.mul(consumer, int32_t(Layout::rows))));

  Values carried(turns);
  const size_t weightsAt = carried.size();
  if (hasWeights)
    llvm::append_range(carried, zeros(ofWeights.sums()));
  const size_t changesAt = carried.size();
  if (hasChanges)
    llvm::append_range(carried, zeros(ofChanges.sums()));
  Range range = stagesOf(place);
  carried = loop(
      range.from, range.to, one, carried,
      [&](Value stage, ValueRange carried) -> Values {
        Turn scoresTurn = turn(carried, 0), changesTurn = turn(carried, 2);
        if (attention.walksKeys)
          numbers =
              numbersOf(place, ptx.add(ptx.mul(stage, int32_t(layout.steps)),
                                       ptx.mul(ptx.bitAnd(thread, 3), 2)));
        waitFull(scoresRing, scoresTurn);
        Value scoresStage = stageAt(scoresRing, scoresTurn.stage);
        Value changesStage = stageAt(changesRing, changesTurn.stage);
        Values sums = scores.multiply({rows}, scoresStage), grads;
        waitFull(changesRing, changesTurn);
        if (hasChanges)
          grads = changes.multiply({rowsOfGrads}, changesStage);
        sums = scores.wait(0, sums);
        if (hasChanges)
          grads = changes.wait(0, grads);
        sums = hideWhereNeeded(place, stage, addMask(place, stage, sums));

        auto numberOf = [&](const Values &all, size_t at) {
          return attention.walksKeys ? all[at / 4 * 2 + at % 2]
                                     : all[rowOf(at)];
        };
        Values weights, differences;
        for (auto [at, sum] : llvm::enumerate(sums)) {
          Value weight =
              ptx.exp2(fma(sum, factor, numberOf(numbers.logsumexps, at)));
          weights.push_back(weight);
          if (hasChanges)
            differences.push_back(
                mul(weight, sub(grads[at], numberOf(numbers.deltas, at))));
        }
        Values ofW(carried.slice(weightsAt, changesAt - weightsAt));
        Values ofC(carried.drop_front(changesAt));
        if (hasWeights)
          ofW = ofWeights.multiply(wordsOf(weights), changesStage, one, ofW);
        if (hasChanges)
          ofC = ofChanges.multiply(wordsOf(differences), scoresStage, one, ofC);
        if (hasWeights)
          ofW = ofWeights.wait(0, ofW);
        if (hasChanges)
          ofC = ofChanges.wait(0, ofC);
        release(scoresRing, scoresTurn.stage);
        release(changesRing, changesTurn.stage);
        Turn nextScores = next(scoresRing, scoresTurn);
        Turn nextChanges = next(changesRing, changesTurn);
        Values all{nextScores.stage, nextScores.parity, nextChanges.stage,
                   nextChanges.parity};
        llvm::append_range(all, ofW);
        llvm::append_range(all, ofC);
        return all;
      });
  release(rowsRing, ptx.number(0));
  ArrayRef results(carried);
  if (hasWeights)
    storeSum(place, *attention.ofWeights, weightsMap, 0, layout.valueBoxes,
             Values(results.slice(weightsAt, changesAt - weightsAt)));
  if (hasChanges)
    storeSum(place, *attention.ofChanges, changesMap,
             hasWeights ? layout.valueBoxes : 0, layout.boxes,
             Values(results.drop_front(changesAt)));
  carried.truncate(weightsAt);
  return carried;
}

//===- The unit -----------------------------------------------------------===//

namespace {

class WarpgroupAttentionUnit final : public AttentionUnit {
public:
  std::optional<int64_t> rowsOf(const Attention &attention) const override {
    constexpr int64_t longest = 128;
    auto fits = [&](const Matrix &matrix) {
      return fitsMap(matrix, attention.element);
    };
    bool isOurs =
        (attention.element.isBF16() || attention.element.isF16()) &&
        attention.length <= longest && attention.valueLength <= longest &&
        attention.scale > 0 && std::isfinite(attention.scale) &&
        (attention.isGradient || attention.ofWeights) &&
        fits(attention.rowsOfScores) && fits(attention.stepsOfScores) &&
        fits(attention.stepsOfChanges) &&
        (!attention.ofChanges || (fits(attention.rowsOfChanges) &&
                                  fits(attention.ofChanges->matrix))) &&
        (!attention.ofWeights || fits(attention.ofWeights->matrix));
    if (!isOurs)
      return std::nullopt;
    return AttentionLayout(attention).rows;
  }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Attention &attention, Client &client) const override {
    WarpgroupAttention(builder, loc, entry, attention, client).run();
  }
};

} // namespace

std::unique_ptr<const AttentionUnit> makeWarpgroupAttentionUnit() {
  return std::make_unique<WarpgroupAttentionUnit>();
}

} // namespace sinter::compiler
