/// Generators, and the recorded draws from them.
#include <sinter/Random.h>

#include "frontend/Capture.h"
#include "frontend/Composed.h"
#include "frontend/Pending.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/ScanBodies.h"
#include "runtime/graph/OpIds.h"
#include "runtime/support/RandomKey.h"

#include <sinter/BasicOps.h>
#include <sinter/generated/functions/Elementwise.h>

#include <fmt/format.h>

namespace sinter {

Generator::Generator(uint64_t seed)
    : Generator(RandomKey::ofSeed(seed).low, RandomKey::ofSeed(seed).high) {}

Generator::Generator(uint64_t key_low, uint64_t key_high, uint64_t counter)
    : keyLow(key_low), keyHigh(key_high), next(counter) {}

Generator::Generator(const Generator &other)
    : keyLow(other.keyLow), keyHigh(other.keyHigh), next(other.next.load()) {}

Generator &Generator::operator=(const Generator &other) try {
  keyLow = other.keyLow;
  keyHigh = other.keyHigh;
  next = other.next.load();
  return *this;
} catch (...) {
  detail::raiseExhausted({});
}

uint64_t Generator::take(uint64_t blocks) {
  return next.fetch_add(blocks, std::memory_order_relaxed);
}

Generator Generator::split() try {
  uint64_t position = take(1);
  return Generator(mixBits(keyLow ^ mixBits(position)),
                   mixBits(keyHigh + mixBits(~position)));
} catch (...) {
  detail::raiseExhausted({});
}

Generator &default_generator() {
  static thread_local Generator generator;
  return generator;
}

void manual_seed(uint64_t seed) { default_generator() = Generator(seed); }

detail::Draw detail::takeDraw(Generator &generator, Dim blocks,
                              const SourceLine &where) {
  if (Capture *capture = Capture::current())
    return capture->draw(generator, blocks, where);
  auto scalar = [](uint64_t bits) {
    return graph::NodeFactory::scalar(DType::i64, bits);
  };
  return {scalar(generator.key_low()), scalar(generator.key_high()),
          scalar(generator.take(uint64_t(blocks.value))), blocks};
}

/// What the elements of `shape` take.
static detail::Draw drawFor(Generator &generator, std::span<const Dim> shape,
                            const SourceLine &where) {
  detail::refuseInScanBody("draws random numbers, which would be the same in "
                           "each step: draw them before, as one of xs",
                           where);
  Dim count = 1;
  for (Dim dim : shape)
    count = count * (dim.value < 0 ? Dim(0) : dim);
  return detail::takeDraw(generator, ceilDiv(count, 4), where);
}

Tensor uniform(const Dims &shape, Generator &generator, double low, double high,
               DType dtype, std::source_location where) try {
  detail::Recorder recorder(graph::OpId::random_uniform, where);
  detail::Draw draw = drawFor(generator, shape, where);
  Tensor unit = recorder.result(
      graph::random_uniform(draw.keyLow, draw.keyHigh, draw.counter, shape,
                            dtype, detail::currentDevice()));
  if (low == 0 && high == 1)
    return unit;
  Tensor scaled = mul(Arg(unit, where), Arg(scalar(high - low), where));
  return add(Arg(scaled, where), Arg(scalar(low), where));
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor normal(const Dims &shape, Generator &generator, double mean,
              double deviation, DType dtype, std::source_location where) try {
  detail::Recorder recorder(graph::OpId::random_normal, where);
  detail::Draw draw = drawFor(generator, shape, where);
  Tensor unit = recorder.result(graph::random_normal(draw.keyLow, draw.keyHigh,
                                                     draw.counter, shape, dtype,
                                                     detail::currentDevice()));
  if (mean == 0 && deviation == 1)
    return unit;
  Tensor scaled = mul(Arg(unit, where), Arg(scalar(deviation), where));
  return add(Arg(scaled, where), Arg(scalar(mean), where));
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Made of these ------------------------------------------------------===//

static ErrorInfo refusal(const char *name, const std::string &what) {
  return makeError(ErrorKind::invalid_argument,
                   fmt::format("{}: {}", name, what), name);
}

Tensor bernoulli(const Dims &shape, double p, Generator &generator, DType dtype,
                 std::source_location where) try {
  if (!(p >= 0 && p <= 1))
    detail::raise(refusal("bernoulli", fmt::format("a probability of {}", p)),
                  where);
  detail::SourceScope scope(where);
  return (uniform(shape, generator) < p).to(dtype);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor bernoulli(const Arg &p, Generator &generator) try {
  detail::Composed call("bernoulli", p);
  if (!isFloat(call.x.dtype()))
    call.fail("probabilities are floats");
  return (uniform(call.x.shape(), generator) < call.x).to(call.x.dtype());
} catch (...) {
  detail::raiseExhausted(p.where);
}

// In f64, where the product is one rounding away from its number, and whole
// numbers are exact.
Tensor randint(int64_t low, int64_t high, const Dims &shape,
               Generator &generator, DType dtype,
               std::source_location where) try {
  if (low >= high)
    detail::raise(
        refusal("randint", fmt::format("no integer is in [{}, {})", low, high)),
        where);
  detail::SourceScope scope(where);
  double count = double(high) - double(low);
  Tensor unit = uniform(shape, generator, 0, 1, DType::f64);
  Tensor steps = minimum(floor(unit * count), count - 1).to(DType::i64);
  return (steps + low).to(dtype);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor randperm(int64_t count, Generator &generator,
                std::source_location where) try {
  if (count < 0)
    detail::raise(refusal("randperm", fmt::format("{} numbers", count)), where);
  detail::SourceScope scope(where);
  return argsort(uniform({count}, generator, 0, 1, DType::f64), 0);
} catch (...) {
  detail::raiseExhausted(where);
}

// Who is served first, where waiting times are exponential with the weights as
// rates: u is in [0, 1), and so is 1 - u in (0, 1].
Tensor multinomial(const Arg &weights, int64_t count, bool replacement,
                   Generator &generator) try {
  detail::Composed call("multinomial", weights);
  if (call.x.rank() < 1 || !isFloat(call.x.dtype()))
    call.fail("expects weights [.., n] of floats");
  call.x = detail::withKnownLength(call.x, -1);
  int64_t choices = call.x.dim(-1).value;
  if (count < 1 || choices < 1 || (!replacement && count > choices))
    call.fail(fmt::format("{} draws of {} positions", count, choices));
  Tensor rates = call.x.dtype() == DType::f64 ? call.x : call.x.to(DType::f32);
  auto hurry = [&](const Tensor &rate) {
    Tensor waits =
        -log1p(-uniform(rate.shape(), generator, 0, 1, rate.dtype()));
    return where(rate > 0, rate / waits, -1);
  };
  if (!replacement)
    return topk(hurry(rates), count, -1).indices;
  Dims shape = rates.shape();
  shape.insert(shape.end() - 1, Dim(count));
  return argmax(hurry(broadcast(unsqueeze(rates, -2), shape)), -1);
} catch (...) {
  detail::raiseExhausted(weights.where);
}

//===- Dropout ------------------------------------------------------------===//

Tensor dropout(const Arg &x, double p, Generator &generator) try {
  detail::Recorder recorder(graph::OpId::dropout, x);
  auto nodes = recorder.operands(detail::Promotion::floating, 1, false, x);
  detail::Draw draw = drawFor(generator, nodes[0]->dims(), x.where);
  return recorder.result(
      graph::dropout(nodes[0], draw.keyLow, draw.keyHigh, draw.counter, p));
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
