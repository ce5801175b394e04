/// LaneScan: shuffles and merges.
#include "compiler/lower/fiber/LaneScan.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace sinter::compiler {

using Values = Emission::Values;

Value LaneScan::shuffle(Value a, Value b, ArrayRef<int64_t> order) const {
  return vector::ShuffleOp::create(emission.builder, emission.loc, a, b, order);
}

Values LaneScan::spread(const Values &scalars, unsigned count) const {
  Values all;
  for (Value scalar : scalars)
    all.push_back(emission.spread(Element{scalar}, count));
  return all;
}

// Lanes of `state` so many further on in the order of folding; those of `in`
// (vectors) where there are none.
Values LaneScan::shifted(const Values &state, const Values &in,
                         int64_t distance) const {
  Values all;
  for (auto [value, other] : llvm::zip(state, in)) {
    int64_t count = cast<VectorType>(value.getType()).getNumElements();
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < count; ++lane) {
      int64_t from = backwards ? lane + distance : lane - distance;
      order.push_back(from >= 0 && from < count ? from : count + lane);
    }
    all.push_back(shuffle(value, other, order));
  }
  return all;
}

void LaneScan::fold(const Values &state) {
  unsigned half = lanes / 2;
  SmallVector<int64_t> even, odd;
  for (unsigned pair = 0; pair < half; ++pair) {
    even.push_back(2 * pair);
    odd.push_back(2 * pair + 1);
  }
  earlier.clear();
  Values later;
  for (Value value : state) {
    earlier.push_back(shuffle(value, value, backwards ? odd : even));
    later.push_back(shuffle(value, value, backwards ? even : odd));
  }
  Values none = combiner.init(emission, half);
  pairs = combiner.merge(emission, earlier, later);
  for (unsigned distance = 1; distance < half; distance *= 2)
    pairs = combiner.merge(emission, shifted(pairs, none, distance), pairs);
}

Values LaneScan::total() const {
  int64_t last = backwards ? 0 : lanes / 2 - 1;
  Values all;
  for (Value value : pairs)
    all.push_back(
        vector::ExtractOp::create(emission.builder, emission.loc, value, last));
  return all;
}

Values LaneScan::from(const Values &start) const {
  unsigned half = lanes / 2;
  Values none = combiner.init(emission, half);
  Values first = combiner.merge(emission, shifted(pairs, none, 1), earlier);
  SmallVector<int64_t> order;
  for (int64_t pair = 0; pair < half; ++pair) {
    order.push_back(pair);
    order.push_back(half + pair);
  }
  Values own;
  for (auto [one, two] : llvm::zip(first, pairs))
    own.push_back(backwards ? shuffle(two, one, order)
                            : shuffle(one, two, order));
  return combiner.merge(emission, spread(start, lanes), own);
}

Values LaneScan::before(const Values &start) const {
  return shifted(from(start), spread(start, lanes), 1);
}

} // namespace sinter::compiler
