/// Sums of times.
#include "runtime/support/WorkTimes.h"

#include "runtime/support/ThreadOwner.h"

#include <atomic>

using namespace sinter;

static std::array<std::atomic<int64_t>, numWorks> nanoseconds;

static WorkTimer *&innermost() {
  static SINTER_THREAD_LOCAL WorkTimer *timer = nullptr;
  return timer;
}

std::string_view sinter::toString(Work work) {
  constexpr std::string_view names[numWorks] = {
      "opening",      "planning", "passes", "code",
      "machine_code", "loading",  "graphs"};
  return names[size_t(work)];
}

WorkMilliseconds sinter::workMilliseconds() {
  WorkMilliseconds times{};
  for (size_t i = 0; i < numWorks; ++i)
    times[i] = double(nanoseconds[i].load(std::memory_order_relaxed)) / 1e6;
  return times;
}

void sinter::resetWork() {
  for (auto &sum : nanoseconds)
    sum.store(0, std::memory_order_relaxed);
}

WorkTimer::WorkTimer(Work work) : work(work), outer(innermost()) {
  innermost() = this;
}

WorkTimer::~WorkTimer() {
  Clock::duration all = Clock::now() - begin;
  innermost() = outer;
  if (outer)
    outer->others += all;
  nanoseconds[size_t(work)].fetch_add(
      std::chrono::nanoseconds(all - others).count(),
      std::memory_order_relaxed);
}
