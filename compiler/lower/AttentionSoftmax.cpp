/// AttentionBlock: what softmax and its gradient do to a block of scores.
#include "compiler/lower/AttentionBlock.h"

#include "compiler/lower/CanonicalNan.h"
#include "compiler/lower/ElementSource.h"
#include "compiler/lower/MatrixProduct.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
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

Value AttentionBlock::exponential(Value x) {
  return math::ExpOp::create(emission.builder, emission.loc, x);
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

// The vector of scores of a step, with what the mask does to it.
Value AttentionBlock::masked(Value score, const ScoreMask &mask, Value step,
                             Value lane) {
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
  if (!mask.causal)
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

void AttentionBlock::advance(const OnlineSoftmax &softmax, Panel scores,
                             const ScoreMask &mask, Value step, Value count) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value row = emission.constant(0);
  bool changes = mask.causal || !mask.addsNothing();
  forVectors([&](Value lane) {
    Value before = load(softmax.largest, row, lane);
    Value largest =
        emission
            .loop(row, count, 1, ValueRange(before),
                  [&](Value k, ValueRange carried) -> Values {
                    Value score = load(scores, k, lane);
                    if (changes) {
                      score = masked(score, mask, emission.add(step, k), lane);
                      save(scores, k, lane, score);
                    }
                    // A NaN is passed over; its exp makes the sum one.
                    Value isLarger = arith::CmpFOp::create(
                        builder, loc, arith::CmpFPredicate::OGT, score,
                        carried.front());
                    return {arith::SelectOp::create(builder, loc, isLarger,
                                                    score, carried.front())};
                  })
            .front();
    Value base = unlessInfinite(largest);
    Value rescale =
        exponential(arith::SubFOp::create(builder, loc, before, base));
    Value sum = arith::MulFOp::create(builder, loc,
                                      load(softmax.sum, row, lane), rescale);
    sum = emission
              .loop(row, count, 1, ValueRange(sum),
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

void AttentionBlock::differentiate(Panel scores, Panel changes,
                                   const ScoreMask &mask, Value logsumexp,
                                   Value delta, Value step, Value count) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  forVectors([&](Value lane) {
    emission.loop(emission.constant(0), count, 1, [&](Value k) {
      Value at = emission.add(step, k);
      Value score = masked(load(scores, k, lane), mask, at, lane);
      Value largest = perLane(logsumexp, !mask.walksKeys, at, lane);
      Value p =
          exponential(arith::SubFOp::create(builder, loc, score, largest));
      save(scores, k, lane, p);
      if (!changes.buffer)
        return;
      Value change = load(changes, k, lane);
      change = arith::SubFOp::create(builder, loc, change,
                                     perLane(delta, !mask.walksKeys, at, lane));
      save(changes, k, lane, arith::MulFOp::create(builder, loc, p, change));
    });
  });
}

void AttentionBlock::storeLogsumexp(const OnlineSoftmax &softmax, Value tensor,
                                    unsigned buffer) {
  OpBuilder &builder = emission.builder;
  Location loc = emission.loc;
  Value row = emission.constant(0);
  forVectors([&](Value lane) {
    Value largest = load(softmax.largest, row, lane);
    Value sum = math::LogOp::create(builder, loc, load(softmax.sum, row, lane));
    sum = arith::AddFOp::create(builder, loc, largest, sum);
    // As -inf - -inf is: nothing is likely when nothing is seen.
    sum = arith::SelectOp::create(builder, loc, isMinusInfinity(largest),
                                  emission.number(sum.getType(), std::nan("")),
                                  sum);
    Index index =
        indexOf({emission.along(emission.add(first, lane), tile.lanes),
                 emission.uniform(emission.constant(0))});
    storeElements(emission, emission.entry.buffers[buffer], tensor, index,
                  Lanes{tile.lanes, laneMask(lane), false},
                  canonicalNan(emission, tensor, Element{sum}));
  });
}

} // namespace sinter::compiler
