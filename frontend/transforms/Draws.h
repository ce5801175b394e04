/// Draws: the random numbers of one transform of one item.
#pragma once

#include "frontend/data/SplitMix.h"

#include <sinter/Random.h>
#include <sinter/data/Transforms.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace sinter::data {

/// A sequence that the place in the thread's default generator decides.
class Draws {
public:
  Draws() : Draws(default_generator()) {}

  /// In [0, 1).
  double unit() { return random.unit(); }
  bool with(double probability) { return unit() < probability; }
  /// In [least, most).
  double in(Interval interval) {
    return interval.least + (interval.most - interval.least) * unit();
  }
  /// The same by logarithms.
  double inLogarithms(Interval interval) {
    return std::exp(in({std::log(interval.least), std::log(interval.most)}));
  }
  /// 0 to count - 1.
  int64_t below(int64_t count) {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(count)));
  }
  uint64_t bits() { return random.next(); }
  double normal() {
    return std::sqrt(-2 * std::log1p(-unit())) *
           std::cos(2 * 3.141592653589793 * unit());
  }
  /// Of the Gamma distribution with scale 1 (Marsaglia and Tsang, A simple
  /// method for generating gamma variables, 2000).
  double gamma(double shape) {
    if (shape < 1)
      return gamma(shape + 1) * std::pow(1 - unit(), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      double x = normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 &&
          std::log1p(-unit()) < x * x / 2 + d - d * v + d * std::log(v))
        return d * v;
    }
  }

private:
  explicit Draws(Generator &generator)
      : random(generator.key_low() ^ std::rotl(generator.key_high(), 32),
               generator.take(1)) {}

  SplitMix random;
};

} // namespace sinter::data
