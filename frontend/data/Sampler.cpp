/// Samplers: in which order an epoch takes the items of a data set.
#include <sinter/data/Sampler.h>

#include "frontend/Raise.h"
#include "frontend/data/SplitMix.h"

#include <sinter/data/Combine.h>
#include <sinter/data/Shuffle.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace sinter::data {

static ErrorInfo badSampler(const std::string &what) {
  return makeError(ErrorKind::invalid_argument, "sampler: " + what);
}

namespace {

/// Weights that were checked, and what draws by them need.
class Weights {
public:
  Weights(std::vector<double> given, const SourceLine &where)
      : weights(std::move(given)) {
    double total = 0;
    for (double weight : weights) {
      if (!(weight >= 0) || std::isinf(weight))
        detail::raise(badSampler(fmt::format("a weight is {}", weight)), where);
      sums.push_back(total += weight);
      positive += weight > 0 ? 1 : 0;
    }
    if (total == 0)
      detail::raise(badSampler("all weights are 0"), where);
  }

  void check(int64_t size, int64_t draws, bool replacement,
             const SourceLine &where) const {
    if (size != static_cast<int64_t>(sums.size()))
      detail::raise(
          badSampler(fmt::format("{} weights for {} items", sums.size(), size)),
          where);
    if (!replacement && draws > positive)
      detail::raise(
          badSampler(fmt::format("{} items without replacement, of which {} "
                                 "have a weight above 0",
                                 draws, positive)),
          where);
  }

  /// One index.
  int64_t draw(SplitMix &random) const {
    // The first whose sum is above: one of weight 0 never is.
    double total = sums.back();
    double at = std::min(random.unit() * total, std::nextafter(total, 0.0));
    return std::ranges::upper_bound(sums, at) - sums.begin();
  }

  /// Different indices: those with the earliest arrivals, of exponential times
  /// with the weights as rates (Efraimidis and Spirakis, Weighted random
  /// sampling with a reservoir, 2006).
  std::vector<int64_t> drawDistinct(int64_t count, SplitMix random) const {
    std::vector<std::pair<double, int64_t>> arrivals;
    for (size_t i = 0; i < weights.size(); ++i) {
      double time = -std::log1p(-random.unit());
      if (weights[i] > 0)
        arrivals.emplace_back(time / weights[i], static_cast<int64_t>(i));
    }
    std::ranges::partial_sort(arrivals, arrivals.begin() + count);
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i)
      order.push_back(arrivals[static_cast<size_t>(i)].second);
    return order;
  }

private:
  std::vector<double> weights, sums;
  int64_t positive = 0;
};

} // namespace

/// `count` indices, each what `draw` makes of the epoch's random numbers.
template <typename F>
static std::vector<int64_t> drawn(int64_t count, SplitMix random, F draw) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (int64_t &index : order)
    index = draw(random);
  return order;
}

static std::vector<int64_t> withReplacement(int64_t size, int64_t count,
                                            SplitMix random) {
  return drawn(size == 0 ? 0 : count, random, [size](SplitMix &next) {
    return static_cast<int64_t>(next.below(static_cast<uint64_t>(size)));
  });
}

/// Orders of all items one after the other, the last one cut.
static std::vector<int64_t> inRounds(int64_t size, int64_t count,
                                     SplitMix random) {
  std::vector<int64_t> order;
  while (size > 0 && static_cast<int64_t>(order.size()) < count) {
    std::vector<int64_t> round = shuffled(size, random.next());
    int64_t missing = count - static_cast<int64_t>(order.size());
    order.insert(order.end(), round.begin(),
                 round.begin() + std::min(missing, size));
  }
  return order;
}

Sampler sequential_sampler() try {
  return [](int64_t size, int64_t) { return consecutive(size); };
} catch (...) {
  detail::raiseExhausted({});
}

Sampler random_sampler(uint64_t seed, int64_t count) try {
  return [=](int64_t size, int64_t epoch) {
    return inRounds(size, count > 0 ? count : size, SplitMix(seed, epoch));
  };
} catch (...) {
  detail::raiseExhausted({});
}

Sampler replacement_sampler(uint64_t seed, int64_t count) try {
  return [=](int64_t size, int64_t epoch) {
    return withReplacement(size, count > 0 ? count : size,
                           SplitMix(seed, epoch));
  };
} catch (...) {
  detail::raiseExhausted({});
}

Sampler weighted_sampler(std::vector<double> weights, uint64_t seed,
                         int64_t count, bool replacement) try {
  auto table =
      std::make_shared<const Weights>(std::move(weights), SourceLine());
  return [=](int64_t size, int64_t epoch) {
    int64_t draws = count > 0 ? count : size;
    table->check(size, draws, replacement, {});
    SplitMix random(seed, static_cast<uint64_t>(epoch));
    if (!replacement)
      return table->drawDistinct(draws, random);
    return drawn(draws, random,
                 [&](SplitMix &next) { return table->draw(next); });
  };
} catch (...) {
  detail::raiseExhausted({});
}

std::vector<int64_t> sampled(int64_t size, const SampleOptions &options,
                             std::source_location where) try {
  if (options.count < 0)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("sample: a count of {}", options.count),
                            "sample"),
                  where);
  int64_t count = options.count > 0 ? options.count : size;
  if (size == 0 && options.count > 0)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("sample: {} of no items", count),
                            "sample"),
                  where);
  SplitMix random(options.seed);
  if (options.weights.empty())
    return options.replacement ? withReplacement(size, count, random)
                               : inRounds(size, count, random);
  Weights weights(options.weights, where);
  weights.check(size, count, options.replacement, where);
  if (!options.replacement)
    return weights.drawDistinct(count, random);
  return drawn(count, random,
               [&](SplitMix &next) { return weights.draw(next); });
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
