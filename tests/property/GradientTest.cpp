/// Gradients of every op against finite differences of the reference, in f64.
#include "runtime/autodiff/Reverse.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"
#include "tests/property/Cases.h"
#include "tests/property/Watch.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

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

double dot(const HostValue &a, const HostValue &b) {
  double sum = 0;
  for (size_t i = 0; i < a.reals.size(); ++i)
    sum += a.reals[i] * b.reals[i];
  return sum;
}

/// One case: the gradients of <op(x...), cotangent>.
class GradientCheck {
public:
  GradientCheck(Case call, Rng &rng) : call(std::move(call)), rng(rng) {}
  void run();

private:
  void compare(size_t index, const NodeRef &gradient);
  double valueAt(size_t index, size_t element, double x);

  Case call;
  Rng &rng;
  Evaluator evaluator;
  std::vector<NodeRef> leaves;
  NodeRef output;
  HostValue cotangent;
};

double GradientCheck::valueAt(size_t index, size_t element, double x) {
  double &slot = evaluator.valueOf(leaves[index]).reals[element];
  double saved = std::exchange(slot, x);
  Result<HostValue> result = evaluator.eval(output);
  slot = saved;
  EXPECT_TRUE(result) << result.error().message;
  return result ? dot(*result, cotangent) : NAN;
}

void GradientCheck::compare(size_t index, const NodeRef &gradient) {
  const HostValue &x = call.operands[index];
  HostValue analytic(DType::f64, x.dims);
  if (gradient) {
    ASSERT_EQ(gradient->dtype(), DType::f64);
    Result<HostValue> result = evaluator.eval(gradient);
    ASSERT_TRUE(result) << result.error().message;
    analytic = std::move(*result);
    ASSERT_EQ(analytic.dims, x.dims);
  }
  // A few elements of each operand: each costs two evaluations.
  for (int i = 0; i < 12 && !x.reals.empty(); ++i) {
    size_t element = drawInt(rng, 0, int64_t(x.reals.size()) - 1);
    double at = x.reals[element], step = 1e-5;
    double numeric = (valueAt(index, element, at + step) -
                      valueAt(index, element, at - step)) /
                     (2 * step);
    double tolerance = 1e-5 * (1 + std::abs(numeric));
    EXPECT_NEAR(analytic.reals[element], numeric, tolerance)
        << "operand " << index << ", element " << element;
  }
}

void GradientCheck::run() {
  for (size_t i = 0; i < call.operands.size(); ++i)
    leaves.push_back(evaluator.bind(leafFor(call, i), call.operands[i]));
  Result<NodeRef> recorded = record(call, leaves);
  ASSERT_TRUE(recorded) << recorded.error().message;
  output = *recorded;
  if (output->dtype() != DType::f64)
    return; // an integer result has no gradient
  Shape dims;
  for (Dim dim : output->dims())
    dims.push_back(dim.value);
  cotangent = HostValue(DType::f64, dims);
  for (double &value : cotangent.reals)
    value = drawReal(rng, -1, 1);
  NodeRef seed =
      evaluator.bind(graph::NodeFactory::lazyLeaf(DType::f64, output->dims(),
                                                  DeviceId(), false),
                     cotangent);
  std::vector<NodeRef> wrt;
  for (const NodeRef &leaf : leaves)
    if (isFloat(leaf->dtype()))
      wrt.push_back(leaf);
  auto gradients = autodiff::gradients(output, seed, wrt);
  ASSERT_TRUE(gradients) << gradients.error().message;
  for (size_t i = 0, next = 0; i < leaves.size(); ++i)
    if (isFloat(leaves[i]->dtype()))
      compare(i, (*gradients)[next++]);
}

void checkRow(const PropertyRow &row, uint64_t seed, Sizes sizes) {
  Rng rng(seed);
  Case call = drawCase(row, rng, sizes, DType::f64);
  std::string text =
      call.describe() + ", SINTER_TEST_SEED=" + std::to_string(seed);
  Watch watch(text);
  SCOPED_TRACE(text);
  GradientCheck(std::move(call), rng).run();
}

class Gradients : public testing::TestWithParam<const PropertyRow *> {};

TEST_P(Gradients, MatchFiniteDifferences) {
  const PropertyRow &row = *GetParam();
  for (uint64_t i = 0; i < 8; ++i)
    checkRow(row, runSeed() + i, Sizes::mixed);
  checkRow(row, runSeed(), Sizes::onlyOnes);
  for (uint64_t i = 0; i < 3; ++i)
    checkRow(row, runSeed() + i, Sizes::withZeros);
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

} // namespace
