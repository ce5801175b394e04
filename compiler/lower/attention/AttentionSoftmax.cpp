/// AttentionBlock: what softmax and its gradient do to a block of scores.
#include "compiler/lower/attention/AttentionBlock.h"

#include "compiler/lower/element/CanonicalNan.h"
#include "compiler/lower/element/ElementSource.h"
#include "compiler/lower/element/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

static constexpr double infinity = std::numeric_limits<double>::infinity();

bool ScoreMask::addsNothing() const {
  auto full = added.getDefiningOp<ir::FullOp>();
  if (!full || !shapeOf(added).empty())
    return false;
  if (auto real = dyn_cast<FloatAttr>(full.getValue()))
    return real.getValue().isZero();
  auto integer = dyn_cast<IntegerAttr>(full.getValue());
  return integer && integer.getValue().isZero();
}

// Of a number that is not positive: the weight of a step beside the largest.
Value AttentionBlock::exponential(Value x) {
  return math::ExpOp::create(emission.builder, emission.loc, x,
                             arith::FastMathFlags::afn);
}

// The larger one; a NaN is passed over: its exp makes the sum one.
Value AttentionBlock::larger(Value a, Value b) {
  Value isLarger = arith::CmpFOp::create(emission.builder, emission.loc,
                                         arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(emission.builder, emission.loc, isLarger, a,
                                 b);
}

Value AttentionBlock::isMinusInfinity(Value x) {
  return arith::CmpFOp::create(emission.builder, emission.loc,
                               arith::CmpFPredicate::OEQ, x,
                               emission.number(x.getType(), -infinity));
}

// Where every score so far is -inf, 0 instead: they all become exp(-inf).
Value AttentionBlock::unlessInfinite(Value largest) {
  return arith::SelectOp::create(
      emission.builder, emission.loc, isMinusInfinity(largest),
      emission.number(largest.getType(), 0), largest);
}

OnlineSoftmax AttentionBlock::beginSoftmax() {
  OnlineSoftmax softmax{panel(rowSlot, 1), panel(rowSlot + 1, 1),
                        panel(rowSlot + 2, 1)};
  Type type = emission.vectorType(tile.accumulator, tile.lanes);
  Value row = emission.constant(0);
  forVectors([&](Value lane) {
    save(softmax.largest, row, lane, emission.number(type, -infinity));
    save(softmax.sum, row, lane, emission.number(type, 0));
  });
  return softmax;
}

// The vector of scores of a step, with what the mask does to it; `hides` where
// lanes may not see the step.
Value AttentionBlock::masked(Value score, Value step, Value lane, bool hides) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Coord lanes = emission.along(emission.add(first, lane), tile.lanes);
  Coord steps = emission.uniform(step);
  if (!mask.addsNothing()) {
    Value more;
    Lanes which{tile.lanes, laneMask(lane), false};
    if (shapeOf(mask.added).empty())
      more = spread(toAccumulator(
          emission,
          emission.at(mask.added, emission.fromCoordinates({}), {}).value,
          elementOf(mask.added)));
    else
      more =
          read(mask.added,
               {mask.walksKeys ? steps : lanes, mask.walksKeys ? lanes : steps},
               which);
    score = arith::AddFOp::create(builder, loc, score, more);
  }
  if (!hides)
    return score;
  // A query sees a key that is not after it: compared as distances from the
  // vector's first lane, which fit in 32 bits.
  Type narrow = builder.getI32Type();
  Value distance = emission.sub(step, emission.add(first, lane));
  distance = arith::IndexCastOp::create(builder, loc, narrow, distance);
  Value sees = arith::CmpIOp::create(
      builder, loc,
      mask.walksKeys ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge,
      emission.laneOffsets(1, tile.lanes, narrow), spread(distance));
  return arith::SelectOp::create(builder, loc, sees, score,
                                 emission.number(score.getType(), -infinity));
}

// Applies the mask to a vector of lanes' scores, and gives the largest of them
// and of `before`.
Value AttentionBlock::maskAndCompare(Panel scores, Value step, Value count,
                                     Value lane, Value before) {
  // In turns: a comparison takes longer than to begin the next one.
  constexpr unsigned turns = 4;
  Values largest(turns, before);
  auto emit = [&](Value k, Value &most, bool hides) {
    Value score = load(scores, k, lane);
    if (hides || !mask.addsNothing()) {
      score = masked(score, emission.add(step, k), lane, hides);
      save(scores, k, lane, score);
    }
    most = larger(score, most);
  };
  forScored(step, count, lane, [&](Range range, bool hides) {
    Value rounds = emission.floorDiv(emission.sub(range.to, range.from),
                                     emission.constant(turns));
    Value stop = emission.add(range.from,
                              emission.mul(rounds, emission.constant(turns)));
    largest = emission.loop(
        range.from, stop, turns, largest, [&](Value k, ValueRange carried) {
          Values next(carried);
          for (unsigned i = 0; i < turns; ++i)
            emit(emission.add(k, emission.constant(i)), next[i], hides);
          return next;
        });
    largest = emission.loop(stop, range.to, 1, largest,
                            [&](Value k, ValueRange carried) {
                              Values next(carried);
                              emit(k, next.front(), hides);
                              return next;
                            });
  });
  for (unsigned i = 1; i < turns; ++i)
    largest.front() = larger(largest[i], largest.front());
  return largest.front();
}

void AttentionBlock::advance(const OnlineSoftmax &softmax, Panel scores,
                             Value step, Value count) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value row = emission.constant(0);
  forVectors([&](Value lane) {
    Value before = load(softmax.largest, row, lane);
    Value largest = maskAndCompare(scores, step, count, lane, before);
    Value base = unlessInfinite(largest);
    Value rescale =
        exponential(arith::SubFOp::create(builder, loc, before, base));
    Value sum = arith::MulFOp::create(builder, loc,
                                      load(softmax.sum, row, lane), rescale);
    Range range = scored(step, count, lane);
    sum = emission
              .loop(range.from, range.to, 1, ValueRange(sum),
                    [&](Value k, ValueRange carried) -> Values {
                      Value score = load(scores, k, lane);
                      Value p = exponential(
                          arith::SubFOp::create(builder, loc, score, base));
                      save(scores, k, lane, p);
                      return {arith::AddFOp::create(builder, loc,
                                                    carried.front(), p)};
                    })
              .front();
    save(softmax.largest, row, lane, largest);
    save(softmax.sum, row, lane, sum);
    save(softmax.rescale, row, lane, rescale);
  });
}

void AttentionBlock::finishSoftmax(const OnlineSoftmax &softmax) {
  OpBuilder &builder = emission.builder;
  Value row = emission.constant(0);
  forVectors([&](Value lane) {
    Value sum = load(softmax.sum, row, lane);
    Value isNone =
        arith::CmpFOp::create(builder, emission.loc, arith::CmpFPredicate::OEQ,
                              sum, emission.number(sum.getType(), 0));
    sum = arith::SelectOp::create(builder, emission.loc, isNone,
                                  emission.number(sum.getType(), 1), sum);
    save(softmax.sum, row, lane, sum);
  });
}

// One number per query, for the lanes when they are queries.
Value AttentionBlock::perLane(Value tensor, bool isLane, Value step,
                              Value lane) {
  Coord column = emission.uniform(emission.constant(0));
  if (isLane)
    return read(tensor,
                {emission.along(emission.add(first, lane), tile.lanes), column},
                Lanes{tile.lanes, laneMask(lane), false});
  return spread(read(tensor, {emission.uniform(step), column}, Lanes{}));
}

void AttentionBlock::differentiate(Panel scores, Panel changes, Value logsumexp,
                                   Value delta, Value step, Value count) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  auto emit = [&](Value k, Value lane, bool hides) {
    Value at = emission.add(step, k);
    Value score = masked(load(scores, k, lane), at, lane, hides);
    Value largest = perLane(logsumexp, !mask.walksKeys, at, lane);
    Value p = exponential(arith::SubFOp::create(builder, loc, score, largest));
    save(scores, k, lane, p);
    if (!changes.buffer)
      return;
    Value change = load(changes, k, lane);
    change = arith::SubFOp::create(builder, loc, change,
                                   perLane(delta, !mask.walksKeys, at, lane));
    save(changes, k, lane, arith::MulFOp::create(builder, loc, p, change));
  };
  forVectors([&](Value lane) {
    forScored(step, count, lane, [&](Range range, bool hides) {
      emission.loop(range.from, range.to, 1,
                    [&](Value k) { emit(k, lane, hides); });
    });
  });
}

void AttentionBlock::storeLogsumexp(const OnlineSoftmax &softmax, Value tensor,
                                    unsigned buffer) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value row = emission.constant(0);
  forVectors([&](Value lane) {
    Value base = unlessInfinite(load(softmax.largest, row, lane));
    Value sum = math::LogOp::create(builder, loc, load(softmax.sum, row, lane));
    sum = arith::AddFOp::create(builder, loc, base, sum);
    Index index =
        indexOf({emission.along(emission.add(first, lane), tile.lanes),
                 emission.uniform(emission.constant(0))});
    storeElements(emission, emission.entry.buffers[buffer], tensor, index,
                  Lanes{tile.lanes, laneMask(lane), false},
                  canonicalNan(emission, tensor, Element{sum}));
  });
}

} // namespace sinter::compiler
