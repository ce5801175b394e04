/// WarpgroupAttention: the threads that multiply.
///
/// The order of an output's products and waits is that of FlashAttention-3
/// (Shah et al., 2024): scores of a stage are summed while those of the one
/// before are multiplied by values, and one warpgroup's exponentials run while
/// the other one multiplies.
#include "compiler/target/cuda/WarpgroupAttention.h"

#include "compiler/target/cuda/WarpgroupLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numbers>

using namespace mlir;

namespace sinter::compiler {

using Layout = WarpgroupLayout;

// Barriers by which warpgroups take turns; those before are of boxes.
static constexpr int32_t firstTurnBarrier = 4;

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

//===- Output -------------------------------------------------------------===//

// What an output is made of, from stage to stage.
struct WarpgroupAttention::Output {
  Turn scores, values;
  Values words, sums; ///< of weights; with values, of the stages before
  Softmax softmax;

  Values all() const {
    Values all{scores.stage, scores.parity, values.stage, values.parity};
    llvm::append_range(all, words);
    llvm::append_range(all, sums);
    llvm::append_range(all, softmax.largest);
    llvm::append_range(all, softmax.sum);
    return all;
  }
  /// The same of other values.
  Output with(ValueRange all) const {
    Output other;
    other.scores = {all[0], all[1]};
    other.values = {all[2], all[3]};
    other.words = Values(all.slice(4, words.size()));
    other.sums = Values(all.slice(4 + words.size(), sums.size()));
    ValueRange rows = all.take_back(4);
    other.softmax = {{rows[0], rows[1]}, {rows[2], rows[3]}};
    return other;
  }
};

// Of the last stage, which hides steps.
WarpgroupAttention::Output
WarpgroupAttention::beginOutput(const Place &place, Value stage,
                                const Values &turns) {
  Output output;
  Turn own = turn(turns, 0);
  waitFull(scoresRing, own);
  Values sums = scores.multiply({rowsAt()}, stageAt(scoresRing, own.stage));
  sums = scores.wait(0, sums);
  release(scoresRing, own.stage);
  sums = addMask(place, stage, sums);
  Value rescale[2];
  Values weights = weigh(output.softmax, hideSteps(place, stage, sums), rescale,
                         /*isFirstStage=*/true);
  output.scores = next(scoresRing, own);
  output.values = turn(turns, 2);
  output.words = wordsOf(weights);
  output.sums = zeros(ofWeights.sums());
  return output;
}

// Scores of a stage, while the weights of the one before are multiplied. A
// warpgroup asks for products when the other one has.
WarpgroupAttention::Output
WarpgroupAttention::nextOutput(const Place &place, Value stage, Output output) {
  const int32_t all = int32_t(layout.consumers * Layout::threads);
  Value one = ptx.number(1);
  waitFull(scoresRing, output.scores);
  ptx.syncThreads(ptx.add(consumer, firstTurnBarrier), all);
  Values sums =
      scores.multiply({rowsAt()}, stageAt(scoresRing, output.scores.stage));
  waitFull(changesRing, output.values);
  Values results = addValues(output);
  ptx.arriveThreads(ptx.add(ptx.bitXor(consumer, one), firstTurnBarrier), all);
  sums = scores.wait(1, sums);
  release(scoresRing, output.scores.stage);
  Value rescale[2];
  Values weights = weigh(output.softmax, addMask(place, stage, sums), rescale,
                         /*isFirstStage=*/false);
  results = ofWeights.wait(0, results);
  release(changesRing, output.values.stage);
  for (auto [at, result] : llvm::enumerate(results))
    result = mul(result, rescale[rowOf(at)]);
  output.scores = next(scoresRing, output.scores);
  output.values = next(changesRing, output.values);
  output.words = wordsOf(weights);
  output.sums = results;
  return output;
}

WarpgroupAttention::Values WarpgroupAttention::addValues(const Output &output) {
  return ofWeights.multiply(output.words,
                            stageAt(changesRing, output.values.stage),
                            ptx.number(1), output.sums);
}

WarpgroupAttention::Values WarpgroupAttention::makeOutput(const Place &place,
                                                          const Values &turns) {
  Value one = ptx.number(1);
  Range range = stagesOf(place);
  Value last = ptx.add(range.to, -1);
  Output output = beginOutput(place, last, turns);
  Values carried =
      loop(one, range.to, one, output.all(), [&](Value round, ValueRange all) {
        return nextOutput(place, ptx.sub(last, round), output.with(all)).all();
      });
  output = output.with(carried);

  release(rowsRing, ptx.number(0));
  waitFull(changesRing, output.values);
  Values results = addValues(output);
  for (Value &sum : output.softmax.sum) {
    sum = ofRow(sum, [&](Value a, Value b) { return add(a, b); });
    // Of a query that sees no key: what it weighs stays 0.
    sum = ptx.select(isNumber(sum, 0), real(1), sum);
  }
  if (attention.storesLogsumexp)
    storeLogsumexp(place, output.softmax);
  Value inverse[2];
  for (unsigned row : {0, 1})
    inverse[row] =
        arith::DivFOp::create(builder, loc, real(1), output.softmax.sum[row]);
  results = ofWeights.wait(0, results);
  release(changesRing, output.values.stage);
  for (auto [at, result] : llvm::enumerate(results))
    result = mul(result, inverse[rowOf(at)]);
  storeSum(place, *attention.ofWeights, weightsMap, 0, layout.valueBoxes,
           results);
  Turn values = next(changesRing, output.values);
  return {output.scores.stage, output.scores.parity, values.stage,
          values.parity};
}

void WarpgroupAttention::storeLogsumexp(const Place &place,
                                        const Softmax &softmax) {
  Value share = firstRow(place);
  Value isFirstOfRow = ptx.equals(ptx.bitAnd(thread, 3), 0);
  for (auto [number, row] : llvm::enumerate(rowsOfThread())) {
    Value exponent = fma(baseOf(softmax.largest[number]), real(factor()),
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
    Values coordinates{ptx.number(int32_t(box * Layout::boxColumns)),
                       firstRow(place)};
    for (unsigned axis : sum.matrix.batches)
      coordinates.push_back(ptx.toI32(place.batch[axis]));
    storeBox(map, coordinates,
             {layout.boxesAt(), layout.boxesOut, layout.boxesOut},
             firstSlot + box,
             ArrayRef(words).slice(size_t(box) * wordsOfBox, wordsOfBox));
  }
}

//===- Gradients ----------------------------------------------------------===//

// What gradients are made of, from stage to stage.
struct WarpgroupAttention::Sums {
  Turn scores, changes;
  Values ofWeights, ofChanges;

  Values all() const {
    Values all{scores.stage, scores.parity, changes.stage, changes.parity};
    llvm::append_range(all, ofWeights);
    llvm::append_range(all, ofChanges);
    return all;
  }
  /// The same of other values.
  Sums with(ValueRange all) const {
    return {{all[0], all[1]},
            {all[2], all[3]},
            Values(all.slice(4, ofWeights.size())),
            Values(all.drop_front(4 + ofWeights.size()))};
  }
};

// Weights of a stage, and what changes make of them.
std::pair<WarpgroupAttention::Values, WarpgroupAttention::Values>
WarpgroupAttention::weighChanges(const Numbers &numbers, const Values &sums,
                                 const Values &grads) {
  Value factor = real(this->factor());
  auto numberOf = [&](const Values &all, size_t at) {
    return attention.walksKeys ? all[at / 4 * 2 + at % 2] : all[rowOf(at)];
  };
  Values weights, differences;
  for (auto [at, sum] : llvm::enumerate(sums)) {
    Value weight = ptx.exp2(fma(sum, factor, numberOf(numbers.logsumexps, at)));
    weights.push_back(weight);
    if (attention.ofChanges)
      differences.push_back(
          mul(weight, sub(grads[at], numberOf(numbers.deltas, at))));
  }
  return {weights, differences};
}

WarpgroupAttention::Sums WarpgroupAttention::addStage(const Place &place,
                                                      Value stage,
                                                      const Numbers &numbers,
                                                      Sums sums) {
  Value one = ptx.number(1);
  waitFull(scoresRing, sums.scores);
  Value scoresStage = stageAt(scoresRing, sums.scores.stage);
  Value changesStage = stageAt(changesRing, sums.changes.stage);
  Values products = scores.multiply({rowsAt()}, scoresStage), grads;
  waitFull(changesRing, sums.changes);
  if (attention.ofChanges) {
    Value rows = ptx.add(rowsAt(), int32_t(layout.boxes * layout.rows *
                                           AttentionLayout::lineBytes));
    grads = changes.multiply({rows}, changesStage);
  }
  products = scores.wait(0, products);
  if (attention.ofChanges)
    grads = changes.wait(0, grads);
  products = hideWhereNeeded(place, stage, addMask(place, stage, products));
  auto [weights, differences] = weighChanges(numbers, products, grads);
  if (attention.ofWeights)
    sums.ofWeights =
        ofWeights.multiply(wordsOf(weights), changesStage, one, sums.ofWeights);
  if (attention.ofChanges)
    sums.ofChanges = ofChanges.multiply(wordsOf(differences), scoresStage, one,
                                        sums.ofChanges);
  if (attention.ofWeights)
    sums.ofWeights = ofWeights.wait(0, sums.ofWeights);
  if (attention.ofChanges)
    sums.ofChanges = ofChanges.wait(0, sums.ofChanges);
  release(scoresRing, sums.scores.stage);
  release(changesRing, sums.changes.stage);
  sums.scores = next(scoresRing, sums.scores);
  sums.changes = next(changesRing, sums.changes);
  return sums;
}

WarpgroupAttention::Values
WarpgroupAttention::makeGradients(const Place &place, const Values &turns) {
  Numbers numbers;
  if (!attention.walksKeys)
    numbers = numbersOf(place, firstRow(place));
  Sums sums{turn(turns, 0), turn(turns, 2), {}, {}};
  if (attention.ofWeights)
    sums.ofWeights = zeros(ofWeights.sums());
  if (attention.ofChanges)
    sums.ofChanges = zeros(ofChanges.sums());
  Range range = stagesOf(place);
  Values carried =
      loop(range.from, range.to, ptx.number(1), sums.all(),
           [&](Value stage, ValueRange all) {
             if (attention.walksKeys)
               numbers = numbersOf(place, firstStep(stage));
             return addStage(place, stage, numbers, sums.with(all)).all();
           });
  sums = sums.with(carried);
  release(rowsRing, ptx.number(0));
  if (attention.ofWeights)
    storeSum(place, *attention.ofWeights, weightsMap, 0, layout.valueBoxes,
             sums.ofWeights);
  if (attention.ofChanges)
    storeSum(place, *attention.ofChanges, changesMap,
             attention.ofWeights ? layout.valueBoxes : 0, layout.boxes,
             sums.ofChanges);
  carried.truncate(4);
  return carried;
}

} // namespace sinter::compiler
