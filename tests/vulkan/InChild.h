/// InChild: a part of a test in a process of its own.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace sinter::test {

/// Runs the body in a new process, which begins the test again, and fails with
/// what failed there. For what leaves a process no good for other tests.
template <typename Body> void inChild(Body body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run = [&] {
    body();
    const testing::TestResult &result =
        *testing::UnitTest::GetInstance()->current_test_info()->result();
    // A child's failures are printed by nobody else.
    for (int i = 0; i < result.total_part_count(); ++i) {
      const testing::TestPartResult &part = result.GetTestPartResult(i);
      std::fprintf(stderr, "%s:%d: %s\n", part.file_name(), part.line_number(),
                   part.message());
    }
    std::exit(result.Failed());
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

} // namespace sinter::test
