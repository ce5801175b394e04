/// FmaAttention: products, and what becomes of scores.
#include "compiler/target/simt/attention/FmaAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {

static constexpr int64_t group = FmaAttentionLayout::group;
static constexpr double infinity = std::numeric_limits<double>::infinity();
// Groups that a round of a loop takes.
static constexpr int64_t groupsOfRound = 4;

//===- Arithmetic ---------------------------------------------------------===//

Value FmaAttention::index(int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value FmaAttention::add(Value a, Value b) const {
  if (isa<FloatType>(a.getType()))
    return arith::AddFOp::create(builder, loc, a, b);
  return arith::AddIOp::create(builder, loc, a, b);
}
Value FmaAttention::sub(Value a, Value b) const {
  if (isa<FloatType>(a.getType()))
    return arith::SubFOp::create(builder, loc, a, b);
  return arith::SubIOp::create(builder, loc, a, b);
}
Value FmaAttention::real(double value) const {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(float(value)));
}
Value FmaAttention::fma(Value a, Value b, Value sum) const {
  return math::FmaOp::create(builder, loc, a, b, sum);
}
Value FmaAttention::times(Value a, Value b) const {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value FmaAttention::select(Value condition, Value a, Value b) const {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value FmaAttention::equals(Value a, double b) const {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a,
                               real(b));
}

// A NaN is passed over: its exponential makes the sum one.
Value FmaAttention::larger(Value a, Value b) const {
  Value isLarger =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b);
  return select(isLarger, a, b);
}

// Of a number that is not positive: the weight of a step beside the largest.
Value FmaAttention::exponential(Value x) const {
  return math::ExpOp::create(builder, loc, x, arith::FastMathFlags::afn);
}

// Where every score so far is -inf, 0 instead: they all become exp(-inf).
Value FmaAttention::unlessInfinite(Value largest) const {
  return select(equals(largest, -infinity), real(0), largest);
}

FmaAttention::Values FmaAttention::elementsOf(Value value) const {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return {value};
  Values elements;
  for (int64_t next = 0; next < type.getNumElements(); ++next)
    elements.push_back(vector::ExtractOp::create(builder, loc, value, next));
  return elements;
}

Value FmaAttention::lineAt(const Panel &panel, Value line) const {
  Value start = threads.placeAt(builder, loc, block.start, panel.start);
  return threads.placeAt(builder, loc, start,
                         numbers.mul(line, int32_t(panel.pitch())));
}

//===- Products -----------------------------------------------------------===//

// One group of columns of the thread's rows and steps.
FmaAttention::Values FmaAttention::addGroup(Value rowsAt, Value stepsAt,
                                            const Panel &rows,
                                            const Panel &steps, int64_t number,
                                            ValueRange given) {
  auto read = [&](Value at, int64_t behind, int64_t pitch) {
    return elementsOf(threads.load(builder, loc, block, at,
                                   behind * pitch + number * group,
                                   unsigned(group)));
  };
  SmallVector<Values> left, right;
  for (int64_t r = 0; r < layout.threadRows; ++r)
    left.push_back(read(rowsAt, rowAt(r), rows.pitch()));
  for (int64_t s = 0; s < layout.threadSteps; ++s)
    right.push_back(read(stepsAt, stepAt(s), steps.pitch()));
  Values sums(given);
  for (size_t k = 0; k < size_t(group); ++k)
    for (auto [r, x] : llvm::enumerate(left))
      for (auto [s, y] : llvm::enumerate(right)) {
        Value &sum = sums[r * right.size() + s];
        sum = fma(x[k], y[k], sum);
      }
  return sums;
}

// Sums begin with -0, which changes none: a driver that knows the first sum may
// take the product for it.
FmaAttention::Values FmaAttention::multiply(Operand rows, Operand steps) {
  const Panel &left = memory.operands[rows], &right = memory.operands[steps];
  Value rowsAt = lineAt(left, row), stepsAt = lineAt(right, step);
  Values sums(size_t(layout.threadRows * layout.threadSteps), real(-0.0));
  int64_t whole = left.groups / groupsOfRound * groupsOfRound;
  if (whole > 0)
    sums = loop(index(0), index(whole), groupsOfRound, sums,
                [&](Value first, ValueRange carried) {
                  Value behind =
                      numbers.mul(numbers.toI32(first), int32_t(group));
                  Value a = threads.placeAt(builder, loc, rowsAt, behind);
                  Value b = threads.placeAt(builder, loc, stepsAt, behind);
                  Values next(carried);
                  for (int64_t g = 0; g < groupsOfRound; ++g)
                    next = addGroup(a, b, left, right, g, next);
                  return next;
                });
  for (int64_t g = whole; g < left.groups; ++g)
    sums = addGroup(rowsAt, stepsAt, left, right, g, sums);
  return sums;
}

// A group of steps: of the thread's rows, and of its groups of columns, each of
// which starts at a place of its own.
FmaAttention::Values FmaAttention::addSteps(Value weightsAt,
                                            const Panel &weights,
                                            ValueRange columnsAt,
                                            const Panel &columns, int64_t first,
                                            ValueRange given) {
  auto read = [&](Value at, int64_t behind) {
    return elementsOf(
        threads.load(builder, loc, block, at, behind, unsigned(group)));
  };
  SmallVector<Values> left;
  for (int64_t r = 0; r < layout.threadRows; ++r)
    left.push_back(read(weightsAt, rowAt(r) * weights.pitch() + first));
  Values sums(given);
  for (size_t s = 0; s < size_t(group); ++s)
    for (auto [g, at] : llvm::enumerate(columnsAt)) {
      Values right = read(at, (first + int64_t(s)) * columns.pitch());
      for (auto [r, x] : llvm::enumerate(left))
        for (auto [c, y] : llvm::enumerate(right)) {
          Value &sum = sums[(r * columnsAt.size() + g) * right.size() + c];
          sum = fma(x[s], y, sum);
        }
    }
  return sums;
}

// Behind the last group of columns a thread sums that one again, in vain.
FmaAttention::Values FmaAttention::accumulate(const Panel &weights,
                                              Operand operand, Range range,
                                              ValueRange given) {
  const Panel &columns = memory.operands[operand];
  Value weightsAt = lineAt(weights, row);
  Values columnsAt;
  int64_t groups = int64_t(given.size()) / (layout.threadRows * group);
  for (int64_t g = 0; g < groups; ++g) {
    Value number = numbers.add(step, int32_t(stepAt(g)));
    if ((g + 1) * layout.across() > columns.groups)
      number =
          numbers.smaller(number, numbers.number(int32_t(columns.groups - 1)));
    columnsAt.push_back(threads.placeAt(
        builder, loc, threads.placeAt(builder, loc, block.start, columns.start),
        numbers.mul(number, int32_t(group))));
  }
  int64_t stepsOfRound = std::min(layout.steps, groupsOfRound * group);
  return loop(range.from, range.to, stepsOfRound, given,
              [&](Value first, ValueRange carried) {
                Value behind = numbers.toI32(first);
                Value down = numbers.mul(behind, int32_t(columns.pitch()));
                Values at;
                for (Value each : columnsAt)
                  at.push_back(threads.placeAt(builder, loc, each, down));
                Value own = threads.placeAt(builder, loc, weightsAt, behind);
                Values next(carried);
                for (int64_t s = 0; s < stepsOfRound; s += group)
                  next = addSteps(own, weights, at, columns, s, next);
                return next;
              });
}

void FmaAttention::giveWeights(const Panel &panel, ValueRange weights) {
  Value at = threads.placeAt(builder, loc, lineAt(panel, row), step);
  for (int64_t r = 0; r < layout.threadRows; ++r)
    for (int64_t s = 0; s < layout.threadSteps; ++s)
      threads.store(builder, loc, block,
                    weights[size_t(r * layout.threadSteps + s)], at,
                    rowAt(r) * panel.pitch() + stepAt(s));
}

//===- Scores -------------------------------------------------------------===//

Value FmaAttention::isStep(const Place &place, Value first, int64_t number) {
  Value at = numbers.add(numbers.add(numbers.toI32(first), step),
                         int32_t(stepAt(number)));
  return numbers.less(at, numbers.toI32(place.steps));
}

FmaAttention::Values FmaAttention::masked(const Place &place, Value first,
                                          ValueRange given) {
  const bool ends = endsInside(attention.steps, layout.steps);
  Value ownRow = numbers.add(numbers.toI32(place.row), row);
  Value ownStep = numbers.add(numbers.toI32(first), step);
  Value hidden = real(-infinity);
  Values scores;
  for (int64_t r = 0; r < layout.threadRows; ++r) {
    Value row = numbers.add(ownRow, int32_t(rowAt(r)));
    for (int64_t s = 0; s < layout.threadSteps; ++s) {
      Value score = given[scores.size()];
      Value step = numbers.add(ownStep, int32_t(stepAt(s)));
      if (attention.scale != 1)
        score = times(score, real(attention.scale));
      if (attention.isMasked)
        score = add(score, client
                               .readMask(place, numbers.toIndex(row),
                                         numbers.toIndex(step), 1)
                               .front());
      if (attention.isCausal) {
        Value isHidden = attention.walksKeys ? numbers.less(step, row)
                                             : numbers.less(row, step);
        score = select(isHidden, hidden, score);
      }
      if (ends)
        score = select(isStep(place, first, s), score, hidden);
      scores.push_back(score);
    }
  }
  return scores;
}

FmaAttention::Values FmaAttention::existing(const Place &place, Value first,
                                            ValueRange given) {
  if (!endsInside(attention.steps, layout.steps))
    return Values(given);
  Values numbers;
  for (auto [at, number] : llvm::enumerate(given))
    numbers.push_back(
        select(isStep(place, first, int64_t(at) % layout.threadSteps), number,
               real(0)));
  return numbers;
}

SmallVector<FmaAttention::Values> FmaAttention::gathered(ValueRange ofRows) {
  const Panel &panel = memory.ofThreads;
  Value line = lineAt(panel, row);
  Value own = threads.placeAt(builder, loc, line, step);
  for (auto [r, number] : llvm::enumerate(ofRows))
    threads.store(builder, loc, block, number, own,
                  rowAt(int64_t(r)) * panel.pitch());
  threads.wait(builder, loc);
  SmallVector<Values> all(ofRows.size());
  for (auto [r, numbers] : llvm::enumerate(all))
    for (int64_t g = 0; g < panel.groups; ++g)
      llvm::append_range(
          numbers,
          elementsOf(threads.load(builder, loc, block, line,
                                  rowAt(int64_t(r)) * panel.pitch() + g * group,
                                  unsigned(group))));
  return all;
}

// Weights relative to the largest score so far; what sums so far are multiplied
// by then.
FmaAttention::Values FmaAttention::weigh(Softmax &softmax, ValueRange scores,
                                         Values &rescales) {
  const size_t count = size_t(layout.threadSteps);
  Values largest = softmax.largest;
  for (auto [at, score] : llvm::enumerate(scores))
    largest[at / count] = larger(score, largest[at / count]);
  for (auto [r, numbers] : llvm::enumerate(gathered(largest)))
    for (Value number : numbers)
      largest[r] = larger(number, largest[r]);
  Values weights;
  for (auto [r, most] : llvm::enumerate(largest)) {
    Value base = unlessInfinite(most);
    Value rescale = exponential(sub(softmax.largest[r], base));
    Value sum = times(softmax.sum[r], rescale);
    for (Value score : scores.slice(r * count, count)) {
      weights.push_back(exponential(sub(score, base)));
      sum = add(sum, weights.back());
    }
    softmax.sum[r] = sum;
    rescales.push_back(rescale);
  }
  softmax.largest = largest;
  return weights;
}

// The sum of a query that sees no key counts as 1, so that what it weighs stays
// 0.
void FmaAttention::finishSoftmax(const Place &place, Softmax &softmax) {
  Value isFirst = numbers.equals(step, 0);
  for (auto [r, parts] : llvm::enumerate(gathered(softmax.sum))) {
    Value sum = parts.front();
    for (Value part : ArrayRef(parts).drop_front())
      sum = add(sum, part);
    Value own = numbers.toIndex(numbers.add(row, int32_t(rowAt(int64_t(r)))));
    if (attention.isPart) {
      client.storeSoftmax(place, add(place.row, own), softmax.largest[r], sum,
                          isFirst);
      continue;
    }
    sum = select(equals(sum, 0), real(1), sum);
    softmax.sum[r] = sum;
    if (!attention.storesLogsumexp)
      continue;
    Value logsumexp = add(unlessInfinite(softmax.largest[r]),
                          math::LogOp::create(builder, loc, sum));
    client.storeLogsumexp(place, add(place.row, own), logsumexp, isFirst);
  }
}

} // namespace sinter::compiler
