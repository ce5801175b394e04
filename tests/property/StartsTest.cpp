/// A slice or pad from a start that the program is given moves the elements
/// that one from a fixed start moves, and changes no bit of what is computed of
/// them.
#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "runtime/support/Flags.h"
#include "tests/property/Problem.h"
#include "tests/property/RandomGraph.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::property;
using reference::HostTensor;

namespace {

/// Writes a recipe anew, whose slices and pads begin where leaves say.
class Rewriter {
public:
  explicit Rewriter(const Recipe &recipe);
  /// Nothing when a step of the recipe cannot be recorded.
  std::optional<Recipe> run();

  unsigned given = 0; ///< starts that are leaves now

private:
  bool isSlice(const RecipeStep &step) const;
  bool isPad(const RecipeStep &step) const;
  void rewrite(const RecipeStep &step, std::span<const Dim> from,
               std::span<const Dim> to);
  uint32_t start(int64_t value);
  uint32_t add(RecipeStep step);

  const Recipe &recipe;
  Recipe result;
  std::vector<uint32_t> places; ///< of the recipe's values in the result
  /// Leaves are added to the end; steps are numbered from here meanwhile.
  static constexpr uint32_t firstStep = 1 << 20;
};

} // namespace

Rewriter::Rewriter(const Recipe &recipe) : recipe(recipe) {
  result.leaves = recipe.leaves;
  for (uint32_t i = 0; i < recipe.leaves.size(); ++i)
    places.push_back(i);
}

bool Rewriter::isSlice(const RecipeStep &step) const {
  if (graph::info(step.op).name != "slice")
    return false;
  graph::AttrReader reader(step.attrs);
  reader.ints();
  reader.dims();
  return std::ranges::all_of(reader.ints(), [](int64_t s) { return s == 1; });
}

bool Rewriter::isPad(const RecipeStep &step) const {
  if (graph::info(step.op).name != "pad")
    return false;
  graph::AttrReader reader(step.attrs);
  reader.ints();
  reader.dims();
  std::span<const int64_t> interior = reader.ints();
  return reader.number().asReal() == 0 &&
         std::ranges::all_of(interior, [](int64_t n) { return n == 0; });
}

uint32_t Rewriter::start(int64_t value) {
  RecipeLeaf leaf;
  leaf.dtype = DType::i64;
  leaf.domain = {DomainKind::integers, double(value), double(value), noPoint};
  result.leaves.push_back(leaf);
  ++given;
  return uint32_t(result.leaves.size() - 1);
}

uint32_t Rewriter::add(RecipeStep step) {
  result.steps.push_back(std::move(step));
  return firstStep + uint32_t(result.steps.size() - 1);
}

/// One step for each axis that changes its length.
void Rewriter::rewrite(const RecipeStep &step, std::span<const Dim> from,
                       std::span<const Dim> to) {
  std::span<const int64_t> starts = graph::AttrReader(step.attrs).ints();
  graph::OpId op = graph::findOp(isPad(step) ? "dynamic_pad" : "dynamic_slice");
  uint32_t value = places[step.operands[0]];
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis].value == to[axis].value)
      continue;
    graph::AttrWriter attrs;
    attrs.integer(int64_t(axis));
    attrs.dim(to[axis]);
    value = add({op,
                 {value, start(starts[axis])},
                 {attrs.view().begin(), attrs.view().end()}});
  }
  places.push_back(value);
}

std::optional<Recipe> Rewriter::run() {
  Result<Recording> nodes = record(recipe);
  if (!nodes)
    return std::nullopt;
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    const RecipeStep &step = recipe.steps[i];
    if (isSlice(step) || isPad(step)) {
      rewrite(step, nodes->values[step.operands[0]]->dims(),
              nodes->values[recipe.leaves.size() + i]->dims());
      continue;
    }
    RecipeStep copy = step;
    for (uint32_t &operand : copy.operands)
      operand = places[operand];
    places.push_back(add(std::move(copy)));
  }
  auto numLeaves = uint32_t(result.leaves.size());
  auto settle = [&](uint32_t value) {
    return value < firstStep ? value : value - firstStep + numLeaves;
  };
  for (RecipeStep &step : result.steps)
    std::ranges::transform(step.operands, step.operands.begin(), settle);
  for (uint32_t output : recipe.outputs)
    result.outputs.push_back(settle(places[output]));
  return std::move(result);
}

static std::string compare(const Recipe &recipe,
                           const runtime::CompileRequest &request) {
  std::optional<Recipe> given = Rewriter(recipe).run();
  if (!given)
    return "not recorded";
  Result<Problem> fixed = problemOf(recipe), dynamic = problemOf(*given);
  if (!fixed || !dynamic)
    return "no graph";
  auto a = runCompiled(*fixed, request), b = runCompiled(*dynamic, request);
  if (!a || !b)
    return a ? b.error().message : a.error().message;
  return sameBytes(*a, *b) ? "" : "other bits";
}

static GraphOptions optionsOf(uint64_t index) {
  static constexpr DType dtypes[] = {DType::f32, DType::bf16, DType::f32,
                                     DType::i32, DType::f64};
  GraphOptions options;
  options.steps = 4 + index % 9;
  options.dtype = dtypes[index % std::size(dtypes)];
  options.empties = index % 3 == 0;
  options.largestDim = index % 4 == 0 ? 40 : 7;
  options.extremes = true;
  options.slices = true;
  return options;
}

static void checkGraphs(const runtime::CompileRequest &request) {
  auto failure = [&](const Recipe &recipe) { return compare(recipe, request); };
  for (uint64_t i : graphNumbers(2)) {
    uint64_t seed = graphSeed(i);
    expectNone(randomGraph(seed, optionsOf(i)), seed, failure);
  }
}

// Of so many graphs that their number hardly depends on the seed.
TEST(GivenStarts, AreDrawn) {
  constexpr uint64_t looked = 1000;
  uint64_t starts = 0;
  for (uint64_t i = 0; i < looked; ++i) {
    Recipe recipe = randomGraph(graphSeed(i), optionsOf(i));
    Rewriter rewriter(recipe);
    rewriter.run();
    starts += rewriter.given;
  }
  EXPECT_GE(starts * 10, 2 * looked);
}

TEST(GivenStarts, AreFixedOnes) { checkGraphs({"cpu", 1, 0, false}); }
TEST(GivenStarts, AreFixedOnesInExactMode) {
  checkGraphs({"cpu", 0, 0, false});
}
TEST(GivenStarts, AreFixedOnesUnfused) { checkGraphs({"cpu", 0, 1, false}); }
