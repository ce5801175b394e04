/// Compiled code against the reference: every op, and random graphs.
#include "tests/property/Cases.h"
#include "tests/property/Problem.h"
#include "tests/property/RandomGraph.h"
#include "tests/property/Watch.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::property;

/// What is wrong with the recipe when compiled this way; empty when nothing.
static std::string failureOf(const Recipe &recipe,
                             const runtime::CompileRequest &request) {
  Result<Problem> problem = problemOf(recipe);
  if (!problem)
    return problem.error().message;
  auto expected = expectationOf(problem->graph, problem->inputs, request);
  if (!expected)
    return "reference: " + expected.error().message;
  auto found = runCompiled(*problem, request);
  if (!found)
    return found.error().message;
  return mismatchOf(*found, *expected);
}

static GraphOptions optionsOf(uint64_t index) {
  GraphOptions options;
  options.steps = 4 + index % 14;
  options.empties = index % 3 == 0;
  options.largestDim = index % 5 == 0 ? 40 : 6;
  options.rowsOfProduct = index % 3 == 1;
  options.numbers = index % 4 == 1;
  options.dtype = index % 7 == 6 ? DType::f64 : DType::f32;
  drawLargeAt(index, options);
  return options;
}

static const runtime::CompileRequest fused{"cpu", 1, 0, false};
static const runtime::CompileRequest unfused{"cpu", 1, 1, false};
static const runtime::CompileRequest fast{"cpu", 2, 0, false};

TEST(CompiledGraphs, FusedIsReference) {
  for (uint64_t i : graphNumbers())
    expectNone(randomGraph(graphSeed(i), optionsOf(i)), graphSeed(i),
               [](const Recipe &recipe) { return failureOf(recipe, fused); });
}

TEST(CompiledGraphs, UnfusedIsReference) {
  for (uint64_t i : graphNumbers(2))
    expectNone(randomGraph(graphSeed(i), optionsOf(i)), graphSeed(i),
               [](const Recipe &recipe) { return failureOf(recipe, unfused); });
}

TEST(CompiledGraphs, FastIsReference) {
  for (uint64_t i : graphNumbers(2, 1))
    expectNone(randomGraph(graphSeed(i), optionsOf(i)), graphSeed(i),
               [](const Recipe &recipe) { return failureOf(recipe, fast); });
}

/// A program whose row counts are symbols gives the bits of one without.
static std::string symbolicFailure(const Recipe &recipe,
                                   const runtime::CompileRequest &request) {
  Result<Problem> fixed = problemOf(recipe);
  Result<Problem> symbolic = problemOf(recipe, {.symbolic = true});
  if (!fixed || !symbolic)
    return "not recorded";
  auto a = runCompiled(*fixed, request), b = runCompiled(*symbolic, request);
  if (!a || !b)
    return a ? b.error().message : a.error().message;
  return sameBytes(*a, *b) ? "" : "other bits";
}

static void expectSymbolicIsStatic(const runtime::CompileRequest &request,
                                   uint64_t step) {
  for (uint64_t i : graphNumbers(step))
    expectNone(
        randomGraph(graphSeed(i), optionsOf(i)), graphSeed(i),
        [&](const Recipe &recipe) { return symbolicFailure(recipe, request); });
}

TEST(CompiledGraphs, SymbolicIsStatic) { expectSymbolicIsStatic(fused, 4); }
TEST(CompiledGraphs, SymbolicIsStaticInFast) {
  expectSymbolicIsStatic(fast, 10);
}

TEST(CompiledGraphs, RunsAreRepeatable) {
  for (uint64_t i : graphNumbers(8)) {
    Recipe recipe = randomGraph(graphSeed(i), optionsOf(i));
    Watch watch(toString(recipe));
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

//===- Too much for a kernel ----------------------------------------------===//

namespace {
class LargeGraphs : public testing::TestWithParam<Large> {
protected:
  static void
  expectNone(const std::function<std::string(const Recipe &)> &failure) {
    GraphOptions options{.steps = 4, .large = GetParam(), .largeCount = 300};
    if (GetParam() == Large::join)
      options.largeCount = 64;
    if (GetParam() == Large::recurrence)
      options.largeCount = 32;
    // Those that are no long ones are drawn several times.
    uint64_t draws = GetParam() == Large::heads ? 6 : 1;
    for (uint64_t draw = 0; draw < draws; ++draw) {
      uint64_t seed = graphSeed(uint64_t(GetParam()) + numLarge * draw);
      property::expectNone(randomGraph(seed, options), seed, failure);
    }
  }
};
} // namespace

TEST_P(LargeGraphs, FusedIsReference) {
  expectNone([](const Recipe &recipe) { return failureOf(recipe, fused); });
}

TEST_P(LargeGraphs, UnfusedIsReference) {
  expectNone([](const Recipe &recipe) { return failureOf(recipe, unfused); });
}

TEST_P(LargeGraphs, SymbolicIsStatic) {
  expectNone(
      [](const Recipe &recipe) { return symbolicFailure(recipe, fused); });
}

static std::string nameOf(const testing::TestParamInfo<Large> &info) {
  static constexpr const char *names[] = {"none",  "join",       "numbers",
                                          "views", "recurrence", "heads"};
  return names[size_t(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Kinds, LargeGraphs,
                         testing::Values(Large::join, Large::numbers,
                                         Large::views, Large::recurrence,
                                         Large::heads),
                         nameOf);

//===- Every op -----------------------------------------------------------===//

namespace {
class CompiledOps : public testing::TestWithParam<const PropertyRow *> {};
} // namespace

/// One call with the dtype wherever the op takes it.
static void checkCall(const PropertyRow &row, uint64_t seed, Sizes sizes,
                      std::optional<DType> floats,
                      const runtime::CompileRequest &request = fused) {
  Rng rng(seed);
  Case call = drawCase(row, rng, sizes, floats);
  std::string text =
      call.describe() + ", SINTER_TEST_SEED=" + std::to_string(seed);
  Watch watch(text);
  SCOPED_TRACE(text);
  auto problem = problemOf(call);
  ASSERT_TRUE(problem) << problem.error().message;
  auto expected = expectationOf(problem->graph, problem->inputs, request);
  ASSERT_TRUE(expected) << expected.error().message;
  auto found = runCompiled(*problem, request);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(mismatchOf(*found, *expected), "");
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
  checkCall(row, runSeed() + 30, Sizes::mixed, DType::f32, fast);
}

static std::vector<const PropertyRow *> allRows() {
  std::vector<const PropertyRow *> rows;
  for (const PropertyRow &row : propertyTable())
    if (isDrawable(row))
      rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(
    Table, CompiledOps, testing::ValuesIn(allRows()),
    [](const testing::TestParamInfo<const PropertyRow *> &info) {
      return std::string(graph::info(info.param->op).name);
    });
