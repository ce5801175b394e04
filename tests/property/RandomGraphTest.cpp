/// Random graphs that need no compiler: keys, reference, gradients.
#include "tests/property/RandomGraph.h"
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Slice.h"
#include "runtime/reference/HostValue.h"
#include "tests/property/Cases.h"
#include "tests/property/Watch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

using namespace sinter;
using namespace sinter::property;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

/// Outputs by the reference, with `tensors` for the recording's leaves.
static Result<std::vector<HostTensor>>
evaluateNodes(const std::vector<NodeRef> &outputs,
              const std::vector<NodeRef> &leaves,
              const std::vector<HostTensor> &tensors) {
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice(outputs));
  std::vector<HostTensor> inputs;
  for (const NodeRef &input : slice.inputs) {
    auto leaf = std::find(leaves.begin(), leaves.end(), input);
    inputs.push_back(tensors[leaf - leaves.begin()]);
  }
  return reference::evaluate(slice.graph, inputs);
}

static uint64_t seedOf(uint64_t index) { return runSeed() * 1000003 + index; }

TEST(RandomGraph, SameSeedSameGraphSameKey) {
  for (uint64_t i = 0; i < 100; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seedOf(i)));
    Recipe recipe = randomGraph(seedOf(i), {});
    Result<Recording> first = record(recipe), second = record(recipe);
    ASSERT_TRUE(first && second);
    graph::KeyedSlice a, b;
    ASSERT_TRUE(a.compute(first->outputs).ok());
    ASSERT_TRUE(b.compute(second->outputs).ok());
    EXPECT_EQ(a.key(), b.key());
    EXPECT_EQ(graph::keyOf(graph::toGraph(a).graph), a.key());
  }
}

TEST(RandomGraph, ReferenceAnswersEveryGraph) {
  for (uint64_t i = 0; i < 100; ++i) {
    Recipe recipe = randomGraph(seedOf(i), {});
    std::string text =
        "seed " + std::to_string(seedOf(i)) + "\n" + toString(recipe);
    Watch watch(text);
    SCOPED_TRACE(text);
    Result<Recording> nodes = record(recipe);
    ASSERT_TRUE(nodes);
    auto found =
        evaluateNodes(nodes->outputs, nodes->leaves, drawLeaves(recipe));
    ASSERT_TRUE(found) << found.error().message;
    for (size_t k = 0; k < found->size(); ++k) {
      EXPECT_EQ((*found)[k].dtype, nodes->outputs[k]->dtype());
      EXPECT_EQ((*found)[k].elements(), nodes->outputs[k]->elements());
    }
  }
}

/// No op of the table is left out, but for those whose records make them parts
/// of loops.
TEST(RandomGraph, DrawsEveryOp) {
  std::map<graph::OpId, int> graphs;
  for (uint64_t i = 0; i < 600; ++i) {
    Recipe recipe = randomGraph(seedOf(i), {});
    std::set<graph::OpId> ops;
    for (const RecipeStep &step : recipe.steps)
      ops.insert(step.op);
    for (graph::OpId op : ops)
      ++graphs[op];
  }
  for (const PropertyRow &row : propertyTable()) {
    if (isDrawable(row)) {
      EXPECT_GE(graphs[row.op], 5) << graph::info(row.op).name;
    }
  }
}

/// Symbols change how a graph is written, not what it computes: guards fix
/// those that literal numbers in attributes fix.
TEST(RandomGraph, SymbolicLeavesGiveTheSameAnswers) {
  uint32_t symbols = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    Recipe recipe = randomGraph(seedOf(i), {.steps = 6});
    std::string text =
        "seed " + std::to_string(seedOf(i)) + "\n" + toString(recipe);
    Watch watch(text);
    SCOPED_TRACE(text);
    Result<Recording> fixed = record(recipe);
    Result<Recording> symbolic = record(recipe, {.symbolic = true});
    ASSERT_TRUE(fixed);
    ASSERT_TRUE(symbolic) << symbolic.error().message;
    graph::KeyedSlice keyed;
    ASSERT_TRUE(keyed.compute(symbolic->outputs).ok());
    runtime::Key key = keyed.key();
    graph::Graph graph = graph::toGraph(keyed).graph;
    EXPECT_EQ(graph::keyOf(graph), key);
    symbols += graph.numSymbols;
    std::vector<HostTensor> tensors = drawLeaves(recipe);
    auto a = evaluateNodes(fixed->outputs, fixed->leaves, tensors);
    auto b = evaluateNodes(symbolic->outputs, symbolic->leaves, tensors);
    ASSERT_TRUE(a) << a.error().message;
    ASSERT_TRUE(b) << b.error().message;
    for (size_t k = 0; k < a->size(); ++k)
      EXPECT_EQ((*a)[k].data, (*b)[k].data);
  }
  EXPECT_GT(symbols, 100u);
}

//===- Gradients ----------------------------------------------------------===//

/// The sum of all float outputs, as one node of rank 0.
static NodeRef totalOf(const std::vector<NodeRef> &outputs) {
  NodeRef total;
  for (const NodeRef &output : outputs) {
    std::vector<int64_t> axes(output->rank());
    std::iota(axes.begin(), axes.end(), 0);
    NodeRef part = *graph::sum(*graph::tanh(output), axes, false);
    total = total ? *graph::add(total, part) : part;
  }
  return total;
}

namespace {
/// The gradients of a recipe against differences along random directions.
class DirectionCheck {
public:
  explicit DirectionCheck(const Recipe &recipe, uint64_t seed)
      : recipe(recipe), random(seed) {}

  /// Empty when all agree.
  std::string run() {
    Result<Recording> recorded = record(recipe, {.requiresGrad = true});
    if (!recorded)
      return recorded.error().message;
    nodes = std::move(*recorded);
    total = totalOf(nodes.outputs);
    tensors = drawLeaves(recipe);
    NodeRef one = *graph::full({}, 1.0, DType::f64, DeviceId());
    auto found = autodiff::gradients(total, one, nodes.leaves);
    if (!found)
      return found.error().message;
    // The mean of nothing is no number, and has no differences.
    auto value = evaluateNodes({total}, nodes.leaves, tensors);
    if (!value)
      return value.error().message;
    if (!std::isfinite(reference::decode((*value)[0]).reals[0]))
      return {};
    for (size_t i = 0; i < nodes.leaves.size(); ++i)
      if (isFloat(nodes.leaves[i]->dtype()))
        if (std::string text = check(i, (*found)[i]); !text.empty())
          return text;
    return {};
  }

  unsigned quotients = 0; ///< that gradients were to be compared with
  unsigned unsettled = 0; ///< those that no step was short enough for

private:
  double totalWith(size_t leaf, const HostValue &value) {
    std::vector<HostTensor> moved = tensors;
    moved[leaf] = reference::encode(value);
    auto found = evaluateNodes({total}, nodes.leaves, moved);
    return found ? reference::decode((*found)[0]).reals[0] : NAN;
  }
  std::string check(size_t leaf, const NodeRef &gradient) {
    HostValue x = reference::decode(tensors[leaf]);
    std::vector<double> direction(x.reals.size());
    for (double &value : direction)
      value = drawReal(random, -1, 1);
    double analytic = 0;
    if (gradient) {
      auto found = evaluateNodes({gradient}, nodes.leaves, tensors);
      if (!found)
        return found.error().message;
      HostValue values = reference::decode((*found)[0]);
      for (size_t i = 0; i < direction.size(); ++i)
        analytic += values.reals[i] * direction[i];
    }
    auto quotient = [&](double step) {
      HostValue ahead = x, behind = x;
      for (size_t i = 0; i < direction.size(); ++i) {
        ahead.reals[i] += step * direction[i];
        behind.reals[i] -= step * direction[i];
      }
      return (totalWith(leaf, ahead) - totalWith(leaf, behind)) / (2 * step);
    };
    // Of a step that is short enough: half of it changes little. A function
    // that turns within the shortest has no quotient to compare with.
    double numeric = 0, tolerance = 0;
    bool settles = false;
    for (int digits = 5; digits < 9 && !settles; ++digits) {
      double step = std::pow(10, -digits);
      numeric = quotient(step / 2);
      tolerance = 1e-4 * (1 + std::abs(numeric));
      settles = std::abs(numeric - quotient(step)) <= tolerance / 2;
    }
    ++quotients;
    unsettled += !settles;
    if (!settles || std::abs(numeric - analytic) <= tolerance)
      return {};
    return "leaf " + std::to_string(leaf) + ": " + std::to_string(analytic) +
           " is not " + std::to_string(numeric);
  }

  const Recipe &recipe;
  Rng random;
  Recording nodes;
  NodeRef total;
  std::vector<HostTensor> tensors;
};
} // namespace

TEST(RandomGraph, GradientsMatchFiniteDifferences) {
  unsigned quotients = 0, unsettled = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    uint64_t seed = seedOf(i);
    auto failure = [&](const Recipe &recipe) {
      return DirectionCheck(recipe, seed).run();
    };
    Recipe recipe =
        randomGraph(seed, {.steps = 8, .dtype = DType::f64, .smooth = true});
    Watch watch("seed " + std::to_string(seed) + "\n" + toString(recipe));
    DirectionCheck check(recipe, seed);
    std::string wrong = check.run();
    quotients += check.quotients;
    unsettled += check.unsettled;
    if (wrong.empty())
      continue;
    Recipe small = shrink(recipe, [&](const Recipe &smaller) {
      return !failure(smaller).empty();
    });
    ADD_FAILURE() << "seed " << seed << ": " << failure(small) << "\n"
                  << toString(small);
  }
  std::printf("%u of %u quotients did not settle\n", unsettled, quotients);
  EXPECT_LE(unsettled * 20, quotients);
}

//===- The tests' own tools -----------------------------------------------===//

TEST(Shrinking, FindsTheOneStep) {
  graph::OpId wanted = graph::OpId::tanh;
  auto fails = [&](const Recipe &recipe) {
    return std::ranges::any_of(recipe.steps, [&](const RecipeStep &step) {
      return step.op == wanted;
    });
  };
  int found = 0;
  for (uint64_t i = 0; i < 1000 && found < 3; ++i) {
    Recipe recipe = randomGraph(seedOf(i), {.steps = 20});
    if (!fails(recipe))
      continue;
    ++found;
    Recipe small = shrink(recipe, fails);
    EXPECT_EQ(small.steps.size(), 1u) << toString(small);
    EXPECT_TRUE(record(small).ok());
  }
  EXPECT_EQ(found, 3);
}
