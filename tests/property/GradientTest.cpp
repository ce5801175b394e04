/// Gradients of every op against finite differences of the reference, in f64.
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Loops.h"
#include "runtime/graph/Slice.h"
#include "tests/property/Cases.h"
#include "tests/property/Watch.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

using namespace sinter;
using namespace sinter::property;
using graph::NodeRef;
using reference::HostValue;

namespace {

/// Leaves with values, and what nodes over them are by the reference.
class Evaluator {
public:
  NodeRef bind(NodeRef leaf, HostValue value) {
    values.insert_or_assign(leaf.get(), std::move(value));
    return leaf;
  }
  HostValue &valueOf(const NodeRef &leaf) { return values.at(leaf.get()); }
  Result<HostValue> eval(const NodeRef &node) const {
    SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice({&node, 1}));
    std::vector<reference::HostTensor> inputs;
    for (const NodeRef &input : slice.inputs)
      inputs.push_back(reference::encode(values.at(input.get())));
    SINTER_TRY_ASSIGN(auto outputs, reference::evaluate(slice.graph, inputs));
    return reference::decode(outputs[0]);
  }

private:
  std::map<const graph::Node *, HostValue> values;
};

/// The sum of (a - b) * weights. Elements that are equal add nothing: a
/// difference of two sums would have the rounding errors of all elements.
double weightedDifference(const HostValue &a, const HostValue &b,
                          const HostValue &weights) {
  double sum = 0;
  for (size_t i = 0; i < a.reals.size(); ++i)
    sum += (a.reals[i] - b.reals[i]) * weights.reals[i];
  return sum;
}

Shape shapeOf(const NodeRef &node) {
  Shape dims;
  for (Dim dim : node->dims())
    dims.push_back(dim.value);
  return dims;
}

/// Part of a number: a node times weights, summed.
struct Term {
  NodeRef node;
  NodeRef seed; ///< a leaf that holds the weights
};

/// Gradients of one graph with respect to its float leaves.
class GradientCheck {
public:
  explicit GradientCheck(Rng &rng) : rng(rng) {}

  /// Makes a leaf one whose gradients are compared, if it is of floats.
  NodeRef bind(NodeRef leaf, HostValue value);
  /// Compares the first derivatives of the outputs, randomly weighted, and then
  /// those of the gradients. Outputs that are not of f64 have no gradient.
  void run(std::span<const NodeRef> outputs);

  size_t compared = 0;    ///< numbers
  bool hasFloats = false; ///< an output was of f64

private:
  Term weighted(const NodeRef &node);
  Result<std::vector<NodeRef>> gradientsOf(const Term &term) const;
  HostValue valueAt(const NodeRef &node, double &slot, double x) const;
  double numericDerivative(std::span<const Term> terms, size_t index,
                           size_t element);
  void compare(std::span<const Term> terms, size_t index,
               const HostValue &analytic, int count);
  std::vector<NodeRef> check(std::span<const Term> terms, int count);

  Rng &rng;
  Evaluator evaluator;
  std::vector<NodeRef> wrt;
};

NodeRef GradientCheck::bind(NodeRef leaf, HostValue value) {
  if (isFloat(leaf->dtype()))
    wrt.push_back(leaf);
  return evaluator.bind(std::move(leaf), std::move(value));
}

Term GradientCheck::weighted(const NodeRef &node) {
  HostValue weights(DType::f64, shapeOf(node));
  for (double &value : weights.reals)
    value = drawReal(rng, -1, 1);
  NodeRef seed =
      graph::NodeFactory::lazyLeaf(DType::f64, node->dims(), DeviceId(), false);
  return {node, evaluator.bind(seed, std::move(weights))};
}

Result<std::vector<NodeRef>>
GradientCheck::gradientsOf(const Term &term) const {
  return autodiff::gradients(term.node, term.seed, wrt);
}

/// The node where one element of a leaf is x.
HostValue GradientCheck::valueAt(const NodeRef &node, double &slot,
                                 double x) const {
  double saved = std::exchange(slot, x);
  Result<HostValue> result = evaluator.eval(node);
  slot = saved;
  EXPECT_TRUE(result) << result.error().message;
  return result ? std::move(*result) : HostValue(DType::f64, shapeOf(node));
}

double GradientCheck::numericDerivative(std::span<const Term> terms,
                                        size_t index, size_t element) {
  double &slot = evaluator.valueOf(wrt[index]).reals[element];
  double step = 1e-5, sum = 0;
  for (const Term &term : terms) {
    HostValue above = valueAt(term.node, slot, slot + step),
              below = valueAt(term.node, slot, slot - step);
    sum += weightedDifference(above, below, evaluator.valueOf(term.seed));
  }
  return sum / (2 * step);
}

/// A few elements of the leaf: each costs two evaluations.
void GradientCheck::compare(std::span<const Term> terms, size_t index,
                            const HostValue &analytic, int count) {
  const size_t size = analytic.reals.size();
  for (int i = 0; i < count && size > 0; ++i) {
    size_t element = drawInt(rng, 0, int64_t(size) - 1);
    double numeric = numericDerivative(terms, index, element);
    double tolerance = 1e-5 * (1 + std::abs(numeric));
    EXPECT_NEAR(analytic.reals[element], numeric, tolerance)
        << "leaf " << index << ", element " << element;
    ++compared;
  }
}

/// Compares the derivatives of the terms' sum, and gives their nodes.
std::vector<NodeRef> GradientCheck::check(std::span<const Term> terms,
                                          int count) {
  std::vector<NodeRef> nodes;
  std::vector<HostValue> sums;
  for (const NodeRef &leaf : wrt)
    sums.emplace_back(DType::f64, shapeOf(leaf));
  for (const Term &term : terms) {
    auto gradients = gradientsOf(term);
    EXPECT_TRUE(gradients) << gradients.error().message;
    if (!gradients)
      return {};
    for (size_t i = 0; i < wrt.size(); ++i) {
      const NodeRef &gradient = (*gradients)[i];
      if (!gradient)
        continue;
      EXPECT_EQ(gradient->dtype(), DType::f64);
      EXPECT_EQ(shapeOf(gradient), sums[i].dims);
      Result<HostValue> result = evaluator.eval(gradient);
      EXPECT_TRUE(result) << result.error().message;
      for (size_t j = 0; result && j < sums[i].reals.size(); ++j)
        sums[i].reals[j] += result->reals[j];
      nodes.push_back(gradient);
    }
  }
  for (size_t i = 0; i < wrt.size(); ++i)
    compare(terms, i, sums[i], count);
  return nodes;
}

void GradientCheck::run(std::span<const NodeRef> outputs) {
  std::vector<Term> terms, second;
  for (const NodeRef &output : outputs)
    if (output->dtype() == DType::f64)
      terms.push_back(weighted(output));
  hasFloats = !terms.empty();
  if (!hasFloats)
    return;
  for (const NodeRef &gradient : check(terms, 12))
    second.push_back(weighted(gradient));
  if (testing::Test::HasFailure())
    return;
  SCOPED_TRACE("second derivatives");
  check(second, 4);
}

TEST(GradientCheck, RoundingErrorsOfOtherElementsDoNotCount) {
  Rng rng(1);
  GradientCheck check(rng);
  HostValue value(DType::f64, {100000});
  for (double &element : value.reals)
    element = drawReal(rng, 1000, 2000);
  Dims dims = {100000};
  NodeRef x = check.bind(
      graph::NodeFactory::lazyLeaf(DType::f64, dims, DeviceId(), true),
      std::move(value));
  NodeRef negative = *graph::neg(x);
  check.run({&negative, 1});
  EXPECT_GT(check.compared, 0u);
}

//===- Every op -----------------------------------------------------------===//

class Gradients : public testing::TestWithParam<const PropertyRow *> {
protected:
  void checkCase(uint64_t seed, Sizes sizes);

  size_t compared = 0;
  bool hasFloats = false;
};

static int64_t elementsOf(const Case &call) {
  int64_t count = 0;
  for (const auto &operand : call.operands)
    count += std::accumulate(operand.dims.begin(), operand.dims.end(),
                             int64_t(1), std::multiplies<>());
  return count;
}

void Gradients::checkCase(uint64_t seed, Sizes sizes) {
  Rng rng(seed);
  Case call = drawCase(*GetParam(), rng, sizes, DType::f64);
  // Differences take an evaluation for each element: not of the largest cases.
  constexpr int64_t mostElements = 512;
  while (elementsOf(call) > mostElements)
    call = drawCase(*GetParam(), rng, sizes, DType::f64);
  std::string text =
      call.describe() + ", SINTER_TEST_SEED=" + std::to_string(seed);
  Watch watch(text);
  SCOPED_TRACE(text);
  GradientCheck check(rng);
  std::vector<NodeRef> leaves;
  for (size_t i = 0; i < call.operands.size(); ++i)
    leaves.push_back(check.bind(leafFor(call, i), call.operands[i]));
  Result<NodeRef> output = record(call, leaves);
  ASSERT_TRUE(output) << output.error().message;
  check.run({&*output, 1});
  compared += check.compared;
  hasFloats |= check.hasFloats;
}

TEST_P(Gradients, MatchFiniteDifferences) {
  for (uint64_t i = 0; i < 8; ++i)
    checkCase(runSeed() + i, Sizes::mixed);
  checkCase(runSeed(), Sizes::onlyOnes);
  EXPECT_EQ(compared > 0, hasFloats);
  for (uint64_t i = 0; i < 3; ++i)
    checkCase(runSeed() + i, Sizes::withZeros);
}

std::vector<const PropertyRow *> differentiableRows() {
  std::vector<const PropertyRow *> rows;
  for (const PropertyRow &row : propertyTable())
    if (row.differentiable && isDrawable(row))
      rows.push_back(&row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(
    Ops, Gradients, testing::ValuesIn(differentiableRows()),
    [](const testing::TestParamInfo<const PropertyRow *> &info) {
      return std::string(graph::info(info.param->op).name);
    });

//===- Loops --------------------------------------------------------------===//

/// A loop over f64[3] with everything that a loop may have.
struct DrawnLoop {
  DrawnLoop(Rng &rng, GradientCheck &check);

  std::vector<NodeRef> outputs;
  std::set<graph::OpId> ops; ///< parts of the loop
};

DrawnLoop::DrawnLoop(Rng &rng, GradientCheck &check) {
  auto leaf = [&](Shape dims) {
    HostValue value(DType::f64, dims);
    for (double &element : value.reals)
      element = drawReal(rng, -1, 1);
    Dims shape(dims.begin(), dims.end());
    return check.bind(
        graph::NodeFactory::lazyLeaf(DType::f64, shape, DeviceId(), true),
        std::move(value));
  };
  int64_t steps = drawInt(rng, 0, 4);
  NodeRef init = leaf({3}), xs = leaf({steps, 3}), weight = leaf({3});
  graph::LoopParts parts;
  parts.index =
      *graph::scan_index(Dim(steps), drawInt(rng, 0, 1) != 0, DeviceId());
  NodeRef carry = *graph::beginCarry(parts.index, init);
  NodeRef slice = *graph::beginSlice(parts.index, xs);
  NodeRef next = *graph::tanh(*graph::add(*graph::mul(carry, weight), slice));
  parts.carries = {carry};
  parts.nexts = {next};
  parts.ys = {*graph::mul(*graph::sin(next), carry)};
  graph::LoopResults results = *graph::finishLoop(parts);
  outputs = {results.lasts[0], results.stacks[0]};
  for (const NodeRef &part : {parts.index, carry, slice, results.end,
                              results.lasts[0], results.stacks[0]})
    ops.insert(part->op());
}

TEST(LoopGradients, MatchFiniteDifferences) {
  size_t compared = 0;
  for (uint64_t i = 0; i < 12; ++i) {
    SCOPED_TRACE("SINTER_TEST_SEED=" + std::to_string(runSeed() + i));
    Rng rng(runSeed() + i);
    GradientCheck check(rng);
    DrawnLoop loop(rng, check);
    check.run(loop.outputs);
    compared += check.compared;
  }
  EXPECT_GT(compared, 0u);
}

/// Ops that mean nothing alone have their gradients compared as parts of a
/// loop.
TEST(LoopGradients, CoverWhatCannotBeDrawn) {
  Rng rng(1);
  GradientCheck check(rng);
  DrawnLoop loop(rng, check);
  for (const PropertyRow &row : propertyTable())
    EXPECT_TRUE(isDrawable(row) || !row.differentiable || isOfComplex(row) ||
                loop.ops.contains(row.op))
        << graph::info(row.op).name;
}

} // namespace
