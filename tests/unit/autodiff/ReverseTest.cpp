/// Reverse: what is differentiated, what is summed, and released history.
#include "runtime/autodiff/Reverse.h"

#include "runtime/graph/Slice.h"
#include "runtime/reference/Reference.h"
#include "tests/unit/graph/GraphLeaves.h"

#include <cstring>
#include <map>

using namespace sinter;
using namespace sinter::graph;

using Ints = std::vector<int64_t>;
using Values = std::vector<double>;

static reference::HostTensor hostOf(const Node &node, const Values &values) {
  reference::HostTensor tensor{node.dtype(), {}, {}};
  for (Dim dim : node.dims())
    tensor.dims.push_back(dim.value);
  tensor.data.resize(values.size() * sizeof(double));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

namespace {
/// Leaves in f64 with values, and the evaluation of nodes over them.
struct Leaves {
  std::vector<std::pair<NodeRef, Values>> all;

  NodeRef make(std::vector<Dim> dims, Values values, bool grad = true) {
    NodeRef leaf = testLeaf(std::move(dims), DType::f64, grad);
    all.emplace_back(leaf, std::move(values));
    return leaf;
  }
  Values eval(const NodeRef &node) {
    Result<Slice> made = slice({&node, 1});
    std::vector<reference::HostTensor> inputs;
    for (const NodeRef &input : made->inputs)
      for (const auto &[leaf, values] : all)
        if (leaf == input)
          inputs.push_back(hostOf(*leaf, values));
    auto result = reference::evaluate(made->graph, inputs);
    if (!result) {
      ADD_FAILURE() << result.error().message;
      return {};
    }
    Values values((*result)[0].data.size() / sizeof(double));
    std::memcpy(values.data(), (*result)[0].data.data(),
                (*result)[0].data.size());
    return values;
  }
};
} // namespace

static NodeRef one() { return ok(full({}, 1.0, DType::f64, DeviceId())); }

static std::vector<NodeRef> grad(const NodeRef &y,
                                 const std::vector<NodeRef> &wrt) {
  auto result = autodiff::gradients(y, one(), wrt);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return std::vector<NodeRef>(wrt.size());
  }
  return *result;
}

static NodeRef total(const NodeRef &x) {
  Ints axes;
  for (unsigned i = 0; i < x->rank(); ++i)
    axes.push_back(i);
  return ok(sum(x, axes, false));
}

TEST(Reverse, UsesAreSummed) {
  Leaves leaves;
  NodeRef x = leaves.make({2}, {3, 5});
  NodeRef y = total(ok(add(ok(mul(x, x)), x)));
  EXPECT_EQ(leaves.eval(grad(y, {x})[0]), (Values{7, 11}));
}

TEST(Reverse, HigherOrders) {
  Leaves leaves;
  NodeRef x = leaves.make({1}, {2});
  NodeRef y = total(ok(mul(ok(mul(x, x)), x)));
  NodeRef first = grad(y, {x})[0];
  EXPECT_EQ(leaves.eval(first), (Values{12}));
  NodeRef second = grad(total(first), {x})[0];
  EXPECT_EQ(leaves.eval(second), (Values{12}));
  NodeRef third = grad(total(second), {x})[0];
  EXPECT_EQ(leaves.eval(third), (Values{6}));
}

TEST(Reverse, InteriorNodes) {
  Leaves leaves;
  NodeRef x = leaves.make({1}, {2});
  NodeRef h = ok(mul(x, x));
  NodeRef y = total(ok(mul(h, x)));
  std::vector<NodeRef> found = grad(y, {h, x});
  EXPECT_EQ(leaves.eval(found[0]), (Values{2}));
  EXPECT_EQ(leaves.eval(found[1]), (Values{12}));
}

TEST(Reverse, UnusedIsEmptyAndAbsent) {
  Leaves leaves;
  NodeRef x = leaves.make({1}, {2}), unused = leaves.make({1}, {2});
  NodeRef data = leaves.make({1}, {4}, false);
  NodeRef y = total(ok(mul(x, data)));
  EXPECT_FALSE(grad(y, {unused})[0]);
  auto found = autodiff::leafGradients(y, one());
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].leaf, x);
  EXPECT_EQ(leaves.eval((*found)[0].gradient), (Values{4}));
}

/// A composite's operands may depend on each other and may be the same node.
TEST(Reverse, ThroughDecompositions) {
  Leaves leaves;
  NodeRef x = leaves.make({1, 2}, {1, 3});
  NodeRef w = ok(reshape(x, Dims{2}));
  NodeRef y = total(ok(layer_norm(x, w, w, 0.0)));
  // normalized = (-1, 1): y = x0 * -1 + x1 * 1 + x0 + x1, and rows that are
  // normalized do not change with x0 and x1 to first order.
  Values found = leaves.eval(grad(y, {x})[0]);
  EXPECT_NEAR(found[0], 0, 1e-12);
  EXPECT_NEAR(found[1], 2, 1e-12);
}

TEST(Reverse, TiesOfAmaxShareEvenly) {
  Leaves leaves;
  NodeRef x = leaves.make({1, 4}, {5, 1, 5, 0});
  NodeRef y = total(ok(amax(x, Ints{1}, false)));
  EXPECT_EQ(leaves.eval(grad(y, {x})[0]), (Values{0.5, 0, 0.5, 0}));
}

TEST(Reverse, ReluAtZero) {
  Leaves leaves;
  NodeRef x = leaves.make({3}, {-1, 0, 2});
  EXPECT_EQ(leaves.eval(grad(total(ok(relu(x))), {x})[0]), (Values{0, 0, 1}));
}

TEST(Reverse, DeepGraphs) {
  Leaves leaves;
  NodeRef x = leaves.make({1}, {2});
  NodeRef y = x;
  for (int i = 0; i < 100000; ++i)
    y = ok(neg(y));
  NodeRef found = grad(total(y), {x})[0];
  ASSERT_TRUE(found);
}

TEST(Reverse, SitesAreTheForwardOps) {
  Leaves leaves;
  NodeRef x = leaves.make({1}, {2});
  recordScope().site = 41;
  NodeRef h = ok(exp(x));
  recordScope().site = 42;
  NodeRef y = total(h);
  recordScope().site = 43;
  NodeRef found = grad(y, {x})[0];
  EXPECT_EQ(recordScope().site, 43u);
  recordScope().site = 0;
  EXPECT_EQ(found->site(), 41u);
}

TEST(Reverse, ReleasedHistoryIsAnError) {
  Leaves leaves;
  NodeRef x = leaves.make({1}, {2});
  NodeRef h = ok(exp(x));
  NodeRef y = total(h);
  h->dropOperands();
  NodeRef released;
  auto result = autodiff::gradients(y, one(), {&x, 1}, &released);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(result.error().message,
            "backward: the history of exp was released");
  EXPECT_EQ(released, h);
}

// No positions spread to a space that is less than one window.
TEST(Reverse, ConvolutionOfNothing) {
  Leaves leaves;
  NodeRef x = leaves.make({1, 1, 0}, {});
  NodeRef w = leaves.make({1, 1, 3}, {1, 2, 3});
  const int64_t sizes[] = {3}, ones[] = {1}, zeros[] = {0};
  const Dim space[] = {Dim(2)};
  NodeRef y = ok(conv_transpose(x, w, sizes, ones, zeros, zeros, ones, 1, space,
                                Layout::channels_first));
  std::vector<NodeRef> found = grad(total(y), {x, w});
  EXPECT_EQ(found[0]->elements(), 0);
  EXPECT_EQ(leaves.eval(found[1]), (Values{0, 0, 0}));
}

TEST(Reverse, LogcumsumexpOfNothing) {
  Leaves leaves;
  NodeRef x = leaves.make({2, 0}, {});
  NodeRef y = ok(logcumsumexp(x, 1, /*reverse=*/true));
  EXPECT_EQ(grad(total(y), {x})[0]->elements(), 0);
}

TEST(Reverse, CotangentsMustFit) {
  Leaves leaves;
  NodeRef x = leaves.make({3}, {1, 2, 3});
  auto result = autodiff::gradients(ok(exp(x)), one(), {&x, 1});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "backward: the cotangent differs in type from the output: f64[] x "
            "f64[3]");
}
