/// Numbers of a training that are no tensors.
#include <sinter/metrics/Training.h>

#include <sinter/Stats.h>

#include <chrono>
#include <limits>

namespace sinter::metrics {

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double steady_seconds() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

LearningRate::LearningRate(std::function<double()> rate, std::string name)
    : rate(std::move(rate)), described{std::move(name), "", {}, 6}, last(nan) {}

void LearningRate::update() { last = rate(); }

void LearningRate::reset() { last = nan; }

static Clock orSteady(Clock clock) {
  return clock ? std::move(clock) : Clock(steady_seconds);
}

static double byTime(int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : nan;
}

IterationRate::IterationRate(std::string name, Clock given)
    : described{std::move(name), "1/s", true, 1},
      clock(orSteady(std::move(given))), begin(clock()) {}

double IterationRate::value() const { return byTime(count, clock() - begin); }

void IterationRate::reset() {
  count = 0;
  begin = clock();
}

TokenRate::TokenRate(std::string name, Clock given)
    : described{std::move(name), "1/s", true, 0},
      clock(orSteady(std::move(given))), begin(clock()) {}

double TokenRate::value() const { return byTime(count, clock() - begin); }

void TokenRate::reset() {
  count = 0;
  begin = clock();
}

// What was counted is less than before after `reset_stats`.
static double since(uint64_t now, uint64_t before) {
  return static_cast<double>(now >= before ? now - before : now);
}

KernelCount::KernelCount(std::string name)
    : described{std::move(name), "", false, 0}, before(stats().launches) {}

double KernelCount::value() const { return since(stats().launches, before); }

void KernelCount::reset() { before = stats().launches; }

CompileCount::CompileCount(std::string name)
    : described{std::move(name), "", false, 0}, before(stats().compiles) {}

double CompileCount::value() const { return since(stats().compiles, before); }

void CompileCount::reset() { before = stats().compiles; }

} // namespace sinter::metrics
