/// Canonical chunks that blocks of threads take.
#include "compiler/lower/reduce/BlockChunk.h"

#include "compiler/lower/element/ReductionOrder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

using Values = Emission::Values;

// Elements of a load, and rounds of lanes that are read at a time.
static constexpr int64_t neighbours = 4, roundsAtOnce = 16;
static constexpr int64_t threadsOfChunk = 512, registersOfThread = 64;

// The lanes' sums stand before what is summed, and its other factors behind it.
BlockChunk::BlockChunk(const BlockThreads &unit, bool multiplies)
    : unit(unit), multiplies(multiplies),
      threads(std::min(threadsOfChunk, unit.mostThreads())) {
  int64_t atOnce = threads * neighbours;
  bool hasLanes = canonicalLanes % unit.warpThreads() == 0 &&
                  threads >= canonicalLanes && canonicalChunk % atOnce == 0;
  int64_t room = (unit.mostNumbers() - canonicalLanes) / (multiplies ? 2 : 1);
  for (size = hasLanes ? canonicalChunk : 0; size > room;)
    size = size > atOnce ? size / 2 : 0;
}

bool BlockChunk::takes(Operation *op) {
  auto combiner = makeCombiner(op->getResult(0));
  return combiner && combiner->isOrdered() && !combiner->needsPosition() &&
         !combiner->mergesLong() && combiner->types().size() == 1 &&
         combiner->types().front().isF32();
}

void BlockChunk::begin(Emission &emission) {
  int64_t numbers = canonicalLanes + size * (multiplies ? 2 : 1);
  block = unit.begin(emission.builder, emission.loc, emission.entry, threads,
                     numbers, registersOfThread);
}

static Value isLess(Emission &emission, Value a, Value b) {
  return arith::CmpIOp::create(emission.builder, emission.loc,
                               arith::CmpIPredicate::ult, a, b);
}

Value BlockChunk::isFirst(Emission &emission) const {
  return isLess(emission, block.thread, emission.constant(1));
}

Value BlockChunk::isLane(Emission &emission) const {
  return isLess(emission, block.thread, emission.constant(canonicalLanes));
}

Value BlockChunk::load(Emission &emission, Value place) const {
  return memref::LoadOp::create(emission.builder, emission.loc, block.memory,
                                place);
}

void BlockChunk::store(Emission &emission, Value value, Value place) const {
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(emission.builder, emission.loc, value, block.memory,
                            place);
  else
    memref::StoreOp::create(emission.builder, emission.loc, value, block.memory,
                            place);
}

// The factors of a product; the element itself and ones for another element.
static std::pair<Value, Value> factorsOf(Emission &emission, Value element) {
  auto spread = element.getDefiningOp<vector::BroadcastOp>();
  Value source = spread ? spread.getSource() : element;
  auto product = source.getDefiningOp<arith::MulFOp>();
  if (!product)
    return {element, emission.number(element.getType(), 1)};
  auto wide = [&](Value factor) {
    return emission.spread(Element{factor}, neighbours);
  };
  return {wide(product.getLhs()), wide(product.getRhs())};
}

// Elements from `first` on, those of the thread; none at `end` or behind it.
void BlockChunk::put(Emission &emission, const Combiner &combiner, Value first,
                     Value end, const ElementAt &elementAt) {
  SmallVector<std::pair<Value, Value>> elements; // and where they go
  for (int64_t step = 0; step < size; step += threads * neighbours) {
    Value own =
        emission.add(emission.mul(block.thread, emission.constant(neighbours)),
                     emission.constant(step));
    Value at = emission.add(first, own);
    Lanes lanes{unsigned(neighbours), {}, false};
    if (end)
      lanes.mask = emission.tailMask(emission.sub(end, emission.min(at, end)),
                                     unsigned(neighbours));
    elements.push_back(
        {elementAt(emission.along(at, unsigned(neighbours)), lanes), own});
  }
  for (auto [element, own] : elements) {
    Value place = emission.add(own, emission.constant(canonicalLanes));
    if (!multiplies) {
      store(emission, combiner.lift(emission, element, {}).front(), place);
      continue;
    }
    auto [one, other] = factorsOf(emission, element);
    store(emission, one, place);
    store(emission, other, emission.add(place, emission.constant(size)));
  }
}

Value BlockChunk::stagedAt(Emission &emission, Value place) const {
  Value value = load(emission, place);
  if (!multiplies)
    return value;
  Value other = load(emission, emission.add(place, emission.constant(size)));
  return arith::MulFOp::create(emission.builder, emission.loc, value, other);
}

// The lane's sum with what is in memory of it; `valid` of all elements there,
// where these are not all.
Value BlockChunk::sumLane(Emission &emission, const Combiner &combiner,
                          Value state, Value valid) const {
  Value lane = emission.add(block.thread, emission.constant(canonicalLanes));
  auto take = [&](Value from, const Values &before) {
    Value element = stagedAt(emission, emission.add(from, lane));
    return combiner.take(emission, before,
                         combiner.lift(emission, element, {}));
  };
  auto takeRounds = [&](Value begin, Value end, int64_t count, Value before) {
    return emission
        .loop(begin, end, canonicalLanes * count, before,
              [&](Value from, ValueRange carried) {
                Values states(carried);
                for (int64_t round = 0; round < count; ++round)
                  states = take(emission.add(from, emission.constant(
                                                       round * canonicalLanes)),
                                states);
                return states;
              })
        .front();
  };
  Value zero = emission.constant(0);
  if (!valid)
    return takeRounds(zero, emission.constant(size), roundsAtOnce, state);
  auto multipleOf = [&](int64_t count) {
    Value step = emission.constant(count);
    return emission.mul(emission.floorDiv(valid, step), step);
  };
  Value middle = multipleOf(canonicalLanes * roundsAtOnce);
  Value whole = multipleOf(canonicalLanes);
  state = takeRounds(zero, middle, roundsAtOnce, state);
  state = takeRounds(middle, whole, 1, state);
  Value isLeft = isLess(emission, block.thread, emission.sub(valid, whole));
  Values before{state};
  return emission
      .branch(
          isLeft, ValueRange(before).getTypes(),
          [&] { return take(whole, before); }, [&] { return before; })
      .front();
}

// The tree of lanes, by the first warp.
Value BlockChunk::mergeLanes(Emission &emission, const Combiner &combiner,
                             Value state) {
  emission.when(isLane(emission),
                [&] { store(emission, state, block.thread); });
  wait(emission);
  int64_t warp = unit.warpThreads();
  Value own = emission.mod(block.thread, emission.constant(warp));
  Values lanes;
  for (int64_t at = 0; at < canonicalLanes; at += warp)
    lanes.push_back(load(emission, emission.add(own, emission.constant(at))));
  auto merge = [&](Value a, Value b) {
    return combiner.merge(emission, {a}, {b}).front();
  };
  for (; lanes.size() > 1; lanes.truncate(lanes.size() / 2))
    for (size_t low = 0; low < lanes.size() / 2; ++low)
      lanes[low] = merge(lanes[low], lanes[lanes.size() / 2 + low]);
  Value merged = lanes.front();
  for (int64_t distance = warp / 2; distance > 0; distance /= 2)
    merged = merge(merged, unit.exchange(emission.builder, emission.loc, merged,
                                         distance));
  return merged;
}

Value BlockChunk::reduce(Emission &emission, Operation *op, Value begin,
                         Value end, const ElementAt &elementAt) {
  auto combiner = makeCombiner(op->getResult(0));
  Value state = combiner->init(emission, 1).front();
  for (int64_t done = 0; done < canonicalChunk; done += size) {
    Value first = emission.add(begin, emission.constant(done)), valid;
    // Another one may still read what was there.
    if (done > 0)
      wait(emission);
    if (!end) {
      put(emission, *combiner, first, {}, elementAt);
    } else {
      Value all = emission.constant(size);
      Value left = emission.sub(end, emission.min(first, end));
      Value last = emission.sub(all, emission.constant(1));
      emission.when(isLess(emission, left, all),
                    [&] { put(emission, *combiner, first, end, elementAt); });
      emission.when(isLess(emission, last, left),
                    [&] { put(emission, *combiner, first, {}, elementAt); });
      valid = emission.min(left, all);
    }
    wait(emission);
    Values before{state};
    state = emission
                .branch(
                    isLane(emission), ValueRange(before).getTypes(),
                    [&]() -> Values {
                      return {sumLane(emission, *combiner, state, valid)};
                    },
                    [&] { return before; })
                .front();
  }
  Value merged = mergeLanes(emission, *combiner, state);
  // Before the next one's elements or lanes take the place of these.
  wait(emission);
  return merged;
}

} // namespace sinter::compiler
