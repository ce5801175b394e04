/// Runs that make more launches than they may. SINTER_LAUNCH_LIMIT is 1024.
#include "tests/unit/program/ProgramBuilder.h"

#include <gtest/gtest.h>

#include <limits>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

/// How often a loop with a condition runs, only the run knows.
TEST(LaunchLimit, EndsLoopsWithoutEnd) {
  Device &cpu = **getDevice({DeviceKind::cpu, 0});
  auto flag = [&] { return bind(bufferOf(cpu, std::vector<uint8_t>{1}), {}); };
  std::vector<Binding> inputs = {
      bind(bufferOf(cpu, std::vector<float>(300, 2)), {300}),
      bind(bufferOf(cpu, std::vector<float>(300, 1)), {300}), flag(), flag()};
  // Three for each round: the round, a launch and a copy.
  for (int64_t most : {300, 341, 342, std::numeric_limits<int32_t>::max()}) {
    auto program = Program::load(conditionalProgram(2, most).file(), cpu);
    ASSERT_TRUE(program) << program.error().message;
    auto outputs = run(**program, inputs);
    EXPECT_EQ(bool(outputs), most <= 341) << most;
    if (!outputs) {
      EXPECT_EQ(outputs.error().message,
                "the run makes more than 1024 launches and copies; "
                "SINTER_LAUNCH_LIMIT sets how many it may make");
    }
  }
}
