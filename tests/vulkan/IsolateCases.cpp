/// Tests for the runner of tests: some end the process.
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>

TEST(Isolate, passes) {}
TEST(Isolate, faults) { std::raise(SIGKILL); }
TEST(Isolate, passesAfterAFault) { EXPECT_EQ(1 + 1, 2); }
TEST(Isolate, fails) { EXPECT_EQ(1 + 1, 3); }
TEST(Isolate, isSkipped) { GTEST_SKIP() << "for a reason"; }
TEST(Isolate, leaves) { std::exit(3); }
TEST(Isolate, DISABLED_isNotRun) { std::abort(); }

class IsolateEach : public testing::TestWithParam<int> {};
TEST_P(IsolateEach, abortsAtTwo) {
  if (GetParam() == 2)
    std::abort();
}
INSTANTIATE_TEST_SUITE_P(Numbers, IsolateEach, testing::Range(1, 4));

TEST(IsolateEnd, ends) {
  std::atexit([] { std::raise(SIGKILL); });
}
