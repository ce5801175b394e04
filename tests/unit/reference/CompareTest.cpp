/// Comparison: rounding passes however a graph amplifies it, a mistake does
/// not.
#include "runtime/reference/Compare.h"

#include "sinter/generated/builders/Elementwise.h"
#include "tests/unit/reference/HostRows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace sinter;
using namespace sinter::reference;
using graph::NodeRef;

/// layer_norm in f32, one rounding per step; the mean is off by a factor.
static std::vector<double> layerNorm(const std::vector<double> &row, float eps,
                                     float meanFactor) {
  auto count = static_cast<float>(row.size());
  float sum = 0, squares = 0;
  for (double x : row)
    sum += float(x);
  float mean = sum / count * meanFactor;
  for (double x : row)
    squares += (float(x) - mean) * (float(x) - mean);
  float scale = 1 / std::sqrt(squares / count + eps);
  std::vector<double> result;
  for (double x : row)
    result.push_back((float(x) - mean) * scale);
  return result;
}

/// What `y` should be with `leaves` bound to `tensors`.
static auto expectedOf(const NodeRef &y, const std::vector<NodeRef> &leaves,
                       const std::vector<HostTensor> &tensors) {
  graph::Slice slice = *graph::slice({&y, 1});
  return expect(slice.graph, inputsOf(slice, leaves, tensors));
}

/// The same of a `y` whose one leaf is x.
static auto expectedOf(const NodeRef &y, const HostTensor &x) {
  graph::Slice slice = *graph::slice({&y, 1});
  return expect(slice.graph, {&x, 1});
}

/// What is wrong with layer_norm of a row when the mean is off by a factor.
static std::string differenceOfNorm(const std::vector<double> &row,
                                    float meanFactor) {
  constexpr double eps = 1e-5;
  auto count = static_cast<int64_t>(row.size());
  HostTensor x = reals(DType::f32, row);
  x.dims = {1, count};
  HostTensor ones = reals(DType::f32, std::vector<double>(row.size(), 1));
  HostTensor zeros = reals(DType::f32, std::vector<double>(row.size(), 0));
  NodeRef leaf = leafOf(x), scale = leafOf(ones), bias = leafOf(zeros);
  NodeRef y = graph::ok(graph::layer_norm(leaf, scale, bias, eps));
  auto expected = expectedOf(y, {leaf, scale, bias}, {x, ones, zeros});
  if (!expected)
    return expected.error().message;
  HostTensor found = reals(DType::f32, layerNorm(row, float(eps), meanFactor));
  found.dims = x.dims;
  return differenceOf({&found, 1}, *expected);
}

TEST(Compare, SeesAWrongMean) {
  std::vector<double> row(40);
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = 1.5 + std::sin(double(i));
  EXPECT_EQ(differenceOfNorm(row, 1), "");
  EXPECT_NE(differenceOfNorm(row, 1.0001F), "");
  EXPECT_NE(differenceOfNorm(row, 40.0F / 41), "");
}

/// In a row of equal numbers, 1 / sqrt(eps) makes the last bit of the mean
/// count 316 times; that is rounding, and more is not.
TEST(Compare, SeesAWrongMeanOfEqualNumbers) {
  for (double number : {2.7182817, -0.1, 30.0}) {
    std::vector<double> row(7, number);
    EXPECT_EQ(differenceOfNorm(row, 1), "") << number;
    EXPECT_EQ(differenceOfNorm(row, 1 + 0x1p-23F), "") << number;
    EXPECT_NE(differenceOfNorm(row, 1.0001F), "") << number;
    EXPECT_NE(differenceOfNorm(row, 7.0F / 8), "") << number;
  }
}

static std::string differenceOfSum(const std::vector<double> &terms,
                                   double found) {
  HostTensor x = reals(DType::f32, terms);
  NodeRef leaf = leafOf(x);
  int64_t axes[] = {0};
  NodeRef y = graph::ok(graph::sum(leaf, axes, false));
  auto expected = expectedOf(y, x);
  HostTensor sum = reals(DType::f32, {found});
  sum.dims = {};
  return differenceOf({&sum, 1}, *expected);
}

/// Any order of a long sum will do; a term too few will not, even where the
/// terms cancel.
TEST(Compare, SeesAMissingTerm) {
  std::vector<double> terms(5000);
  for (size_t i = 0; i < terms.size(); ++i)
    terms[i] = std::cos(double(i * i));
  float forward = 0, backward = 0;
  for (double term : terms)
    forward += float(term);
  for (size_t i = terms.size(); i-- > 0;)
    backward += float(terms[i]);
  EXPECT_EQ(differenceOfSum(terms, forward), "");
  EXPECT_EQ(differenceOfSum(terms, backward), "");
  EXPECT_NE(differenceOfSum(terms, forward - float(terms[17])), "");
  EXPECT_NE(differenceOfSum(terms, forward * 1.001F + 0.01F), "");
}

/// Terms of one sign, so that the sum keeps growing and its roundings with it.
static std::vector<double> positiveTerms(size_t count, double phase) {
  std::vector<double> terms(count);
  for (size_t i = 0; i < count; ++i)
    terms[i] = float(1.1 + std::sin(double(i * i) + phase));
  return terms;
}

/// What is wrong with the prefixes of f32 sums when `lost` is left out.
static std::string differenceOfPrefix(const std::vector<double> &terms,
                                      size_t lost) {
  HostTensor x = reals(DType::f32, terms);
  NodeRef leaf = leafOf(x);
  NodeRef y = graph::ok(graph::cumsum(leaf, 0, false));
  auto expected = expectedOf(y, x);
  float sum = 0;
  std::vector<double> sums;
  for (size_t i = 0; i < terms.size(); ++i)
    sums.push_back(sum += i == lost ? 0.0F : float(terms[i]));
  HostTensor found = reals(DType::f32, sums);
  return differenceOf({&found, 1}, *expected);
}

/// A rounding of a long running sum stays in all that follow.
TEST(Compare, LetsRoundingsOfAPrefixGather) {
  for (int draw = 0; draw < 40; ++draw) {
    std::vector<double> terms = positiveTerms(3136, draw);
    EXPECT_EQ(differenceOfPrefix(terms, terms.size()), "") << draw;
    EXPECT_NE(differenceOfPrefix(terms, 2000), "") << draw;
  }
}

/// What is wrong with a product of long rows, k ascending in f32, of which some
/// at the end are left out.
static std::string differenceOfProduct(size_t length, size_t lost,
                                       double phase) {
  std::vector<double> a = positiveTerms(length, phase),
                      b = positiveTerms(length, phase + 0.5);
  HostTensor row = reals(DType::f32, a), column = reals(DType::f32, b);
  row.dims = {1, int64_t(length)};
  column.dims = {int64_t(length), 1};
  NodeRef left = leafOf(row), right = leafOf(column);
  NodeRef y = graph::ok(graph::matmul(left, right));
  auto expected = expectedOf(y, {left, right}, {row, column});
  float sum = 0;
  for (size_t k = 0; k < length - lost; ++k)
    sum = std::fma(float(a[k]), float(b[k]), sum);
  HostTensor found = reals(DType::f32, {sum});
  found.dims = {1, 1};
  return differenceOf({&found, 1}, *expected);
}

TEST(Compare, LetsRoundingsOfAProductGather) {
  for (int draw = 0; draw < 200; ++draw) {
    EXPECT_EQ(differenceOfProduct(8192, 0, draw), "") << draw;
    EXPECT_NE(differenceOfProduct(8192, 4, draw), "") << draw;
  }
}

/// With too few evaluations some of many elements hardly move in all of them.
TEST(Compare, GivesAlikeElementsAlikeTolerances) {
  constexpr int64_t rows = 64, depth = 64, columns = 1024;
  std::mt19937 random(1);
  auto drawn = [&](int64_t height, int64_t width) {
    std::vector<double> values(height * width);
    for (double &value : values)
      value = float(int(random() % 4001) - 2000) / 1000;
    HostTensor tensor = reals(DType::f32, values);
    tensor.dims = {height, width};
    return tensor;
  };
  HostTensor x = drawn(rows, depth), w = drawn(depth, columns);
  NodeRef left = leafOf(x), right = leafOf(w);
  NodeRef y = graph::ok(graph::matmul(left, right));
  auto expected = expectedOf(y, {left, right}, {x, w});
  ASSERT_TRUE(expected) << expected.error().message;
  std::vector<double> tolerances = expected->tolerances[0];
  std::ranges::sort(tolerances);
  EXPECT_GT(tolerances.front(), 0.3 * tolerances[tolerances.size() / 2]);
}

/// What rounding cannot decide must be met: an overflow that is sure, a NaN.
TEST(Compare, SeesAnInfinityThatIsNone) {
  HostTensor x = reals(DType::f16, {12, 1});
  NodeRef leaf = leafOf(x);
  NodeRef y = graph::ok(graph::exp(leaf));
  auto expected = expectedOf(y, x);
  ASSERT_TRUE(expected) << expected.error().message;
  HostTensor right = reals(DType::f16, {INFINITY, std::exp(1.0)});
  HostTensor wrong = reals(DType::f16, {65504, std::exp(1.0)});
  EXPECT_EQ(differenceOf({&right, 1}, *expected), "");
  EXPECT_NE(differenceOf({&wrong, 1}, *expected), "");
}

/// An infinity is the same however what led to it is rounded: elements that it
/// has no part in have bounds, and those that it decides.
TEST(Compare, HasBoundsBesideInfinities) {
  HostTensor x = reals(DType::f32, {-INFINITY, 1, INFINITY, 3, -INFINITY});
  x.dims = {1, 5};
  HostTensor w = reals(DType::f32, {0.5, 2, -1, 1, 3});
  w.dims = {5, 1};
  NodeRef leaf = leafOf(x), weight = leafOf(w);
  int64_t axes[] = {1};
  NodeRef outputs[] = {
      graph::ok(graph::neg(leaf)), graph::ok(graph::exp(leaf)),
      graph::ok(graph::amin(graph::ok(graph::exp(leaf)), axes, false)),
      graph::ok(graph::cumsum(leaf, 1, false)),
      graph::ok(graph::matmul(leaf, weight))};
  graph::Slice slice = *graph::slice(outputs);
  auto inputs = inputsOf(slice, {leaf, weight}, {x, w});
  auto expected = expect(slice.graph, inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(boundsOf(*expected).elements, 17u);
  EXPECT_EQ(boundsOf(*expected).unbounded, 0u);
}

/// The same where many infinities lead to one element, as a mask's do.
TEST(Compare, HasBoundsBesideManyInfinities) {
  std::vector<double> row(64, -INFINITY);
  row[5] = 1;
  row[9] = 2;
  HostTensor x = reals(DType::f32, row);
  NodeRef leaf = leafOf(x);
  auto expected = expectedOf(graph::ok(graph::softmax(leaf, 0)), x);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(boundsOf(*expected).elements, 64u);
  EXPECT_EQ(boundsOf(*expected).unbounded, 0u);
}

/// Where rounding decides whether a number overflows, it is that number, to
/// within rounding, or the infinity.
TEST(Compare, TakesWhatRoundingMakesOfTheLargestNumbers) {
  HostTensor x = reals(DType::f32, {0x1.fffffep63, 0x1.fffffep63});
  NodeRef leaf = leafOf(x);
  NodeRef y = graph::ok(graph::mul(leaf, leaf));
  auto expected = expectedOf(y, x);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(boundsOf(*expected).unbounded, 0u);
  HostTensor right = reals(DType::f32, {INFINITY, 0x1.fffffap127});
  EXPECT_EQ(differenceOf({&right, 1}, *expected), "");
  for (double wrong : {0x1.fffep127, 1.0, -double(INFINITY), double(NAN)}) {
    HostTensor found = reals(DType::f32, {INFINITY, wrong});
    EXPECT_NE(differenceOf({&found, 1}, *expected), "") << wrong;
  }
}

/// The largest of large elements is one of them, not one that is off by more
/// than an exponential bears.
TEST(Compare, TakesTheLargestElementAsItIs) {
  HostTensor x = reals(DType::f32, {0x1p100});
  NodeRef leaf = leafOf(x);
  auto expected = expectedOf(graph::ok(graph::log_softmax(leaf, 0)), x);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(boundsOf(*expected).unbounded, 0u);
  HostTensor right = reals(DType::f32, {0}), wrong = reals(DType::f32, {-1});
  EXPECT_EQ(differenceOf({&right, 1}, *expected), "");
  EXPECT_NE(differenceOf({&wrong, 1}, *expected), "");
}

/// So it is where it is compared with a number, here with 0.
TEST(Compare, TakesTheLargerOfTwoAsItIs) {
  HostTensor x = reals(DType::f32, {0x1p100});
  auto expected = expectedOf(graph::ok(graph::quiet_softmax(leafOf(x), 0)), x);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(boundsOf(*expected).unbounded, 0u);
  HostTensor right = reals(DType::f32, {1}), wrong = reals(DType::f32, {0.5});
  EXPECT_EQ(differenceOf({&right, 1}, *expected), "");
  EXPECT_NE(differenceOf({&wrong, 1}, *expected), "");
}

/// Whatever rounding decides, it makes no NaN of a number.
TEST(Compare, NeverTakesANanForANumber) {
  Expectation expected{{reals(DType::f32, {1, NAN})}, {{INFINITY, 0}}, {}, {}};
  EXPECT_EQ(boundsOf(expected).unbounded, 1u);
  HostTensor found = reals(DType::f32, {INFINITY, NAN});
  EXPECT_EQ(differenceOf({&found, 1}, expected), "");
  found = reals(DType::f32, {NAN, NAN});
  EXPECT_NE(differenceOf({&found, 1}, expected), "");
  found = reals(DType::f32, {1, 1});
  EXPECT_NE(differenceOf({&found, 1}, expected), "");
}

/// Devices that flush denormals give zeros for them, and what zeros lead to.
TEST(Compare, LetsDevicesFlushDenormals) {
  HostTensor x = reals(DType::f32, {0x1p-127, -0x1p-140, 0x1p-125, 3});
  NodeRef leaf = leafOf(x);
  NodeRef outputs[] = {
      graph::ok(graph::neg(leaf)),
      graph::ok(graph::div(graph::ok(graph::add(leaf, leaf)), leaf))};
  graph::Slice slice = *graph::slice(outputs);
  std::vector<HostTensor> flushed = {
      reals(DType::f32, {-0.0, 0.0, -0x1p-125, -3}),
      reals(DType::f32, {NAN, NAN, 2, 2})};
  auto differences = [&](Accuracy accuracy) {
    auto expected = expect(slice.graph, {&x, 1}, accuracy);
    EXPECT_TRUE(expected) << expected.error().message;
    return differenceOf(flushed, *expected);
  };
  EXPECT_EQ(differences({.flushesDenormals = true}), "");
  EXPECT_NE(differences({}), "");
  // Numbers above are what they are.
  flushed[0] = reals(DType::f32, {-0.0, 0.0, 0.0, -3});
  EXPECT_NE(differences({.flushesDenormals = true}), "");
}

TEST(Compare, KnowsWhichDevicesFlush) {
  auto flushes = [](const char *target) {
    return accuracyOf({.target = target}).flushesDenormals;
  };
  EXPECT_FALSE(flushes("cpu:x86-64-v3"));
  EXPECT_FALSE(flushes("cuda:sm_90"));
  EXPECT_FALSE(flushes("vulkan:denormal32+i64+threads256"));
  EXPECT_TRUE(flushes("vulkan:i64+threads256"));
  EXPECT_EQ(accuracyOf({.numerics = 2}).roundings, 32);
}

/// Where digamma is small it is a difference of larger numbers.
TEST(Compare, TakesADigammaNearItsRootByTheScaleOfOne) {
  HostTensor x = reals(DType::f32, {1.4616321, 2.25});
  NodeRef leaf = leafOf(x);
  NodeRef y = graph::ok(graph::digamma(leaf));
  auto expected = expectedOf(y, x);
  ASSERT_TRUE(expected) << expected.error().message;
  auto movedBy = [&](double roundings) {
    std::vector<double> moved = decode(expected->values[0]).reals;
    for (double &real : moved)
      real += roundings * 0x1p-24;
    HostTensor found = reals(DType::f32, moved);
    return differenceOf({&found, 1}, *expected);
  };
  EXPECT_EQ(movedBy(24), "");
  EXPECT_EQ(movedBy(-24), "");
  EXPECT_NE(movedBy(200), "");
}
