/// docs/semantics.md row by row, on the reference.
#include "sinter/generated/builders/Elementwise.h"
#include "tests/unit/reference/HostRows.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace sinter;
using namespace sinter::reference;
using graph::NodeRef;

using Ints = std::vector<int64_t>;

static constexpr double inf = std::numeric_limits<double>::infinity();
static const double aNan = std::numeric_limits<double>::quiet_NaN();

/// Equal by bits: zeros are told apart, and NaNs.
static void expectReals(const HostValue &found, std::vector<double> expected) {
  ASSERT_EQ(found.reals.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint64_t>(found.reals[i]),
              std::bit_cast<uint64_t>(expected[i]))
        << i << ": " << found.reals[i] << " is not " << expected[i];
}

TEST(EdgeSemantics, IntegersWrap) {
  HostTensor a = ints(DType::i8, {127, -128}), b = ints(DType::i8, {1, -1});
  EXPECT_EQ(apply(graph::add, a, b).ints, (Ints{-128, 127}));
  EXPECT_EQ(apply(graph::neg, a).ints, (Ints{-127, -128}));
  EXPECT_EQ(apply(graph::mul, a, a).ints, (Ints{1, 0}));
  HostTensor u = ints(DType::u8, {0, 255}), v = ints(DType::u8, {1, 1});
  EXPECT_EQ(apply(graph::sub, u, v).ints, (Ints{255, 254}));
  EXPECT_EQ(apply(graph::neg, v).ints, (Ints{255, 255}));
}

TEST(EdgeSemantics, Bools) {
  HostTensor a = ints(DType::boolean, {0, 0, 1, 1});
  HostTensor b = ints(DType::boolean, {0, 1, 0, 1});
  EXPECT_EQ(apply(graph::add, a, b).ints, (Ints{0, 1, 1, 1}));
  EXPECT_EQ(apply(graph::mul, a, b).ints, (Ints{0, 0, 0, 1}));
  EXPECT_EQ(apply(graph::maximum, a, b).ints, (Ints{0, 1, 1, 1}));
  EXPECT_EQ(apply(graph::minimum, a, b).ints, (Ints{0, 0, 0, 1}));
  NodeRef x = leafOf(a);
  EXPECT_FALSE(graph::sub(x, x).ok());
  EXPECT_FALSE(graph::div(x, x).ok());
  EXPECT_FALSE(graph::neg(x).ok());
}

TEST(EdgeSemantics, IntegerDivision) {
  int64_t least = std::numeric_limits<int32_t>::min();
  HostTensor a = ints(DType::i32, {7, -7, 7, 5, 0, least});
  HostTensor b = ints(DType::i32, {2, 2, -2, 0, 0, -1});
  EXPECT_EQ(apply(graph::div, a, b).ints, (Ints{3, -3, -3, -1, -1, least}));
  int64_t least64 = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(
      apply(graph::div, ints(DType::i64, {least64}), ints(DType::i64, {-1}))
          .ints,
      (Ints{least64}));
  EXPECT_EQ(
      apply(graph::div, ints(DType::u8, {200, 9}), ints(DType::u8, {0, 2}))
          .ints,
      (Ints{255, 4}));
}

TEST(EdgeSemantics, FloatDivision) {
  expectReals(apply(graph::div, reals(DType::f32, {1, -1, 0, 1}),
                    reals(DType::f32, {0, 0, 0, -0.0})),
              {inf, -inf, aNan, -inf});
}

TEST(EdgeSemantics, MaximumAndMinimum) {
  HostTensor a = reals(DType::f32, {aNan, 1, -0.0, 0.0});
  HostTensor b = reals(DType::f32, {1, aNan, 0.0, -0.0});
  expectReals(apply(graph::maximum, a, b), {aNan, aNan, 0.0, 0.0});
  expectReals(apply(graph::minimum, a, b), {aNan, aNan, -0.0, -0.0});
}

/// One NaN for all arithmetic, whatever it reads; moved elements stay as they
/// are.
TEST(EdgeSemantics, BitsOfNaN) {
  double odd = std::bit_cast<double>(0xfff9'2000'0000'0000);
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    SCOPED_TRACE(name(dtype));
    HostTensor x = reals(dtype, {odd, -aNan, 1}),
               y = reals(dtype, {-aNan, odd, odd});
    for (auto op : {graph::add, graph::sub, graph::mul, graph::div,
                    graph::maximum, graph::minimum}) {
      expectReals(apply(op, x, y), {aNan, aNan, aNan});
      expectReals(apply(op, y, x), {aNan, aNan, aNan});
    }
    for (auto op : {graph::neg, graph::exp, graph::sqrt, graph::relu})
      EXPECT_EQ(std::bit_cast<uint64_t>(apply(op, x).reals[0]),
                std::bit_cast<uint64_t>(aNan));
    expectReals(apply(graph::where, ints(DType::boolean, {1, 0, 0}), x, y),
                {aNan, aNan, aNan});
    int64_t axes[] = {0};
    auto total = [&](const NodeRef &a) { return graph::sum(a, axes, true); };
    auto most = [&](const NodeRef &a) { return graph::amax(a, axes, true); };
    expectReals(apply(total, x), {aNan});
    expectReals(apply(most, y), {aNan});
    auto running = [](const NodeRef &a) { return graph::cumsum(a, 0, false); };
    expectReals(apply(running, x), {aNan, aNan, aNan});
    int64_t step[] = {2}, zero[] = {0};
    auto sliced = [&](const NodeRef &a) {
      return graph::slice(a, zero, Dims{3}, step);
    };
    HostValue moved = apply(sliced, x);
    EXPECT_EQ(std::bit_cast<uint64_t>(moved.reals[0]),
              std::bit_cast<uint64_t>(decode(x).reals[0]));
  }
}

TEST(EdgeSemantics, Functions) {
  HostTensor x = reals(DType::f32, {-inf, inf, aNan, 1000, -1000});
  expectReals(apply(graph::exp, x), {0.0, inf, aNan, inf, 0.0});
  expectReals(apply(graph::log, reals(DType::f32, {0.0, -0.0, -1, inf, 1})),
              {-inf, -inf, aNan, inf, 0.0});
  expectReals(apply(graph::tanh, reals(DType::f32, {-inf, inf})), {-1, 1});
  expectReals(apply(graph::sqrt, reals(DType::f32, {-0.0, -1, 4})),
              {-0.0, aNan, 2});
  expectReals(apply(graph::rsqrt, reals(DType::f32, {0.0, -0.0, -1, inf, 4})),
              {inf, -inf, aNan, 0.0, 0.5});
}

TEST(EdgeSemantics, AbsoluteValues) {
  expectReals(apply(graph::abs, reals(DType::f32, {-0.0, -inf, aNan, -2})),
              {0.0, inf, aNan, 2});
  EXPECT_EQ(apply(graph::abs, ints(DType::i8, {-128, -3, 3})).ints,
            (Ints{-128, 3, 3}));
  EXPECT_EQ(apply(graph::abs, ints(DType::u8, {0, 200})).ints, (Ints{0, 200}));
}

TEST(EdgeSemantics, SineAndCosine) {
  HostTensor x = reals(DType::f32, {-0.0, 0.0, inf, -inf, aNan});
  expectReals(apply(graph::sin, x), {-0.0, 0.0, aNan, aNan, aNan});
  expectReals(apply(graph::cos, x), {1, 1, aNan, aNan, aNan});
  HostValue tiny = apply(graph::sin, reals(DType::f32, {1e-40, -1e-40}));
  expectReals(tiny, decode(reals(DType::f32, {1e-40, -1e-40})).reals);
}

TEST(EdgeSemantics, SigmoidAndSilu) {
  HostTensor x = reals(DType::f32, {-inf, inf, aNan, -1000, 0});
  expectReals(apply(graph::sigmoid, x), {0.0, 1, aNan, 0.0, 0.5});
  expectReals(apply(graph::silu, x), {aNan, inf, aNan, -0.0, 0.0});
}

static HostValue clamped(const HostTensor &x, Number min, Number max) {
  return apply(
      [&](const NodeRef &node) { return graph::clamp(node, min, max); }, x);
}

TEST(EdgeSemantics, Clamp) {
  HostTensor x = reals(DType::f32, {-3, 0.5, 3, aNan, -inf});
  expectReals(clamped(x, -1, 1), {-1, 0.5, 1, aNan, -1});
  expectReals(clamped(x, 2, 1), {1, 1, 1, aNan, 1});
  expectReals(clamped(x, -inf, 1), {-3, 0.5, 1, aNan, -inf});
  EXPECT_EQ(clamped(ints(DType::i8, {-100, 100}), -inf, 7.9).ints,
            (Ints{-100, 7}));
  HostTensor bytes = ints(DType::u8, {0, 100, 255});
  EXPECT_EQ(clamped(bytes, -5, 300).ints, (Ints{0, 100, 255}));
  EXPECT_EQ(clamped(bytes, -1, inf).ints, (Ints{0, 100, 255}));
  EXPECT_EQ(clamped(bytes, 256, 300).ints, (Ints{255, 255, 255}));
  EXPECT_EQ(clamped(ints(DType::i64, {-5, 5}), -6, 4).ints, (Ints{-5, 4}));
}

TEST(EdgeSemantics, Compare) {
  HostTensor a = reals(DType::f32, {aNan, -0.0, 1});
  HostTensor b = reals(DType::f32, {aNan, 0.0, 2});
  auto with = [&](Comparison predicate) {
    return apply(
               [&](const NodeRef &x, const NodeRef &y) {
                 return graph::compare(x, y, predicate);
               },
               a, b)
        .ints;
  };
  EXPECT_EQ(with(Comparison::eq), (Ints{0, 1, 0}));
  EXPECT_EQ(with(Comparison::ne), (Ints{1, 0, 1}));
  EXPECT_EQ(with(Comparison::lt), (Ints{0, 0, 1}));
  EXPECT_EQ(with(Comparison::le), (Ints{0, 1, 1}));
  EXPECT_EQ(with(Comparison::gt), (Ints{0, 0, 0}));
  EXPECT_EQ(with(Comparison::ge), (Ints{0, 1, 0}));
}

static HostValue castTo(DType dtype, const HostTensor &x) {
  return apply([&](const NodeRef &node) { return graph::cast(node, dtype); },
               x);
}

TEST(EdgeSemantics, Casts) {
  HostTensor x = reals(DType::f32, {1.9, -1.9, aNan, inf, -inf, 3e9, 300});
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  constexpr int64_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(castTo(DType::i32, x).ints,
            (Ints{1, -1, 0, most, least, most, 300}));
  EXPECT_EQ(castTo(DType::u8, x).ints, (Ints{1, 0, 0, 255, 0, 255, 255}));
  EXPECT_EQ(castTo(DType::i8, x).ints, (Ints{1, -1, 0, 127, -128, 127, 127}));
  EXPECT_EQ(castTo(DType::i64, reals(DType::f64, {1e19, -1e19})).ints,
            (Ints{std::numeric_limits<int64_t>::max(),
                  std::numeric_limits<int64_t>::min()}));
  EXPECT_EQ(
      castTo(DType::boolean, reals(DType::f32, {0, -0.0, 0.5, aNan})).ints,
      (Ints{0, 0, 1, 1}));
  EXPECT_EQ(castTo(DType::i8, ints(DType::i32, {300, -129})).ints,
            (Ints{44, 127}));
  EXPECT_EQ(castTo(DType::u8, ints(DType::i32, {-1})).ints, (Ints{255}));
  expectReals(castTo(DType::f32, ints(DType::i32, {16777217, 16777219})),
              {16777216, 16777220});
  expectReals(castTo(DType::f32, reals(DType::f64, {1e300, -1e300})),
              {inf, -inf});
  expectReals(castTo(DType::f16, reals(DType::f32, {70000, 1e-8})), {inf, 0.0});
}

TEST(EdgeSemantics, Reductions) {
  Ints axes{0};
  auto sum = [&](const NodeRef &x) { return graph::sum(x, axes, false); };
  auto amax = [&](const NodeRef &x) { return graph::amax(x, axes, false); };
  auto argmax = [](const NodeRef &x) { return graph::argmax(x, 0, false); };
  auto mean = [&](const NodeRef &x) { return graph::mean(x, axes, false); };
  EXPECT_EQ(apply(sum, ints(DType::u8, {255, 255})).ints, (Ints{510}));
  EXPECT_EQ(apply(sum, ints(DType::boolean, {1, 0, 1})).ints, (Ints{2}));
  expectReals(apply(sum, reals(DType::f32, {})), {0.0});
  // Accumulated in f32 or wider, rounded once.
  expectReals(apply(sum, reals(DType::f16, {2048, 1, 1})), {2050});
  expectReals(apply(mean, reals(DType::f32, {})), {aNan});
  expectReals(apply(amax, reals(DType::f32, {1, aNan, 3})), {aNan});
  EXPECT_EQ(apply(argmax, reals(DType::f32, {1, 5, 5})).ints, (Ints{1}));
  EXPECT_EQ(apply(argmax, reals(DType::f32, {9, aNan, aNan})).ints, (Ints{1}));
  EXPECT_EQ(apply(argmax, reals(DType::f32, {-0.0, 0.0})).ints, (Ints{0}));
}

TEST(EdgeSemantics, SmallestElements) {
  auto smallest = [](const HostTensor &x) {
    return apply(
        [](const NodeRef &node) {
          return graph::amin(node, std::vector<int64_t>{0}, false);
        },
        x);
  };
  expectReals(smallest(reals(DType::f32, {2, -inf, 1})), {-inf});
  expectReals(smallest(reals(DType::f32, {2, aNan, -inf})), {aNan});
  expectReals(smallest(reals(DType::f32, {0.0, -0.0, 0.0})), {-0.0});
  EXPECT_EQ(smallest(ints(DType::u8, {200, 0, 3})).ints, (Ints{0}));
  EXPECT_EQ(smallest(ints(DType::i8, {127, -128})).ints, (Ints{-128}));
  EXPECT_EQ(smallest(ints(DType::boolean, {1, 1})).ints, (Ints{1}));
  EXPECT_FALSE(
      graph::amin(leafOf(reals(DType::f32, {})), std::vector<int64_t>{0}, false)
          .ok());
}

TEST(EdgeSemantics, Variance) {
  auto variance = [](const HostTensor &x, double correction) {
    return apply(
        [&](const NodeRef &node) {
          return graph::var(node, std::vector<int64_t>{0}, correction, false);
        },
        x);
  };
  HostTensor x = reals(DType::f32, {1, 2, 3, 6});
  expectReals(variance(x, 0), {3.5});
  expectReals(variance(x, 2), {7});
  expectReals(variance(reals(DType::f32, {5}), 1), {aNan});
  expectReals(variance(x, 6), {inf});
  expectReals(variance(reals(DType::f32, {}), 0), {aNan});
  for (double value : {1000.1, 1e6 + 0.7, 3e-7})
    for (size_t count : {3, 7, 100, 1000}) {
      std::vector<double> equal(count, value);
      expectReals(variance(reals(DType::f32, equal), 0), {0.0});
      if (value < 65504)
        expectReals(variance(reals(DType::f16, equal), 0), {0.0});
    }
}

TEST(EdgeSemantics, Cumsum) {
  auto forward = [](const NodeRef &x) { return graph::cumsum(x, 0, false); };
  auto reverse = [](const NodeRef &x) { return graph::cumsum(x, 0, true); };
  EXPECT_EQ(apply(forward, ints(DType::u8, {200, 100, 1})).ints,
            (Ints{200, 300, 301}));
  expectReals(apply(reverse, reals(DType::f32, {1, 2, 3})), {6, 5, 3});
}

TEST(EdgeSemantics, SpecialFunctions) {
  HostTensor ends = reals(DType::f64, {-1, 1, 2, -0.0, -inf, aNan});
  expectReals(apply(graph::erfinv, ends), {-inf, inf, aNan, -0.0, aNan, aNan});
  HostTensor poles = reals(DType::f64, {0, -0.0, -1, -2, -inf, inf, 1, aNan});
  expectReals(apply(graph::lgamma, poles),
              {inf, inf, inf, inf, inf, inf, 0, aNan});
  HostTensor digammas = reals(DType::f64, {0, -0.0, -1, -2, -inf, inf, aNan});
  expectReals(apply(graph::digamma, digammas),
              {-inf, inf, aNan, aNan, aNan, inf, aNan});
}

TEST(EdgeSemantics, Logcumsumexp) {
  auto forward = [](const NodeRef &x) {
    return graph::logcumsumexp(x, 0, /*reverse=*/false);
  };
  expectReals(apply(forward, reals(DType::f64, {-inf, -inf, 3, -inf, inf, 0})),
              {-inf, -inf, 3, 3, inf, inf});
  expectReals(apply(forward, reals(DType::f64, {0, aNan, 0})), {0, aNan, aNan});
}

TEST(EdgeSemantics, Sorts) {
  auto order = [](const HostTensor &x, bool descending) {
    auto count = Dim(x.dims[0]);
    return apply(
        [&](const NodeRef &node) {
          return graph::argsort(node, 0, descending, count);
        },
        x);
  };
  HostTensor x = reals(DType::f32, {1, aNan, -inf, 1, aNan, inf});
  EXPECT_EQ(order(x, false).ints, (Ints{2, 0, 3, 5, 1, 4}));
  EXPECT_EQ(order(x, true).ints, (Ints{1, 4, 5, 0, 3, 2}));
  EXPECT_EQ(order(reals(DType::f16, {0.0, -0.0, -1}), false).ints,
            (Ints{2, 0, 1}));
  EXPECT_EQ(order(ints(DType::u8, {255, 0, 255}), true).ints, (Ints{0, 2, 1}));
  EXPECT_EQ(order(ints(DType::boolean, {1, 0, 1, 0}), false).ints,
            (Ints{1, 3, 0, 2}));
  EXPECT_TRUE(order(reals(DType::f32, {}), true).ints.empty());
  auto smallest = [](const NodeRef &node) {
    return graph::sort(node, 0, false, Dim(2));
  };
  expectReals(apply(smallest, reals(DType::f32, {0.0, aNan, -0.0})),
              {0.0, -0.0});
  EXPECT_FALSE(graph::sort(leafOf(x), 0, false, Dim(7)).ok());
  EXPECT_FALSE(graph::argsort(leafOf(x), 0, false, Dim(-1)).ok());
}

TEST(EdgeSemantics, MatmulWithoutInnerDimension) {
  NodeRef lhs = graph::testLeaf({2, 0}), rhs = graph::testLeaf({0, 3});
  HostTensor a{DType::f32, {2, 0}, {}}, b{DType::f32, {0, 3}, {}};
  auto result =
      evaluateNode(graph::ok(graph::matmul(lhs, rhs)), {lhs, rhs}, {a, b});
  ASSERT_TRUE(result.ok());
  expectReals(*result, {0, 0, 0, 0, 0, 0});
}

TEST(EdgeSemantics, Composites) {
  auto softmax = [](const NodeRef &x) { return graph::softmax(x, 0); };
  expectReals(apply(softmax, reals(DType::f32, {-inf, -inf})), {aNan, aNan});
  expectReals(apply(softmax, reals(DType::f32, {-inf, 0})), {0, 1});
  expectReals(apply(graph::relu, reals(DType::f32, {aNan, -0.0, -1, 2})),
              {aNan, 0.0, 0.0, 2});
}

TEST(EdgeSemantics, Sources) {
  DeviceId cpu;
  auto value = [](const NodeRef &node) { return *evaluateNode(node, {}, {}); };
  EXPECT_EQ(value(graph::ok(graph::full(Dims{1}, 300, DType::u8, cpu))).ints,
            (Ints{44}));
  EXPECT_EQ(value(graph::ok(graph::full(Dims{1}, 2.7, DType::i32, cpu))).ints,
            (Ints{2}));
  EXPECT_EQ(value(graph::ok(graph::full(Dims{1}, 1e9, DType::i8, cpu))).ints,
            (Ints{127}));
  NodeRef iota = graph::ok(graph::iota(Dims{258}, 0, DType::u8, cpu));
  EXPECT_EQ(value(iota).ints[257], 1);
  EXPECT_EQ(value(graph::ok(graph::iota(Dims{2, 2}, 0, DType::i32, cpu))).ints,
            (Ints{0, 0, 1, 1}));
}

TEST(EdgeSemantics, PositionsOutOfRange) {
  HostTensor x = reals(DType::f32, {1, 2, 3});
  for (int64_t position : {-1, 3}) {
    HostTensor indices = ints(DType::i64, {0, position});
    NodeRef a = leafOf(x), b = leafOf(indices);
    auto result =
        evaluateNode(graph::ok(graph::gather(a, b, 0)), {a, b}, {x, indices});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
  }
}

/// A tensor of these dims with the same element everywhere.
static HostTensor filled(DType dtype, std::vector<int64_t> dims, int64_t each) {
  HostValue value(dtype, std::move(dims));
  for (int64_t i = 0; i < value.elements(); ++i)
    value.isReal() ? value.set(i, double(each)) : value.set(i, each);
  return encode(value);
}

// One program for all extents whose product is 0, and for no others.
TEST(EdgeSemantics, PositionsInAnEmptyAxis) {
  Dim n = graph::testSymbol(0, 0), m = graph::testSymbol(1, 3);
  NodeRef x = graph::testLeaf({0});
  NodeRef indices = graph::testLeaf({n, m}, DType::i64);
  NodeRef updates = graph::testLeaf({n, m});
  NodeRef flat = graph::ok(graph::reshape(indices, Dims{-1}));
  NodeRef added = graph::ok(graph::reshape(updates, Dims{-1}));
  std::vector<NodeRef> outputs = {
      graph::ok(graph::gather(x, flat, 0)),
      graph::ok(graph::scatter_add(x, flat, added, 0))};
  auto run = [&](int64_t rows, int64_t columns) {
    Result<graph::Slice> made = graph::slice(outputs);
    EXPECT_TRUE(made.ok());
    std::vector<HostTensor> inputs;
    for (const NodeRef &input : made->inputs)
      inputs.push_back(input == x ? filled(DType::f32, {0}, 0)
                                  : filled(input->dtype(), {rows, columns}, 0));
    return evaluateGraph(made->graph, inputs);
  };
  for (auto [rows, columns] : {std::pair(0, 3), std::pair(4, 0)}) {
    auto results = run(rows, columns);
    ASSERT_TRUE(results.ok()) << results.error().message;
    EXPECT_EQ((*results)[0].elements(), 0);
    EXPECT_EQ((*results)[1].elements(), 0);
  }
  auto refused = run(2, 3);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(refused.error().message.find("s0*s1"), std::string::npos)
      << refused.error().message;
}

TEST(EdgeSemantics, ScatterAddSumsInOrder) {
  HostTensor x = reals(DType::f32, {1, 0});
  HostTensor indices = ints(DType::i32, {1, 0, 1});
  HostTensor updates = reals(DType::f32, {10, 20, 30});
  auto scatter = [](const NodeRef &a, const NodeRef &b, const NodeRef &c) {
    return graph::scatter_add(a, b, c, 0);
  };
  expectReals(apply(scatter, x, indices, updates), {21, 40});
}
