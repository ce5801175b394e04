#include "tests/unit/cuda/CudaPrograms.h"

#include "runtime/program/Profile.h"

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

const std::vector<float> x = {1, 2, 3, 4};
using Indices = std::vector<int64_t>;

Result<std::vector<Output>> update(const Program &program,
                                   const BufferRef &state, const Indices &index,
                                   RunFailure *failure,
                                   RunCounters *counters = nullptr) {
  std::vector<Binding> inputs = {bind(state, {4}, /*donate=*/true),
                                 bind(bufferOf(gpu(), x), {4}),
                                 bind(bufferOf(gpu(), index), {4})};
  return run(program, inputs, counters, failure);
}

} // namespace

TEST(ReplayErrors, leaveDonatedMemoryAlone) {
  auto program = loadOn(gpu(), updateProgram());
  BufferRef state = bufferOf(gpu(), std::vector<float>{0, 0, 0, 0});
  std::vector<float> expected(4);
  for (uint32_t i = 0; i < 12; ++i) {
    driver().order = i;
    bool isWrong = i % 3 == 2;
    uint64_t version = state->version();
    RunFailure failure;
    auto outputs =
        update(*program, state,
               isWrong ? Indices{0, 1, 9, 7} : Indices{3, 2, 1, 0}, &failure);
    if (isWrong) {
      ASSERT_FALSE(outputs);
      EXPECT_EQ(outputs.error().kind, ErrorKind::invalid_argument);
      EXPECT_EQ(outputs.error().message,
                "gather_rows: index out of range at element 2");
      EXPECT_EQ(failure.node, 5u);
      EXPECT_EQ(state->version(), version);
    } else {
      ASSERT_TRUE(outputs) << outputs.error().message;
      EXPECT_EQ((*outputs)[0].buffer, state);
      EXPECT_GT(state->version(), version);
      EXPECT_EQ(valuesOf<float>(*(*outputs)[1].buffer),
                (std::vector<float>{8, 6, 4, 2}));
      for (size_t k = 0; k < 4; ++k)
        expected[k] += x[3 - k];
    }
    ASSERT_EQ(valuesOf<float>(*state), expected) << i;
  }
}

TEST(ReplayErrors, waitForTheCheckOnly) {
  auto program = loadOn(gpu(), updateProgram());
  BufferRef state = bufferOf(gpu(), std::vector<float>{0, 0, 0, 0});
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(update(*program, state, {0, 1, 2, 3}, nullptr));
  uint64_t waits = driver().waits, graphs = driver().graphLaunches;
  RunCounters counters;
  ASSERT_TRUE(update(*program, state, {0, 1, 2, 3}, nullptr, &counters));
  EXPECT_EQ(counters.replays, 1u);
  EXPECT_EQ(driver().waits, waits);
  EXPECT_EQ(driver().graphLaunches, graphs + 2); // the update is behind it
  EXPECT_GE(driver().queued, 1u);
  EXPECT_EQ(valuesOf<float>(*state), (std::vector<float>{4, 8, 12, 16}));
}

TEST(ReplayErrors, ofTheDriverEndARecording) {
  auto program = loadOn(gpu(), scaleProgram());
  std::vector<float> values = {1, 2, 3};
  auto scaled = [&](const char *failing) {
    auto buffer = bufferOf(gpu(), values);
    driver().failing = failing;
    auto outputs = run(*program, std::vector{bind(buffer, {3}), bindScalar(2)});
    driver().failing = "";
    if (!outputs)
      return outputs.error().message;
    EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer),
              (std::vector<float>{2, 4, 6}));
    return std::string();
  };
  uint64_t live = driver().liveGraphs, pinned = driver().livePinned;
  EXPECT_EQ(scaled(""), "");
  for (const char *call : {"cuGraphCreate", "cuGraphAddKernelNode",
                           "cuGraphInstantiate", "cuGraphLaunch"}) {
    EXPECT_EQ(scaled(call), std::string("cuda:0: ") + call +
                                ": CUDA_ERROR_UNKNOWN (as the test wants it)");
    EXPECT_EQ(driver().liveGraphs, live);
  }
  EXPECT_EQ(scaled(""), "");
  EXPECT_EQ(driver().liveGraphs, live + 1);
  EXPECT_EQ(driver().livePinned, pinned);   // nothing is watched
  BufferRef held = bufferOf(gpu(), values); // so that the input moves
  EXPECT_EQ(scaled("cuGraphExecKernelNodeSetParams"),
            "cuda:0: launch 0 of a graph: CUDA_ERROR_UNKNOWN (as the test "
            "wants it)");
  EXPECT_EQ(driver().liveGraphs, live);
  EXPECT_EQ(scaled(""), "");
}

TEST(ReplayErrors, ofACopyLeaveNoOldScalar) {
  auto program = loadOn(gpu(), scaleProgram());
  BufferRef buffer = bufferOf(gpu(), x);
  auto runWith = [&](float factor) {
    return run(*program, std::vector{bind(buffer, {4}), bindScalar(factor)});
  };
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(runWith(2));
  driver().failing = "cuMemcpyHtoDAsync";
  EXPECT_FALSE(runWith(5));
  driver().failing = "";
  auto outputs = runWith(5);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(valuesOf<float>(*(*outputs)[0].buffer),
            (std::vector<float>{5, 10, 15, 20}));
}

TEST(ReplayErrors, ofKernelsComeWhenSomebodyWaits) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t in = b.input("x", {n}), out = b.output({n});
  b.launch(b.kernel("broken", 2, 1, 1, {"fault"}), {in, in, out}, {n});
  auto program = loadOn(gpu(), b);
  BufferRef buffer = bufferOf(gpu(), x);
  auto outputs = run(*program, std::vector{bind(buffer, {4})});
  ASSERT_TRUE(outputs) << outputs.error().message;
  std::vector<std::byte> bytes(16);
  Status read = gpu().copyOut(bytes, *(*outputs)[0].buffer, 0);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::device);
  EXPECT_EQ(read.error().message,
            "cuda:0: synchronize: CUDA_ERROR_ILLEGAL_ADDRESS (as the test "
            "wants it); SINTER_PROFILE=1 tells which kernel and line did it");
  sinter::test::healFakeDriver();
}

TEST(ReplayErrors, ofKernelsHaveANameWhileStepsAreTimed) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t in = b.input("x", {n}), out = b.output({n});
  b.launch(b.kernel("map_add", 2, 1, 1, {"add"}), {in, in, out}, {n});
  b.launch(b.kernel("broken", 2, 1, 1, {"fault"}), {in, in, out}, {n});
  auto program = loadOn(gpu(), b);
  BufferRef buffer = bufferOf(gpu(), x);
  setenv("SINTER_PROFILE", "1", 1); // as users turn it on
  setProfiling(true);
  RunFailure failure;
  auto outputs =
      run(*program, std::vector{bind(buffer, {4})}, nullptr, &failure);
  setProfiling(false);
  unsetenv("SINTER_PROFILE");
  resetProfile();
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().kind, ErrorKind::device);
  EXPECT_EQ(outputs.error().message,
            "broken: cuda:0: synchronize: CUDA_ERROR_ILLEGAL_ADDRESS (as the "
            "test wants it)");
  EXPECT_EQ(failure.node, 1u);
  sinter::test::healFakeDriver();
}

TEST(ReplayErrors, aFaultEndsTheWaitForACheck) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t in = b.input("x", {n}), out = b.output({n});
  b.launch(b.kernel("broken", 2, 1, 1, {"fault"}), {in, in, out}, {n},
           /*errorNode=*/1);
  auto program = loadOn(gpu(), b);
  BufferRef buffer = bufferOf(gpu(), x);
  for (int i = 0; i < 3; ++i) { // direct, recorded, and again
    auto outputs = run(*program, std::vector{bind(buffer, {4})});
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().kind, ErrorKind::device);
    sinter::test::healFakeDriver();
  }
}
