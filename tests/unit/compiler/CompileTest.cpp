/// compile() as a function from graphs to bytes.
#include "compiler/Compiler.h"

#include "runtime/program/ModelReader.h"
#include "runtime/program/ModelWriter.h"
#include "runtime/program/Stats.h"
#include "tests/unit/compiler/Graphs.h"

#include <gtest/gtest.h>

#include <thread>

using namespace sinter;
using namespace sinter::test;
using compiler::ModelBytes;

namespace {

TEST(Compile, IsDeterministic) {
  graph::Graph graph = layerWithStatistics(16, true);
  EXPECT_EQ(get(compiler::compile(graph, {})),
            get(compiler::compile(graph, {})));
}

TEST(Compile, TextAndGraphGiveTheSameBytes) {
  for (bool symbolic : {false, true}) {
    graph::Graph graph = layerWithStatistics(16, symbolic);
    std::string text = get(compiler::exportGraph(graph));
    EXPECT_EQ(get(compiler::compile(graph, {})),
              get(compiler::compileText(text, {})))
        << text;
  }
}

TEST(Compile, ATextIsReadAsTheGraphItCameFrom) {
  for (bool symbolic : {false, true}) {
    std::string text =
        get(compiler::exportGraph(layerWithStatistics(16, symbolic)));
    graph::Graph graph = get(compiler::readGraph(text));
    EXPECT_EQ(get(compiler::exportGraph(graph)), text);
  }
}

TEST(Compile, AGraphIsReadFromOpsOfTheDialectOnly) {
  auto graph = compiler::readGraph("func.func @main(%x: tensor<4xf32>) -> "
                                   "tensor<4xf32> { %0 = math.exp %x : "
                                   "tensor<4xf32> return %0 : tensor<4xf32> }");
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().kind, ErrorKind::invalid_argument);
}

TEST(Compile, ExportIsAFixedPoint) {
  std::string text = get(compiler::exportGraph(layerWithStatistics(16, true)));
  ModelBytes bytes = get(compiler::compileText(text, {}));
  runtime::ModelFile file = get(runtime::readModel(bytes));
  const runtime::Section *stored = file.find(runtime::SectionKind::graph);
  ASSERT_TRUE(stored);
  EXPECT_EQ(
      std::string_view(reinterpret_cast<const char *>(stored->bytes.data()),
                       stored->bytes.size()),
      text);
}

TEST(Compile, SitesStandInTheDebugSectionOnly) {
  graph::Graph graph = linearLayer(4, false);
  graph.sites.assign(graph.values.size(), 0);
  ModelBytes plain = get(compiler::compile(graph, {}));
  ModelBytes debug = get(compiler::compile(graph, {.debug = true}));
  EXPECT_NE(plain, debug);
  EXPECT_EQ(plain, get(runtime::stripModel(debug)));
}

TEST(Compile, ExtentsSeenDoNotMatter) {
  EXPECT_EQ(get(compiler::compile(linearLayer(4, true), {})),
            get(compiler::compile(linearLayer(64, true), {})));
}

TEST(Compile, ManyThreadsAgree) {
  graph::Graph graph = layerWithStatistics(16, true);
  ModelBytes expected = get(compiler::compile(graph, {}));
  std::vector<ModelBytes> found(4);
  std::vector<std::thread> threads;
  for (ModelBytes &bytes : found)
    threads.emplace_back([&] { bytes = get(compiler::compile(graph, {})); });
  for (std::thread &thread : threads)
    thread.join();
  for (const ModelBytes &bytes : found)
    EXPECT_EQ(bytes, expected);
}

TEST(Compile, ManyThreadsCompileGraphsOfTheirOwn) {
  std::vector<graph::Graph> graphs;
  for (int64_t rows : {3, 5, 7, 9, 11, 13, 15, 17})
    graphs.push_back(layerWithStatistics(rows, rows % 4 == 1));
  std::vector<ModelBytes> found(graphs.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < graphs.size(); ++i)
    threads.emplace_back(
        [&, i] { found[i] = get(compiler::compile(graphs[i], {})); });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < graphs.size(); ++i)
    EXPECT_EQ(found[i], get(compiler::compile(graphs[i], {}))) << i;
}

TEST(Compile, ManyThreadsCompileAKernelOnce) {
  runtime::resetStats();
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([number] {
      // Two graphs, so that nobody has all of another's kernels.
      get(compiler::compile(number % 2 ? layerWithStatistics(48, false)
                                       : linearLayer(48, false),
                            {}));
    });
  for (std::thread &thread : threads)
    thread.join();
  uint64_t compiled = runtime::readStats().kernelsCompiled;
  runtime::resetStats();
  get(compiler::compile(layerWithStatistics(48, false), {}));
  get(compiler::compile(linearLayer(48, false), {}));
  runtime::Stats again = runtime::readStats();
  EXPECT_EQ(again.kernelsCompiled, 0u);
  EXPECT_LE(compiled, again.kernelMemoryHits);
  EXPECT_GE(compiled, 2u);
}

TEST(Compile, ReportsBrokenText) {
  auto parsed = compiler::compileText("func.func @main(", {});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument);
  auto target = compiler::compile(linearLayer(4, false), {.target = "abacus"});
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().kind, ErrorKind::unsupported);
}

TEST(Compile, EveryStageHasText) {
  graph::Graph graph = layerWithStatistics(16, true);
  for (const char *stage : {"import", "simplify", "fuse", "plan", "lower",
                            "target", "package", "llvm", "asm"})
    EXPECT_GT(get(compiler::inspect(graph, stage, {})).size(), 50u) << stage;
  EXPECT_FALSE(compiler::inspect(graph, "sass", {}));
}

TEST(Compile, DigestIsHexadecimal) {
  EXPECT_EQ(compiler::digest().size(), 32u);
  EXPECT_EQ(compiler::digest().find_first_not_of("0123456789abcdef"),
            std::string_view::npos);
}

} // namespace
