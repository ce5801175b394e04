/// Samplers: in which order an epoch takes the items of a data set.
#include <sinter/data/Sampler.h>

#include "frontend/Raise.h"
#include "frontend/data/SplitMix.h"

#include <sinter/data/Shuffle.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sinter::data {

static ErrorInfo badSampler(const std::string &what) {
  return makeError(ErrorKind::invalid_argument, "sampler: " + what);
}

/// `count` indices, each what `draw` makes of the epoch's random numbers.
template <typename F>
static std::vector<int64_t> drawn(int64_t count, SplitMix random, F draw) {
  std::vector<int64_t> order(count);
  for (int64_t &index : order)
    index = draw(random);
  return order;
}

Sampler sequential_sampler() try {
  return [](int64_t size, int64_t) { return consecutive(size); };
} catch (...) {
  detail::raiseExhausted({});
}

Sampler random_sampler(uint64_t seed) try {
  return [seed](int64_t size, int64_t epoch) {
    return shuffled(size, SplitMix(seed, epoch).next());
  };
} catch (...) {
  detail::raiseExhausted({});
}

Sampler replacement_sampler(uint64_t seed, int64_t count) try {
  return [=](int64_t size, int64_t epoch) {
    int64_t draws = size == 0 ? 0 : count > 0 ? count : size;
    return drawn(draws, SplitMix(seed, epoch), [size](SplitMix &random) {
      return static_cast<int64_t>(random.below(size));
    });
  };
} catch (...) {
  detail::raiseExhausted({});
}

Sampler weighted_sampler(std::vector<double> weights, uint64_t seed,
                         int64_t count) try {
  double total = 0;
  for (double &weight : weights) {
    if (!(weight >= 0) || std::isinf(weight))
      detail::raise(badSampler(fmt::format("a weight is {}", weight)), {});
    weight = total += weight;
  }
  if (total == 0)
    detail::raise(badSampler("all weights are 0"), {});
  return [=, sums = std::move(weights)](int64_t size, int64_t epoch) {
    if (size != static_cast<int64_t>(sums.size()))
      detail::raise(
          badSampler(fmt::format("{} weights for {} items", sums.size(), size)),
          {});
    int64_t draws = count > 0 ? count : size;
    return drawn(draws, SplitMix(seed, epoch), [&](SplitMix &random) {
      // The first whose sum is above: one of weight 0 never is.
      double at = std::min(random.unit() * total, std::nextafter(total, 0.0));
      return std::ranges::upper_bound(sums, at) - sums.begin();
    });
  };
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::data
