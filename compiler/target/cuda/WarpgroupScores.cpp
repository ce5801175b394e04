/// WarpgroupAttention: what becomes of scores in registers.
#include "compiler/target/cuda/WarpgroupAttention.h"

#include "compiler/target/cuda/WarpgroupLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace sinter::compiler {

using Layout = WarpgroupLayout;

static constexpr double infinity = std::numeric_limits<double>::infinity();

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

Value WarpgroupAttention::firstRow(const Place &place) {
  return ptx.add(ptx.toI32(place.row),
                 ptx.mul(consumer, int32_t(Layout::rows)));
}

Value WarpgroupAttention::firstStep(Value stage) {
  return ptx.add(ptx.mul(stage, int32_t(layout.steps)),
                 ptx.mul(ptx.bitAnd(thread, 3), 2));
}

// Columns that a thread has follow each other by eight, after two of each row.
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
  Value step = firstStep(stage);
  Value share = firstRow(place);
  Values sums;
  for (size_t at = 0; at < scores.size(); at += 2) {
    Value row = ptx.add(share, rowsOfThread()[rowOf(at)]);
    auto added = client.readMask(place, ptx.toIndex(row),
                                 ptx.toIndex(ptx.add(step, columnOf(at))), 2);
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
  Value first = firstStep(stage);
  Value share = firstRow(place);
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

// In chains, which run side by side.
Value WarpgroupAttention::joined(const Values &numbers, unsigned row,
                                 llvm::function_ref<Value(Value, Value)> join) {
  constexpr size_t chains = 4;
  Values parts;
  for (auto [at, number] : llvm::enumerate(numbers)) {
    if (rowOf(at) != row)
      continue;
    size_t chain = (at / 4 * 2 + at % 2) % chains;
    if (parts.size() <= chain)
      parts.push_back(number);
    else
      parts[chain] = join(parts[chain], number);
  }
  return join(join(parts[0], parts[1]), join(parts[2], parts[3]));
}

Value WarpgroupAttention::isNumber(Value x, double number) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x,
                               real(number));
}

// What weights are relative to: 0 where there is no score.
Value WarpgroupAttention::baseOf(Value largest) {
  return ptx.select(isNumber(largest, -infinity), real(0), largest);
}

// Weights relative to the largest score so far; `rescale` is what the sums so
// far are multiplied by then. Where all scores are -infinity, so that there is
// nothing to be relative to, weights are 0.
WarpgroupAttention::Values WarpgroupAttention::weigh(Softmax &softmax,
                                                     const Values &scores,
                                                     Value (&rescale)[2],
                                                     bool isFirstStage) {
  auto most = [&](Value a, Value b) { return larger(a, b); };
  auto total = [&](Value a, Value b) { return add(a, b); };
  Value factor = real(this->factor()), offset[2];
  for (unsigned row : {0, 1}) {
    Value largest = ofRow(joined(scores, row, most), most);
    Value before = softmax.largest[row];
    if (!isFirstStage)
      largest = larger(before, largest);
    offset[row] = mul(baseOf(largest), real(-this->factor()));
    if (!isFirstStage)
      rescale[row] = ptx.exp2(fma(before, factor, offset[row]));
    softmax.largest[row] = largest;
  }
  Values weights;
  for (auto [at, score] : llvm::enumerate(scores))
    weights.push_back(ptx.exp2(fma(score, factor, offset[rowOf(at)])));
  for (unsigned row : {0, 1}) {
    Value sum = joined(weights, row, total);
    softmax.sum[row] =
        isFirstStage ? sum : fma(softmax.sum[row], rescale[row], sum);
  }
  return weights;
}

//===- Numbers of queries -------------------------------------------------===//

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

} // namespace sinter::compiler
