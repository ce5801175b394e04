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
    EXPECT_TRUE(graph.values[number].op == OpId::leaf ||
                named.contains(number))
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

} // namespace
