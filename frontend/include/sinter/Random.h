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

/// 1 with probability `p`, else 0: where the uniform f32 number of the position
/// is below p. The same on every device.
Tensor bernoulli(const Dims &shape, double p,
                 Generator &generator = default_generator(),
                 DType dtype = DType::f32,
                 std::source_location where = std::source_location::current());
/// The same for a probability each; in its shape and dtype.
Tensor bernoulli(const Arg &p, Generator &generator = default_generator());
/// Integers in [low, high), i64 unless another dtype is named. The same on
/// every device. Of ranges of 2^53 numbers and more not each one is drawn.
Tensor randint(int64_t low, int64_t high, const Dims &shape,
               Generator &generator = default_generator(),
               DType dtype = DType::i64,
               std::source_location where = std::source_location::current());
/// 0, ..., count - 1 in a random order; i64. The same on every device.
Tensor randperm(int64_t count, Generator &generator = default_generator(),
                std::source_location where = std::source_location::current());
/// Draws `count` positions along the last axis by weights that need not add up
/// to 1; i64. A weight of 0 is not drawn while there are others. Without
/// `replacement` no position is drawn twice.
Tensor multinomial(const Arg &weights, int64_t count, bool replacement = false,
                   Generator &generator = default_generator());

/// x with each element zero with probability `p`, the others divided by 1 - p.
/// What a model does in training; in use, it leaves this out.
Tensor dropout(const Arg &x, double p = 0.5,
               Generator &generator = default_generator());

} // namespace sinter
