/// What compiled programs hold: kernels, decisions, plan.
#include "compiler/Compiler.h"

#include "runtime/device/Device.h"
#include "runtime/program/Program.h"
#include "tests/unit/compiler/Graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace sinter;
using namespace sinter::test;
using namespace sinter::graph;
using runtime::Program;

namespace {

std::shared_ptr<const Program> load(const Graph &graph,
                                    const compiler::Options &options = {}) {
  runtime::Device *device = get(runtime::getDevice(DeviceId()));
  return get(Program::load(get(compiler::compile(graph, options)), *device));
}

std::vector<std::string> kinds(const Program &program) {
  std::vector<std::string> found;
  for (const runtime::LaunchInfo &launch : program.launches())
    found.push_back(launch.kind);
  return found;
}

TEST(Program, FusesALayerIntoItsContraction) {
  EXPECT_EQ(kinds(*load(linearLayer(16, true))),
            std::vector<std::string>{"contraction"});
}

TEST(Program, KeepsOneOpPerKernelWhenAsked) {
  auto program =
      load(linearLayer(16, true), {.fusion = compiler::Fusion::none});
  EXPECT_GT(program->launches().size(), 3u);
  EXPECT_TRUE(program->decisions().empty());
}

TEST(Program, StaticAndSymbolicTakeTheSameDecisions) {
  auto fixed = load(layerWithStatistics(64, false));
  auto symbolic = load(layerWithStatistics(64, true));
  EXPECT_EQ(kinds(*fixed), kinds(*symbolic));
  ASSERT_EQ(fixed->decisions().size(), symbolic->decisions().size());
  for (size_t i = 0; i < fixed->decisions().size(); ++i) {
    const runtime::Decision &a = fixed->decisions()[i];
    const runtime::Decision &b = symbolic->decisions()[i];
    EXPECT_EQ(a.accepted, b.accepted);
    EXPECT_EQ(a.rule, b.rule);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.nodes, b.nodes);
  }
}

TEST(Program, LaunchesNameEveryOp) {
  Graph graph = layerWithStatistics(16, true);
  auto program = load(graph);
  std::set<uint32_t> named;
  for (const runtime::LaunchInfo &launch : program->launches())
    named.insert(launch.nodes.begin(), launch.nodes.end());
  for (uint32_t number = 0; number < graph.values.size(); ++number)
    EXPECT_TRUE(graph.values[number].op == leafOp || named.contains(number))
        << number;
}

TEST(Program, RejectedMergesSayWhy) {
  auto program = load(layerWithStatistics(16, true));
  auto rejected = std::ranges::find_if(
      program->decisions(),
      [](const runtime::Decision &each) { return !each.accepted; });
  ASSERT_NE(rejected, program->decisions().end());
  EXPECT_FALSE(rejected->rule.empty());
  EXPECT_FALSE(rejected->detail.empty());
  EXPECT_GT(rejected->bytes, 0);
}

// An update of state `m` and `p` fused into the contraction that makes their
// gradient, at extents that no tile divides.
Graph fusedUpdate(int64_t rows, int64_t columns) {
  NodeRef x = leaf(DType::f32, {19, rows});
  NodeRef g = leaf(DType::f32, {19, columns});
  NodeRef m = leaf(DType::f32, {rows, columns});
  NodeRef p = leaf(DType::f32, {rows, columns});
  std::vector<int64_t> swap{1, 0};
  NodeRef gradient = get(matmul(get(transpose(x, swap)), g));
  NodeRef moment = get(add(get(mul(m, m)), gradient));
  NodeRef updated = get(sub(p, get(mul(moment, moment))));
  return graphOf({moment, updated});
}

runtime::Binding boundTo(runtime::Device &device, const runtime::Port &port,
                         const Program &program, bool donate) {
  runtime::Binding binding;
  size_t count = 1;
  for (uint32_t dim : port.dims) {
    binding.dims.push_back(evaluate(program.exprs(), dim, {}));
    count *= size_t(binding.dims.back());
  }
  std::vector<float> values(count);
  for (size_t index = 0; index < count; ++index)
    values[index] = float((index + 1) * 7919 % 1009) / 1009;
  binding.buffer = get(device.allocate(count * sizeof(float)));
  EXPECT_TRUE(
      device.copyIn(*binding.buffer, 0, std::as_bytes(std::span(values))));
  binding.donate = donate;
  return binding;
}

std::vector<std::vector<std::byte>> runOn(const Program &program, bool donate,
                                          uint64_t &donated) {
  runtime::Device &device = program.device();
  std::vector<runtime::Binding> inputs;
  for (const runtime::Port &port : program.inputs())
    inputs.push_back(boundTo(device, port, program, donate));
  runtime::RunCounters counters;
  std::vector<std::vector<std::byte>> results;
  for (runtime::Output &output : get(run(program, inputs, &counters))) {
    results.emplace_back(output.buffer->bytes());
    EXPECT_TRUE(device.copyOut(results.back(), *output.buffer, 0));
  }
  donated = counters.donated;
  return results;
}

TEST(Program, DonationChangesNoBit) {
  for (auto [rows, columns] :
       {std::pair(64, 128), {67, 35}, {1, 7}, {13, 1}, {129, 257}}) {
    auto program = load(fusedUpdate(rows, columns));
    EXPECT_EQ(program->launches().size(), 1u);
    uint64_t granted = 0, refused = 0;
    auto inPlace = runOn(*program, true, granted);
    auto copied = runOn(*program, false, refused);
    EXPECT_EQ(inPlace, copied) << rows << " x " << columns;
    EXPECT_EQ(granted, 2u);
    EXPECT_EQ(refused, 0u);
  }
}

// Updates of parameters of many shapes with their moments, by a common rate.
Graph manyUpdates(int count) {
  NodeRef rate = leaf(DType::f32, {});
  std::vector<NodeRef> results;
  for (int i = 0; i < count; ++i) {
    std::vector<Dim> dims{1 + i % 7, 1 + i % 5, 3};
    if (i % 4 == 0)
      dims = {1};
    if (i % 4 == 1)
      dims = {};
    NodeRef p = leaf(DType::f32, dims), m = leaf(DType::f32, dims);
    NodeRef g = leaf(DType::f32, dims);
    NodeRef moment = get(add(get(mul(m, get(broadcast(rate, dims)))), g));
    NodeRef step = get(mul(moment, get(broadcast(rate, dims))));
    results.push_back(moment);
    results.push_back(get(sub(p, get(add(step, get(mul(p, p)))))));
  }
  return graphOf(results);
}

TEST(Program, ManyUpdatesAreOneLaunchInPlace) {
  Graph graph = manyUpdates(40);
  auto program = load(graph);
  ASSERT_EQ(program->launches().size(), 1u);
  uint64_t granted = 0, refused = 0;
  auto inPlace = runOn(*program, true, granted);
  auto copied = runOn(*program, false, refused);
  EXPECT_EQ(inPlace, copied);
  EXPECT_EQ(granted, 80u);
  auto alone = load(graph, {.fusion = compiler::Fusion::none});
  EXPECT_GT(alone->launches().size(), 100u);
}

} // namespace
