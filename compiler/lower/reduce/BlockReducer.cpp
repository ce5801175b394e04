/// BlockReducer: reductions of rows that a block of threads has.
#include "compiler/lower/reduce/BlockReducer.h"

#include "compiler/analysis/Marks.h"
#include "compiler/analysis/OpsBehind.h"
#include "compiler/lower/element/ReductionOrder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

// Rounds of a canonical sum that are read at a time.
static constexpr int64_t roundsAtOnce = 16;

// Whether products need not be rounded before they are added.
static bool isContracted(const RowResult &result) {
  return result.op->hasAttr(contractAttr);
}

int64_t BlockReducer::elementsPlace() const {
  return resultPlace() + canonicalLanes;
}

int64_t BlockReducer::numbers(ArrayRef<RowResult> reductions) const {
  bool staged = false, multiplied = false;
  for (const RowResult &result : reductions) {
    staged |= isOrdered(result);
    multiplied |= isOrdered(result) && isContracted(result);
  }
  return elementsPlace() + length * (int64_t(staged) + int64_t(multiplied));
}

void BlockReducer::begin(Emission &emission, ArrayRef<RowResult> reductions,
                         int64_t registers) {
  block = unit.begin(emission.builder, emission.loc, emission.entry, threads,
                     numbers(reductions), registers);
}

Value BlockReducer::columnOf(Emission &emission, int64_t step) const {
  Value first = emission.mul(block.thread, emission.constant(neighbours));
  return emission.add(first, emission.constant(step * threads * neighbours));
}

static bool needs(Operation *op, ArrayRef<RowResult> others) {
  auto behind = opsBehind(op->getOperands());
  return llvm::any_of(others, [&](const RowResult &other) {
    return behind.contains(other.op);
  });
}

size_t BlockReducer::countTogether(ArrayRef<RowResult> rest) const {
  size_t count = 1;
  while (count < rest.size() && !isOrdered(rest[count - 1]) &&
         !isOrdered(rest[count]) &&
         !needs(rest[count].op, rest.take_front(count)))
    ++count;
  return count;
}

Value BlockReducer::load(Emission &emission, Value place) const {
  return memref::LoadOp::create(emission.builder, emission.loc, block.memory,
                                place);
}

Value BlockReducer::isBelow(Emission &emission, Value a, int64_t bound) {
  return arith::CmpIOp::create(emission.builder, emission.loc,
                               arith::CmpIPredicate::ult, a,
                               emission.constant(bound));
}

SmallVector<Element> BlockReducer::reduce(Emission &emission,
                                          ArrayRef<Part> parts,
                                          int64_t first) const {
  Values states;
  if (isOrdered(parts.front().result))
    states = {sumInOrder(emission, parts.front().result, parts.front().elements,
                         first)};
  else
    states = mergeAll(emission, parts, first);
  SmallVector<Element> elements;
  for (auto [part, state] : llvm::zip(parts, states))
    elements.push_back(
        Element{part.result.combiner->finish(emission, {state})});
  return elements;
}

static Value merge(Emission &emission, const Combiner &combiner, Value a,
                   Value b) {
  return combiner.merge(emission, {a}, {b}).front();
}

// Merges what the threads of a warp have.
Value BlockReducer::mergeWarp(Emission &emission, const Combiner &combiner,
                              Value state) const {
  for (int64_t distance = unit.warpThreads() / 2; distance > 0; distance /= 2)
    state =
        merge(emission, combiner, state,
              unit.exchange(emission.builder, emission.loc, state, distance));
  return state;
}

// Of what the thread has: step by step, then neighbours.
Value BlockReducer::mergeThread(Emission &emission, const Part &part) const {
  const Combiner &combiner = *part.result.combiner;
  Value all;
  for (Value element : part.elements) {
    Values lifted = combiner.lift(emission, element, {});
    all = all ? combiner.take(emission, {all}, lifted).front() : lifted.front();
  }
  if (neighbours == 1)
    return all;
  Value state;
  for (int64_t lane = 0; lane < neighbours; ++lane) {
    Value one =
        vector::ExtractOp::create(emission.builder, emission.loc, all, lane);
    state = state ? merge(emission, combiner, state, one) : one;
  }
  return state;
}

// Threads of a warp, then warps. Each reduction has a place of its own, so that
// the next ones need not wait for those that read these.
BlockReducer::Values BlockReducer::mergeAll(Emission &emission,
                                            ArrayRef<Part> parts,
                                            int64_t first) const {
  Values states;
  for (const Part &part : parts)
    states.push_back(mergeWarp(emission, *part.result.combiner,
                               mergeThread(emission, part)));
  if (warps() == 1)
    return states;
  auto placeOf = [&](size_t number) {
    return (first + int64_t(number)) * placesOfWarps();
  };
  Value warp =
      emission.floorDiv(block.thread, emission.constant(unit.warpThreads()));
  for (auto [number, state] : llvm::enumerate(states))
    memref::StoreOp::create(
        emission.builder, emission.loc, state, block.memory,
        emission.add(emission.constant(placeOf(number)), warp));
  wait(emission);
  for (auto [number, part] : llvm::enumerate(parts)) {
    Value &state = states[number];
    state = {};
    for (int64_t other = 0; other < warps(); ++other) {
      Value one = load(emission, emission.constant(placeOf(number) + other));
      state = state ? merge(emission, *part.result.combiner, state, one) : one;
    }
  }
  return states;
}

// Stores elements, or both factors of each, where one warp sums them.
BlockReducer::Staged BlockReducer::stage(Emission &emission,
                                         const RowResult &result,
                                         const Values &elements) const {
  auto productOf = [](Value element) {
    return element.getDefiningOp<arith::MulFOp>();
  };
  Staged staged;
  staged.multiplied = isContracted(result) && llvm::all_of(elements, productOf);
  staged.squared =
      staged.multiplied && llvm::all_of(elements, [&](Value element) {
        arith::MulFOp product = productOf(element);
        return product.getLhs() == product.getRhs();
      });
  auto put = [&](Value value, int64_t step, int64_t array) {
    Value at =
        emission.add(columnOf(emission, step),
                     emission.constant(elementsPlace() + array * length));
    vector::StoreOp::create(emission.builder, emission.loc, value, block.memory,
                            at);
  };
  for (auto [step, element] : llvm::enumerate(elements)) {
    if (!staged.multiplied) {
      put(result.combiner->lift(emission, element, {}).front(), step, 0);
      continue;
    }
    arith::MulFOp product = productOf(element);
    put(product.getLhs(), step, 0);
    if (!staged.squared)
      put(product.getRhs(), step, 1);
  }
  return staged;
}

Value BlockReducer::stagedAt(Emission &emission, const Staged &staged,
                             Value place) const {
  Value value = load(emission, place);
  if (!staged.multiplied)
    return value;
  Value other = value;
  if (!staged.squared)
    other = load(emission, emission.add(place, emission.constant(length)));
  return arith::MulFOp::create(emission.builder, emission.loc, value, other);
}

// The sum of one lane of the canonical order.
Value BlockReducer::sumLane(Emission &emission, const Combiner &combiner,
                            const Staged &staged, Value lane) const {
  int64_t rounds = std::gcd(length / canonicalLanes, roundsAtOnce);
  Value first = emission.add(lane, emission.constant(elementsPlace()));
  return emission
      .loop(emission.constant(0), emission.constant(length),
            canonicalLanes * rounds, combiner.init(emission, 1),
            [&](Value begin, ValueRange carried) {
              Values state(carried);
              Value own = emission.add(begin, first);
              for (int64_t round = 0; round < rounds; ++round) {
                Value place = emission.add(
                    own, emission.constant(round * canonicalLanes));
                Value element = stagedAt(emission, staged, place);
                state = combiner.take(emission, state,
                                      combiner.lift(emission, element, {}));
              }
              return state;
            })
      .front();
}

// A thread sums each lane: of the next reduction one of other warps, as warps
// share what issues their instructions. The tree of lanes is that of each warp.
Value BlockReducer::sumInOrder(Emission &emission, const RowResult &result,
                               const Values &elements, int64_t number) const {
  Staged staged = stage(emission, result, elements);
  wait(emission);
  int64_t first = canonicalLanes * (number % (threads / canonicalLanes));
  Value lane = emission.sub(block.thread, emission.constant(first));
  Value sums = emission.constant(resultPlace());
  emission.when(isBelow(emission, lane, canonicalLanes), [&] {
    Value sum = sumLane(emission, *result.combiner, staged, lane);
    memref::StoreOp::create(emission.builder, emission.loc, sum, block.memory,
                            emission.add(lane, sums));
  });
  wait(emission);
  Value own = emission.add(
      emission.mod(block.thread, emission.constant(unit.warpThreads())), sums);
  Values lanes;
  for (int64_t at = 0; at < canonicalLanes; at += unit.warpThreads())
    lanes.push_back(at ? emission.add(own, emission.constant(at)) : own);
  for (Value &place : lanes)
    place = load(emission, place);
  for (; lanes.size() > 1; lanes.truncate(lanes.size() / 2))
    for (size_t low = 0; low < lanes.size() / 2; ++low)
      lanes[low] = merge(emission, *result.combiner, lanes[low],
                         lanes[lanes.size() / 2 + low]);
  return mergeWarp(emission, *result.combiner, lanes.front());
}

} // namespace sinter::compiler
