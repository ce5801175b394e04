/// Random: counter-based generators; the same numbers on every device.
#pragma once

#include <sinter/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>

namespace sinter {

/// A 128-bit key and a 64-bit counter. Recording a draw takes its range of
/// counters, so evaluation order, fusion and dead code never change numbers.
/// Copies continue independently. One generator may be used by many threads.
class Generator {
public:
  explicit Generator(uint64_t seed = 0);
  Generator(uint64_t key_low, uint64_t key_high, uint64_t counter = 0);
  Generator(const Generator &other);
  Generator &operator=(const Generator &other);

  /// A generator whose numbers are unrelated to this one's.
  Generator split();

  /// The counter from which `blocks` blocks of four numbers are now taken.
  uint64_t take(uint64_t blocks);
  uint64_t key_low() const { return keyLow; }
  uint64_t key_high() const { return keyHigh; }
  uint64_t counter() const { return next.load(); }

private:
  uint64_t keyLow;
  uint64_t keyHigh;
  std::atomic<uint64_t> next;
};

/// The calling thread's generator, seeded by `manual_seed`.
Generator &default_generator();
/// Restarts the calling thread's default generator.
void manual_seed(uint64_t seed);

/// Reals in [low, high).
Tensor uniform(const Dims &shape, Generator &generator = default_generator(),
               double low = 0, double high = 1, DType dtype = DType::f32,
               std::source_location where = std::source_location::current());
/// Reals of the normal distribution.
Tensor normal(const Dims &shape, Generator &generator = default_generator(),
              double mean = 0, double deviation = 1, DType dtype = DType::f32,
              std::source_location where = std::source_location::current());

/// x with each element zero with probability `p`, the others divided by 1 - p.
/// What a model does in training; in use, it leaves this out.
Tensor dropout(const Arg &x, double p = 0.5,
               Generator &generator = default_generator());

} // namespace sinter
