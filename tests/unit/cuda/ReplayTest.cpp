#include "tests/unit/cuda/CudaPrograms.h"

#include "runtime/device/cuda/CudaImage.h"
#include "runtime/program/Profile.h"
#include "runtime/program/Stats.h"

#include <fmt/format.h>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

std::vector<float> drawn(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = float(int(random() % 2001) - 1000);
  return values;
}

/// The outputs of a run, read back.
std::vector<std::vector<float>> valuesOn(const Program &program,
                                         std::span<const Binding> inputs,
                                         RunCounters *counters = nullptr) {
  auto outputs = run(program, inputs, counters);
  EXPECT_TRUE(outputs) << outputs.error().message;
  std::vector<std::vector<float>> values;
  for (const Output &output : *outputs)
    values.push_back(valuesOf<float>(*output.buffer));
  // The first one's memory is taken first again.
  while (!outputs->empty())
    outputs->pop_back();
  return values;
}

std::vector<Binding> branchInputs(Device &device, size_t n, uint32_t seed) {
  return {bind(bufferOf(device, drawn(n, seed)), {int64_t(n)}),
          bind(bufferOf(device, drawn(n, seed + 1)), {int64_t(n)}),
          bindScalar(float(seed % 7))};
}

} // namespace

TEST(Replay, recordsOnceForNewInputs) {
  auto onCpu = loadOn(cpu(), branchesProgram());
  auto onGpu = loadOn(gpu(), branchesProgram());
  resetStats();
  uint64_t graphs = driver().graphs, single = driver().launches;
  constexpr uint32_t runs = 10002;
  std::vector<BufferRef> held; // so that addresses change
  for (uint32_t i = 0; i < runs; ++i) {
    std::vector<Binding> inputs = branchInputs(gpu(), 300, i);
    held.push_back(inputs[i % 2].buffer);
    if (held.size() > 5)
      held.erase(held.begin() + i % 5);
    RunCounters counters;
    auto values = valuesOn(*onGpu, inputs, &counters);
    ASSERT_EQ(values, valuesOn(*onCpu, branchInputs(cpu(), 300, i))) << i;
    EXPECT_EQ(counters.recordings, i == 1 ? 1u : 0u);
    EXPECT_EQ(counters.replays, i > 1 ? 1u : 0u);
    EXPECT_EQ(counters.launches, 6u);
  }
  EXPECT_EQ(driver().graphs, graphs + 1);
  EXPECT_EQ(driver().launches, single + 6); // of the first run
  Stats stats = readStats();
  EXPECT_EQ(stats.recordings, 1u);
  EXPECT_EQ(stats.replays, runs - 2);
}

/// How nodes of branchesProgram's graph follow each other, where kernels of one
/// name have much shared memory and those of others read lines in pieces.
using Edges = std::map<std::string, std::set<bool>>;
static Edges edgesOf(const char *wide, std::vector<std::string> gathering) {
  std::string ptx = sinter::test::fakePtx;
  for (const std::string &kernel : gathering)
    ptx += gathersLine(kernel);
  driver().wide = wide;
  auto program = loadOn(gpu(), branchesProgram(), ptx);
  driver().wide = "";
  for (uint32_t i = 0; i < 2; ++i)
    valuesOn(*program, branchInputs(gpu(), 64, i));
  Edges edges;
  for (const auto &[from, to, isEarly] : driver().edges)
    edges[fmt::format("{} {}", from, to)].insert(isEarly);
  return edges;
}

TEST(Replay, kernelsThatWaitStartEarly) {
  Edges all = {
      {"scale add", {true}}, {"add add", {true}}, {"add copy", {false}}};
  EXPECT_EQ(edgesOf("", {}), all);
  // Whole lines are read past the cache.
  EXPECT_EQ(edgesOf("scale", {}), all);
  EXPECT_EQ(edgesOf("", {"add", "scale"}), all);
}

TEST(Replay, kernelsWaitForTheCacheThatTheyReadFrom) {
  EXPECT_EQ(edgesOf("scale", {"add", "scale"}), (Edges{{"scale add", {false}},
                                                       {"add add", {true}},
                                                       {"add copy", {false}}}));
  // Those before leave as much of it as they have themselves, or more.
  EXPECT_EQ(edgesOf("add", {"add"}), (Edges{{"scale add", {true}},
                                            {"add add", {true}},
                                            {"add copy", {false}}}));
}

TEST(Replay, keepsNodesWhoseBuffersStay) {
  auto program = loadOn(gpu(), branchesProgram());
  std::vector<Binding> inputs = branchInputs(gpu(), 64, 1);
  // There before the outputs, which have the same memory in each run.
  BufferRef other = bufferOf(gpu(), drawn(64, 9));
  for (int i = 0; i < 4; ++i)
    valuesOn(*program, inputs);
  uint64_t set = driver().nodesSet, copies = driver().copiesIn;
  valuesOn(*program, inputs);
  EXPECT_EQ(driver().nodesSet, set);
  EXPECT_EQ(driver().copiesIn, copies); // the scalar is there
  BufferRef held = std::exchange(inputs[1].buffer, other);
  inputs[2] = bindScalar(11);
  valuesOn(*program, inputs);
  EXPECT_EQ(driver().nodesSet, set + 2); // of the two that read y
  EXPECT_EQ(driver().copiesIn, copies + 1);
}

TEST(Replay, returnsBeforeTheWorkIsDone) {
  auto program = loadOn(gpu(), branchesProgram());
  for (uint32_t i = 0; i < 4; ++i) {
    std::vector<Binding> inputs = branchInputs(gpu(), 64, i);
    ASSERT_TRUE(gpu().synchronize());
    uint64_t waits = driver().waits;
    auto outputs = run(*program, inputs);
    ASSERT_TRUE(outputs);
    EXPECT_EQ(driver().waits, waits);
    EXPECT_GE(driver().queued, 7u); // all launches and the copy
    inputs.clear();                 // their memory may be taken again
    auto others = branchInputs(gpu(), 64, i + 100);
    EXPECT_EQ(valuesOf<float>(*(*outputs)[1].buffer),
              valuesOf<float>(*(*outputs)[2].buffer));
    EXPECT_EQ(driver().queued, 0u);
  }
}

TEST(Replay, runsLoops) {
  auto onCpu = loadOn(cpu(), loopProgram());
  auto onGpu = loadOn(gpu(), loopProgram());
  auto inputs = [](Device &device, int64_t t, uint32_t seed) {
    return std::vector{
        bind(bufferOf(device, drawn(size_t(t) * 20, seed)), {t, 20}),
        bind(bufferOf(device, drawn(20, seed + 1)), {20})};
  };
  for (uint32_t round = 0; round < 6; ++round)
    for (int64_t t : {0, 1, 2, 7}) {
      RunCounters counters;
      uint32_t seed = round * 10 + uint32_t(t);
      auto values = valuesOn(*onGpu, inputs(gpu(), t, seed), &counters);
      EXPECT_EQ(values, valuesOn(*onCpu, inputs(cpu(), t, seed)));
      EXPECT_EQ(counters.recordings, round == 1 ? 1u : 0u);
    }
}

/// What a loop does is not known before it runs.
TEST(Replay, leavesOutLoopsWithConditions) {
  auto onCpu = loadOn(cpu(), conditionalProgram());
  auto onGpu = loadOn(gpu(), conditionalProgram());
  auto inputs = [](Device &device, uint8_t first, uint8_t follows) {
    auto flag = [&](uint8_t value) {
      return bind(bufferOf(device, std::vector<uint8_t>{value}), {});
    };
    return std::vector{bind(bufferOf(device, drawn(20, 1)), {20}),
                       bind(bufferOf(device, drawn(20, 2)), {20}), flag(first),
                       flag(follows)};
  };
  for (int round = 0; round < 3; ++round)
    for (uint8_t flags : {0, 1, 3}) {
      uint8_t first = flags & 1, follows = flags >> 1;
      RunCounters onBoth[2];
      EXPECT_EQ(valuesOn(*onGpu, inputs(gpu(), first, follows), &onBoth[0]),
                valuesOn(*onCpu, inputs(cpu(), first, follows), &onBoth[1]));
      EXPECT_EQ(onBoth[0].launches, flags == 3 ? 3u : flags);
      EXPECT_EQ(onBoth[0].launches, onBoth[1].launches);
      EXPECT_EQ(onBoth[0].recordings, 0u);
    }
}

TEST(Replay, keepsEightSizes) {
  auto program = loadOn(gpu(), scaleProgram());
  uint64_t live = driver().liveGraphs;
  auto runWith = [&](int64_t n) {
    RunCounters counters;
    std::vector<float> x = drawn(size_t(n), uint32_t(n));
    auto values = valuesOn(
        *program, std::vector{bind(bufferOf(gpu(), x), {n}), bindScalar(3)},
        &counters);
    for (float &each : x)
      each *= 3;
    EXPECT_EQ(values[0], x);
    return counters;
  };
  for (int round = 0; round < 3; ++round)
    for (int64_t n = 1; n <= 8; ++n)
      EXPECT_EQ(runWith(n).recordings, round == 1 ? 1u : 0u);
  EXPECT_EQ(driver().liveGraphs, live + 8);
  runWith(9); // in the place of size 1
  runWith(9);
  EXPECT_EQ(driver().liveGraphs, live + 8);
  EXPECT_EQ(runWith(8).replays, 1u);
  EXPECT_EQ(runWith(1).replays, 0u);
  program.reset();
  EXPECT_EQ(driver().liveGraphs, live);
}

TEST(Replay, servesThreads) {
  auto program = loadOn(gpu(), branchesProgram());
  auto onCpu = loadOn(cpu(), branchesProgram());
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (uint32_t i = 0; i < 100; ++i) {
        uint32_t seed = thread * 1000 + i;
        size_t n = 100 + thread % 2;
        ASSERT_EQ(valuesOn(*program, branchInputs(gpu(), n, seed)),
                  valuesOn(*onCpu, branchInputs(cpu(), n, seed)));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Replay, launchesByStepsToProfile) {
  auto program = loadOn(gpu(), branchesProgram());
  for (uint32_t i = 0; i < 3; ++i)
    valuesOn(*program, branchInputs(gpu(), 64, i));
  setProfiling(true);
  uint64_t graphs = driver().graphLaunches, single = driver().launches;
  valuesOn(*program, branchInputs(gpu(), 64, 5));
  setProfiling(false);
  EXPECT_EQ(driver().graphLaunches, graphs);
  EXPECT_EQ(driver().launches, single + 6);
  resetProfile();
}
