/// Attention in f32, which devices sum in tiles, against f64 on the processor.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

namespace sn = sinter;

namespace {

struct Case {
  int64_t queries, keys, length, valueLength;
  bool causal = false;
  enum Mask { none, ofKeys, ofAll } mask = none;
  int64_t heads = 3, keyHeads = 3;
  /// Positions lie before heads, or elements of a row apart.
  enum Order { plain, positionsFirst, turned } order = plain;
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
  const char *orders[] = {"", ", positions first", ", turned"};
  return out << c.queries << " queries, " << c.keys << " keys, " << c.heads
             << " heads of " << c.length << " and " << c.valueLength << ", "
             << c.keyHeads << " of keys" << (c.causal ? ", causal" : "")
             << (c.mask ? ", masked" : "") << orders[c.order];
}

class FloatAttentionCases : public ::testing::TestWithParam<Case> {};

/// A leaf, and a view of it that has the axes [batch, heads, rows, length].
struct Input {
  sn::Tensor leaf, view;
};

sn::Tensor viewOf(const sn::Tensor &leaf, Case::Order order) {
  if (order == Case::positionsFirst)
    return sn::transpose(leaf, {0, 2, 1, 3});
  return order == Case::turned ? sn::transpose(leaf, {0, 1, 3, 2}) : leaf;
}

Input drawn(int64_t heads, int64_t rows, int64_t length, Case::Order order) {
  sn::Dims shape{2, heads, rows, length};
  if (order == Case::positionsFirst)
    shape = {2, rows, heads, length};
  if (order == Case::turned)
    shape = {2, heads, length, rows};
  sn::Tensor values = sn::normal(shape);
  sn::Tensor leaf = sn::tensor(values.to_vector<float>(), shape).require_grad();
  return {leaf, viewOf(leaf, order)};
}

sn::Tensor wide(const sn::Tensor &x) {
  return x.detach().to("cpu").to(sn::DType::f64);
}

/// The largest difference, of the largest number that is right.
double error(const sn::Tensor &result, const sn::Tensor &expected) {
  std::vector<double> of = wide(result).to_vector<double>();
  std::vector<double> right = expected.to_vector<double>();
  double off = 0, most = 0;
  for (size_t at = 0; at < right.size(); ++at) {
    EXPECT_FALSE(std::isnan(of[at]));
    off = std::max(off, std::abs(of[at] - right[at]));
    most = std::max(most, std::abs(right[at]));
  }
  return off / most;
}

} // namespace

TEST_P(FloatAttentionCases, IsNearThatOfDoubles) {
  const Case c = GetParam();
  sn::manual_seed(7);
  Input inputs[] = {drawn(c.heads, c.queries, c.length, c.order),
                    drawn(c.keyHeads, c.keys, c.length, c.order),
                    drawn(c.keyHeads, c.keys, c.valueLength, c.order)};
  sn::Tensor grad =
      drawn(c.heads, c.queries, c.valueLength, Case::plain).leaf.detach();
  sn::AttentionOptions options{.causal = c.causal,
                               .enable_gqa = c.heads != c.keyHeads};
  if (c.mask == Case::ofKeys)
    options.mask = drawn(1, 1, c.keys, Case::plain).leaf.detach() > -1.f;
  if (c.mask == Case::ofAll)
    options.mask =
        sn::reshape(drawn(1, c.queries, c.keys, Case::plain).leaf.detach(),
                    {2, 1, c.queries, c.keys});

  sn::Tensor result = sn::scaled_dot_product_attention(
      inputs[0].view, inputs[1].view, inputs[2].view, options);
  sn::Gradients gradients = result.backward(grad);

  std::vector<sn::Tensor> leaves, views;
  for (const Input &input : inputs) {
    leaves.push_back(wide(input.leaf).require_grad());
    views.push_back(viewOf(leaves.back(), c.order));
  }
  if (options.mask)
    options.mask =
        c.mask == Case::ofAll ? wide(*options.mask) : options.mask->to("cpu");
  sn::Tensor expected =
      sn::scaled_dot_product_attention(views[0], views[1], views[2], options);
  sn::Gradients right = expected.backward(wide(grad));

  const double most = 1e-5;
  EXPECT_LE(error(result, expected), most);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_LE(error(gradients[inputs[i].leaf], right[leaves[i]]), most) << i;
}

// What one query does not see has a gradient of 0 * g, which adds up to +0.
TEST(FloatAttention, KeysThatNobodySeesHaveGradientsOfZero) {
  sn::manual_seed(7);
  Input query = drawn(3, 1, 8, Case::plain), key = drawn(3, 96, 8, Case::plain),
        value = drawn(3, 96, 8, Case::plain);
  sn::Tensor result = sn::scaled_dot_product_attention(
      query.view, key.view, value.view, {.causal = true});
  sn::Gradients gradients = result.backward(-sn::abs(query.leaf.detach()));
  for (const Input &input : {key, value}) {
    sn::Tensor hidden = sn::narrow(gradients[input.leaf], 2, 1, 95);
    for (float number : hidden.to_vector<float>()) {
      EXPECT_EQ(number, 0);
      EXPECT_FALSE(std::signbit(number));
    }
  }
}

// Few queries walk their keys in parts, or not, whoever knows the sizes.
TEST(FloatAttention, UnknownSizesGiveTheBitsOfKnownOnes) {
  sn::manual_seed(7);
  struct Sizes {
    int64_t queries, keys;
  };
  for (Sizes c : {Sizes{1, 255}, Sizes{4, 256}, Sizes{16, 300}, {17, 300}}) {
    sn::Tensor inputs[2][3];
    for (int64_t i = 0; i < 3; ++i) {
      sn::Dims shape{2, 2, i == 0 ? c.queries : c.keys, 16};
      std::vector<float> numbers = sn::normal(shape).to_vector<float>();
      for (auto &each : inputs)
        each[i] = sn::tensor(numbers, shape);
      inputs[1][i].dynamic(2);
    }
    std::vector<float> results[2];
    for (int i = 0; i < 2; ++i)
      results[i] = sn::scaled_dot_product_attention(inputs[i][0], inputs[i][1],
                                                    inputs[i][2], {})
                       .to_vector<float>();
    EXPECT_EQ(results[0], results[1]) << c.queries << " of " << c.keys;
  }
}

// Around the edges of tiles and stages of every size; granules of 32.
INSTANTIATE_TEST_SUITE_P(
    Cases, FloatAttentionCases,
    ::testing::Values(
        Case{256, 256, 64, 64, true}, Case{130, 150, 128, 128},
        Case{200, 200, 128, 128, true}, Case{77, 133, 64, 96},
        Case{133, 77, 96, 32, true}, Case{100, 200, 32, 32, true},
        Case{1, 129, 128, 128}, Case{65, 65, 80, 40, true},
        Case{70, 70, 33, 7, true}, Case{64, 31, 1, 5}, Case{5, 9, 130, 66},
        Case{150, 140, 64, 64, false, Case::ofKeys},
        Case{97, 141, 48, 64, false, Case::ofAll},
        Case{100, 100, 64, 48, true, Case::ofAll},
        Case{70, 70, 64, 64, true, Case::none, 6, 2},
        Case{33, 95, 32, 64, true, Case::ofAll, 4, 1},
        Case{96, 96, 64, 64, true, Case::none, 3, 3, Case::positionsFirst},
        Case{61, 61, 48, 48, true, Case::ofKeys, 4, 2, Case::positionsFirst},
        Case{70, 50, 40, 36, false, Case::none, 3, 3, Case::turned},
        // Few queries: parts of keys.
        Case{1, 300, 32, 32}, Case{5, 1000, 64, 48, false, Case::ofKeys},
        Case{16, 257, 33, 130, false, Case::ofAll}, Case{7, 400, 16, 16, true},
        Case{1, 2100, 8, 8}, Case{1, 512, 64, 64, false, Case::ofKeys, 8, 2}));
