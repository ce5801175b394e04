/// Temporaries on a device whose allocations have a limit, here of 1 MiB; all
/// together have 4.
#include "runtime/program/LoadedProgram.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

constexpr int64_t limit = 1 << 20;

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

/// out = 8 x: x + x, that and itself, and so on, while each sum is kept for the
/// last step.
ProgramBuilder keptSums() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), bytes = b.times(n, b.constant(4));
  uint32_t x = b.input("x", {n}), out = b.output({n});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  uint32_t two = b.temp(bytes, 0, 3), four = b.temp(bytes, 1, 3),
           six = b.temp(bytes, 2, 3);
  b.launch(add, {x, x, two}, {n});
  b.launch(add, {two, two, four}, {n});
  b.launch(add, {four, two, six}, {n});
  b.launch(add, {six, two, out}, {n});
  return b;
}

} // namespace

TEST(AllocationLimit, temporariesAreInSeveralBlocks) {
  auto program = Program::load(keptSums().file(), cpu());
  ASSERT_TRUE(program) << program.error().message;
  constexpr int64_t count = 150000; // two do not fit in one block
  BufferRef x = bufferOf(cpu(), std::vector<float>(count, 1.5f));
  RunCounters counters;
  auto outputs = run(**program, std::vector{bind(x, {count})}, &counters);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer),
            std::vector<float>(count, 12));
  EXPECT_EQ(counters.arenaBytes, 3 * 600064u);
}

TEST(AllocationLimit, whatFitsNoBlockIsRefused) {
  auto program = Program::load(keptSums().file(), cpu());
  ASSERT_TRUE(program);
  size_t inUse = cpu().memoryInfo().inUse;
  EXPECT_EQ(cpu().mostAllocation(), size_t(limit));
  auto tooMuch = cpu().allocate(limit + 1);
  ASSERT_FALSE(tooMuch);
  EXPECT_EQ(tooMuch.error().kind, ErrorKind::out_of_memory);
  EXPECT_EQ(tooMuch.error().message,
            "cpu: cannot allocate 1048577 bytes, one allocation takes at most "
            "1048576");
  EXPECT_TRUE(cpu().allocate(limit));
  EXPECT_EQ(cpu().memoryInfo().inUse, inUse);
}

// A run that gives back what was kept of earlier ones begins with no block.
TEST(AllocationLimit, reservesEachBlockOnce) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t x = b.input("x", {n}), out = b.output({});
  uint32_t large = b.constant(900 << 10);
  uint32_t twice = b.temp(large, 0, 1), partials = b.temp(large, 0, 1);
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  uint32_t sum = b.kernel("reduce_sum", 1, 1, 1, {"sum_partials", "sum_total"});
  b.program.kernels[sum]->phases[0]->prepares = 0;
  b.launch(add, {x, x, twice}, {n});
  b.launch(sum, {x, out, partials}, {n});
  auto program = Program::load(b.file(), cpu());
  ASSERT_TRUE(program) << program.error().message;
  BufferRef ones = bufferOf(cpu(), std::vector<float>(500, 1));
  auto skipped = [&] {
    RunCounters counters;
    auto outputs = run(**program, std::vector{bind(ones, {500})}, &counters);
    EXPECT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(counters.arenaBytes, 2 * 900u << 10);
    return counters.phasesSkipped;
  };
  for (uint64_t expected : {0, 0, 1})
    EXPECT_EQ(skipped(), expected);
  // Beside what is kept there is room for one block, and not for two.
  auto first = cpu().allocate(limit), second = cpu().allocate(limit);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(skipped(), 0u);
}
