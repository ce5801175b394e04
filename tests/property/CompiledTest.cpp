/// Compiled code against the reference: every op, and random graphs.
#include "tests/property/Compiled.h"
#include "runtime/graph/Builders.h"
#include "tests/property/Cases.h"
#include "tests/property/RandomGraph.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::property;
using graph::NodeRef;
using reference::HostTensor;

namespace {
/// A graph, its inputs, and what the reference says about it.
struct Problem {
  graph::Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> expected;
  std::vector<HostTensor> wide;
};
} // namespace

static Result<std::vector<HostTensor>>
inputsOf(const graph::Slice &slice, const std::vector<NodeRef> &leaves,
         const std::vector<HostTensor> &tensors) {
  std::vector<HostTensor> inputs;
  for (const NodeRef &input : slice.inputs)
    inputs.push_back(
        tensors[std::ranges::find(leaves, input) - leaves.begin()]);
  return inputs;
}

/// The reference's answer, with floats in f64 or as they are.
static Result<std::vector<HostTensor>> expectedOf(const Recipe &recipe) {
  SINTER_TRY_ASSIGN(Recording nodes, record(recipe));
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice(nodes.outputs));
  SINTER_TRY_ASSIGN(std::vector<HostTensor> inputs,
                    inputsOf(slice, nodes.leaves, drawLeaves(recipe)));
  return reference::evaluate(slice.graph, inputs);
}

static Result<Problem> problemOf(const Recipe &recipe,
                                 RecordOptions options = {}) {
  Problem problem;
  SINTER_TRY_ASSIGN(Recording nodes, record(recipe, options));
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice(nodes.outputs));
  SINTER_TRY_ASSIGN(problem.inputs,
                    inputsOf(slice, nodes.leaves, drawLeaves(recipe)));
  SINTER_TRY_ASSIGN(problem.expected, expectedOf(recipe));
  SINTER_TRY_ASSIGN(problem.wide, expectedOf(widened(recipe)));
  problem.graph = std::move(slice.graph);
  return problem;
}

static Result<std::vector<HostTensor>>
runCompiled(const Problem &problem, const runtime::CompileRequest &request,
            runtime::RunCounters *counters = nullptr) {
  SINTER_TRY_ASSIGN(auto program, compileGraph(problem.graph, request));
  return runProgram(*program, problem.inputs, counters);
}

/// What is wrong with the recipe when compiled this way; empty when nothing.
static std::string failureOf(const Recipe &recipe,
                             const runtime::CompileRequest &request) {
  Result<Problem> problem = problemOf(recipe);
  if (!problem)
    return "reference: " + problem.error().message;
  auto found = runCompiled(*problem, request);
  if (!found)
    return found.error().message;
  return differenceOf(*found, problem->expected, problem->wide,
                      problem->inputs);
}

static void report(const Recipe &recipe, const std::string &failure,
                   const runtime::CompileRequest &request, uint64_t seed) {
  Recipe small = shrink(recipe, [&](const Recipe &smaller) {
    return !failureOf(smaller, request).empty();
  });
  std::string smallest = failureOf(small, request);
  ADD_FAILURE() << "seed " << seed << ": " << failure
                << "\nsmallest: " << smallest << "\n"
                << toString(small);
}

/// How many random graphs a run draws: SINTER_TEST_GRAPHS, else 200.
static uint64_t graphCount() {
  const char *text = std::getenv("SINTER_TEST_GRAPHS");
  return text ? std::strtoull(text, nullptr, 10) : 200;
}

static uint64_t seedOf(uint64_t index) { return runSeed() * 1000003 + index; }

static GraphOptions optionsOf(uint64_t index) {
  GraphOptions options;
  options.steps = 4 + index % 14;
  options.empties = index % 3 == 0;
  options.largestDim = index % 5 == 0 ? 40 : 6;
  options.dtype = index % 7 == 6 ? DType::f64 : DType::f32;
  return options;
}

static const runtime::CompileRequest fused{"cpu", 1, 0, false};
static const runtime::CompileRequest unfused{"cpu", 1, 1, false};

TEST(CompiledGraphs, FusedIsReference) {
  for (uint64_t i = 0; i < graphCount(); ++i) {
    Recipe recipe = randomGraph(seedOf(i), optionsOf(i));
    std::string failure = failureOf(recipe, fused);
    if (!failure.empty())
      report(recipe, failure, fused, seedOf(i));
  }
}

TEST(CompiledGraphs, UnfusedIsReference) {
  for (uint64_t i = 0; i < graphCount(); i += 2) {
    Recipe recipe = randomGraph(seedOf(i), optionsOf(i));
    std::string failure = failureOf(recipe, unfused);
    if (!failure.empty())
      report(recipe, failure, unfused, seedOf(i));
  }
}

/// In mode `exact`, fusion changes no bit.
TEST(CompiledGraphs, ExactFusedIsExactUnfused) {
  runtime::CompileRequest exact{"cpu", 0, 0, false};
  runtime::CompileRequest single{"cpu", 0, 1, false};
  auto differs = [&](const Recipe &recipe) {
    Result<Problem> problem = problemOf(recipe);
    if (!problem)
      return true;
    auto a = runCompiled(*problem, exact), b = runCompiled(*problem, single);
    return !a || !b || !sameBytes(*a, *b);
  };
  for (uint64_t i = 0; i < graphCount(); i += 4) {
    Recipe recipe = randomGraph(seedOf(i), optionsOf(i));
    if (differs(recipe))
      ADD_FAILURE() << "seed " << seedOf(i) << "\n"
                    << toString(shrink(recipe, differs));
  }
}

/// A program whose row counts are symbols gives the bits of one without.
TEST(CompiledGraphs, SymbolicIsStatic) {
  auto failure = [](const Recipe &recipe) -> std::string {
    Result<Problem> fixed = problemOf(recipe);
    Result<Problem> symbolic = problemOf(recipe, {.symbolic = true});
    if (!fixed || !symbolic)
      return "not recorded";
    auto a = runCompiled(*fixed, fused), b = runCompiled(*symbolic, fused);
    if (!a || !b)
      return a ? b.error().message : a.error().message;
    return sameBytes(*a, *b) ? "" : "other bits";
  };
  for (uint64_t i = 0; i < graphCount(); i += 4) {
    Recipe recipe = randomGraph(seedOf(i), optionsOf(i));
    if (failure(recipe).empty())
      continue;
    Recipe small = shrink(recipe, [&](const Recipe &smaller) {
      return !failure(smaller).empty();
    });
    ADD_FAILURE() << "seed " << seedOf(i) << ": " << failure(small) << "\n"
                  << toString(small);
  }
}

TEST(CompiledGraphs, RunsAreRepeatable) {
  for (uint64_t i = 0; i < graphCount(); i += 8) {
    Recipe recipe = randomGraph(seedOf(i), optionsOf(i));
    Result<Problem> problem = problemOf(recipe);
    ASSERT_TRUE(problem);
    auto program = compileGraph(problem->graph, fused);
    ASSERT_TRUE(program) << program.error().message << toString(recipe);
    auto first = runProgram(**program, problem->inputs);
    auto second = runProgram(**program, problem->inputs);
    ASSERT_TRUE(first && second);
    EXPECT_TRUE(sameBytes(*first, *second)) << toString(recipe);
  }
}

//===- Every op -----------------------------------------------------------===//

namespace {
class CompiledOps : public testing::TestWithParam<const PropertyRow *> {};
} // namespace

/// One call with the dtype wherever the op takes it.
static void checkCall(const PropertyRow &row, uint64_t seed, Sizes sizes,
                      std::optional<DType> floats) {
  Rng rng(seed);
  Case call = drawCase(row, rng, sizes, floats);
  SCOPED_TRACE(call.describe() + ", SINTER_TEST_SEED=" + std::to_string(seed));
  std::vector<NodeRef> leaves;
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    leaves.push_back(leafFor(call, i));
    tensors.push_back(reference::encode(call.operands[i]));
  }
  Result<NodeRef> output = record(call, leaves);
  ASSERT_TRUE(output) << output.error().message;
  Result<graph::Slice> slice = graph::slice({&*output, 1});
  ASSERT_TRUE(slice) << slice.error().message;
  Problem problem;
  problem.graph = std::move(slice->graph);
  problem.inputs = *inputsOf(*slice, leaves, tensors);
  auto expected = reference::evaluate(problem.graph, problem.inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  auto found = runCompiled(problem, fused);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(differenceOf(*found, *expected, *expected, problem.inputs), "");
}

TEST_P(CompiledOps, MatchTheReference) {
  const PropertyRow &row = *GetParam();
  for (uint64_t i = 0; i < 3; ++i)
    checkCall(row, runSeed() + i, Sizes::mixed, DType::f32);
  checkCall(row, runSeed(), Sizes::onlyOnes, DType::f32);
  checkCall(row, runSeed(), Sizes::withZeros, DType::f32);
  for (DType dtype : {DType::f64, DType::f16, DType::bf16})
    checkCall(row, runSeed() + 7, Sizes::mixed, dtype);
  for (uint64_t i = 0; i < 3; ++i)
    checkCall(row, runSeed() + 20 + i, Sizes::mixed, std::nullopt);
}

static std::vector<const PropertyRow *> allRows() {
  std::vector<const PropertyRow *> rows;
  for (const PropertyRow &row : propertyTable())
    rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(
    Table, CompiledOps, testing::ValuesIn(allRows()),
    [](const testing::TestParamInfo<const PropertyRow *> &info) {
      return std::string(graph::info(info.param->op).name);
    });
