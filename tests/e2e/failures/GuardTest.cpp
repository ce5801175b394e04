/// Memory that ran out before a guarded call, or runs out in it, is an Error:
/// nothing is broken off, and locks of callers are given up.
#include "compiler/guard/Guarded.h"
#include "tests/e2e/failures/FailingCalls.h"

#include <gtest/gtest.h>

#include <mutex>
#include <new>
#include <optional>

namespace sinter::compiler {
namespace {

/// How a guarded call inside another ends that finds no memory from its
/// `number`-th allocation on.
std::optional<ErrorKind> endOf(long number, std::mutex &mutex) {
  armFailure(Failure::allAllocations, number);
  Status outer = guarded([&]() -> Status {
    std::lock_guard<std::mutex> lock(mutex);
    return guarded([]() -> Status {
      // Of a place that the compiler has to have.
      void *volatile place = ::operator new(1);
      ::operator delete(place);
      return {};
    });
  });
  disarmFailure();
  return outer ? std::nullopt : std::optional(outer.error().kind);
}

TEST(Guard, NoMemoryBeforeACallIsAnError) {
  std::mutex mutex;
  endOf(1L << 60, mutex); // what is made once
  EXPECT_EQ(endOf(1L << 60, mutex), std::nullopt);
  long total = allocationsSeen();
  ASSERT_GE(total, 3); // the room of either call, and the place
  for (long number = 1; number <= total; ++number) {
    EXPECT_EQ(endOf(number, mutex), ErrorKind::out_of_memory) << number;
    ASSERT_TRUE(mutex.try_lock()) << number;
    mutex.unlock();
  }
}

} // namespace
} // namespace sinter::compiler
