/// What happens when memory runs out; the process has a limit of 1 MiB.
#include "runtime/support/Sites.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

/// state' = state + (state + state), the sum in a temporary.
ProgramBuilder updateProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t state = b.input("state", {n});
  uint32_t next = b.output({n});
  uint32_t twice = b.temp(bytes, 0, 1);
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(add, {state, state, twice}, {n});
  b.launch(add, {state, twice, next}, {n});
  b.mayAlias(0, 0);
  return b;
}

} // namespace

TEST(MemoryLimit, reservesBeforeTheFirstLaunch) {
  auto program = Program::load(updateProgram().file(), cpu());
  ASSERT_TRUE(program);
  std::vector<float> ones(150000, 1);
  BufferRef state = bufferOf(cpu(), ones); // 600 kB; as much again is too much
  size_t inUse = cpu().memoryInfo().inUse;
  std::vector<Binding> inputs = {bind(state, {150000}, /*donate=*/true)};
  uint64_t version = state->version();
  state->setOrigin({DType::f32, internSite("model.cpp", 7)});
  RunFailure failure;
  auto outputs = run(**program, inputs, nullptr, &failure);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().kind, ErrorKind::out_of_memory);
  EXPECT_EQ(outputs.error().message,
            "run: 0 bytes of outputs and 600064 of temporaries: cpu: cannot "
            "allocate 600064 bytes, " +
                std::to_string(inUse) +
                " are in use and the limit is 1048576 bytes; the largest: "
                "600000 bytes of f32 made at model.cpp:7");
  EXPECT_EQ(failure.node, RunFailure::noNode);
  ASSERT_EQ(failure.largest.size(), 1u);
  EXPECT_EQ(failure.largest[0].bytes, 600000u);
  EXPECT_EQ(failure.largest[0].node, 1u);
  EXPECT_EQ(valuesOf<float>(*state), ones);
  EXPECT_EQ(state->version(), version);
  EXPECT_EQ(cpu().memoryInfo().inUse, inUse);

  // The next run works.
  BufferRef small = bufferOf(cpu(), std::vector<float>(1000, 1));
  inputs = {bind(small, {1000}, /*donate=*/true)};
  outputs = run(**program, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(valuesOf<float>(*small), std::vector<float>(1000, 3));
}

// What is kept of earlier runs only saves time.
TEST(MemoryLimit, givesPreparedMemoryBack) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t x = b.input("x", {n});
  uint32_t out = b.output({});
  uint32_t partials = b.temp(b.constant(200 << 10), 0, 0);
  uint32_t sum = b.kernel("reduce_sum", 1, 1, 1, {"sum_partials", "sum_total"});
  b.program.kernels[sum]->phases[0]->prepares = 0;
  b.launch(sum, {x, out, partials}, {n});
  auto program = Program::load(b.file(), cpu());
  ASSERT_TRUE(program);
  BufferRef ones = bufferOf(cpu(), std::vector<float>(500, 1));
  auto skipped = [&] {
    RunCounters counters;
    auto outputs = run(**program, std::vector{bind(ones, {500})}, &counters);
    EXPECT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer)[0], 500);
    return counters.phasesSkipped;
  };
  EXPECT_EQ(skipped(), 0u);
  EXPECT_EQ(skipped(), 0u);
  EXPECT_EQ(skipped(), 1u);
  auto large = cpu().allocate(700 << 10);
  ASSERT_TRUE(large) << large.error().message;
  size_t inUse = cpu().memoryInfo().inUse;
  EXPECT_EQ(skipped(), 0u);
  EXPECT_LE(cpu().memoryInfo().inUse + (200 << 10), inUse);
}

TEST(MemoryLimit, isReported) {
  MemoryInfo info = cpu().memoryInfo();
  EXPECT_EQ(info.total, size_t(1) << 20);
  EXPECT_LE(info.available, info.total - info.inUse);
}
