/// Random orders that are the same on every machine.
#include <sinter/data/Shuffle.h>

#include "frontend/Raise.h"
#include "frontend/data/SplitMix.h"

#include <numeric>
#include <utility>

namespace sinter::data {

std::vector<int64_t> consecutive(int64_t count) try {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
} catch (...) {
  detail::raiseExhausted({});
}

std::vector<int64_t> shuffled(int64_t count, uint64_t seed) try {
  std::vector<int64_t> order = consecutive(count);
  SplitMix random(seed);
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[random.below(i + 1)]);
  return order;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::data
