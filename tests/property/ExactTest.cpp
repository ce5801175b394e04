/// In mode `exact`, neither fusion nor symbols change a bit, not of a NaN
/// either.
#include "runtime/graph/OpIds.h"
#include "runtime/support/Flags.h"
#include "tests/property/Problem.h"
#include "tests/property/RandomGraph.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::property;
using reference::HostTensor;

static const runtime::CompileRequest fused{"cpu", 0, 0, false};
static const runtime::CompileRequest unfused{"cpu", 0, 1, false};

static bool isCpu() { return flags().device == "cpu"; }

static GraphOptions optionsOf(uint64_t index) {
  static constexpr DType dtypes[] = {DType::f32, DType::bf16, DType::f16,
                                     DType::f32, DType::i32,  DType::boolean,
                                     DType::f64};
  GraphOptions options;
  options.steps = 4 + index % 13;
  options.dtype = dtypes[index % std::size(dtypes)];
  options.empties = index % 3 == 0;
  options.largestDim = index % 5 == 0 ? 40 : 6;
  options.rowsOfProduct = index % 3 == 1;
  options.numbers = index % 4 == 1;
  options.extremes = true;
  drawLargeAt(index, options);
  return options;
}

/// What differs, or empty.
static std::string differenceOfBytes(const std::vector<HostTensor> &a,
                                     const std::vector<HostTensor> &b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (sameBytes({&a[i], 1}, {&b[i], 1}))
      continue;
    size_t width = byteWidth(a[i].dtype);
    for (size_t at = 0; at < a[i].data.size(); ++at)
      if (a[i].data[at] != b[i].data[at])
        return fmt::format("output {}: element {} has other bits", i,
                           at / width);
  }
  return a.size() == b.size() ? "" : "another number of outputs";
}

static std::string compareRuns(const Result<std::vector<HostTensor>> &a,
                               const Result<std::vector<HostTensor>> &b) {
  if (!a || !b)
    return a ? b.error().message : a.error().message;
  return differenceOfBytes(*a, *b);
}

TEST(ExactGraphs, FusedIsUnfused) {
  auto failure = [](const Recipe &recipe) -> std::string {
    Result<Problem> problem = problemOf(recipe);
    if (!problem)
      return problem.error().message;
    return compareRuns(runCompiled(*problem, fused),
                       runCompiled(*problem, unfused));
  };
  for (uint64_t i : graphNumbers()) {
    uint64_t seed = graphSeed(i);
    expectNone(randomGraph(seed, optionsOf(i)), seed, failure);
  }
}

TEST(ExactGraphs, SymbolicIsStatic) {
  auto failure = [](const Recipe &recipe) -> std::string {
    Result<Problem> fixed = problemOf(recipe);
    Result<Problem> symbolic = problemOf(recipe, {.symbolic = true});
    if (!fixed || !symbolic)
      return "not recorded";
    return compareRuns(runCompiled(*fixed, fused),
                       runCompiled(*symbolic, fused));
  };
  for (uint64_t i : graphNumbers(4)) {
    uint64_t seed = graphSeed(i);
    expectNone(randomGraph(seed, optionsOf(i)), seed, failure);
  }
}

static bool takesRows(std::string_view op) {
  static constexpr std::string_view ops[] = {
      "softmax", "log_softmax", "layer_norm", "sum",
      "mean",    "amax",        "amin",       "argmax"};
  return std::ranges::count(ops, op) > 0;
}

/// The graphs have kernels of a product with what takes its rows.
TEST(ExactGraphs, RowsOfProductsAreTaken) {
  if (!isCpu())
    GTEST_SKIP() << "only the cpu's products have the rows of their sums";
  size_t drawn = 0, kernels = 0;
  // Fewer would say little about the share.
  for (uint64_t i = 0; drawn < 100; ++i) {
    if (!optionsOf(i).rowsOfProduct)
      continue;
    ++drawn;
    Result<Problem> problem =
        problemOf(randomGraph(graphSeed(i), optionsOf(i)));
    ASSERT_TRUE(problem);
    auto program = compileGraph(problem->graph, fused);
    ASSERT_TRUE(program) << program.error().message;
    for (const runtime::LaunchInfo &launch : (*program)->launches())
      kernels +=
          launch.kind == "contraction" &&
          std::ranges::any_of(launch.nodes, [&](uint32_t node) {
            graph::OpId op = problem->graph.values[node].op;
            return op != graph::OpId::leaf && takesRows(graph::info(op).name);
          });
  }
  EXPECT_GE(kernels * 10, drawn) << drawn;
  RecordProperty("kernels", int(kernels));
}

/// Vectors of other widths, or none: the order of a sum is not theirs. The
/// least level is no machine's own; it multiplies and adds in one step.
TEST(ExactGraphs, LevelsOfOneMachineAgree) {
  if (!isCpu())
    GTEST_SKIP() << "levels are of the cpu";
  auto failure = [](const Recipe &recipe) -> std::string {
    Result<Problem> problem = problemOf(recipe);
    if (!problem)
      return problem.error().message;
    runtime::CompileRequest level = fused;
    level.target = "cpu:scalar+fma";
    return compareRuns(runCompiled(*problem, fused),
                       runCompiled(*problem, level));
  };
  for (uint64_t i : graphNumbers(4)) {
    uint64_t seed = graphSeed(i);
    expectNone(randomGraph(seed, optionsOf(i)), seed, failure);
  }
}
