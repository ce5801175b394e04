/// Attention in modules: PyTorch's names, and what masks and heads mean.
#include <sinter/Basic.h>
#include <sinter/nn/Attention.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sn = sinter;

static std::vector<std::string> namesOf(const auto &module) {
  std::vector<std::string> names;
  module.visit([&](const auto &path, const auto &) {
    names.push_back(std::string(path));
  });
  return names;
}

static sn::Tensor numbers(const sn::Dims &shape, double step) {
  int64_t count = 1;
  for (sn::Dim dim : shape)
    count *= dim.value;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::sin(step * double(i)));
  return sn::tensor(values, shape);
}

/// By hand, from softmax; what is between the products keeps the compiler from
/// seeing attention in it.
static sn::Tensor byHand(const sn::Tensor &q, const sn::Tensor &k,
                         const sn::Tensor &v, const sn::Tensor &added) {
  double scale = 1 / std::sqrt(double(q.dim(-1).value));
  sn::Tensor scores = sn::matmul(q, sn::transpose(k, {0, 1, 3, 2})) * scale;
  sn::Tensor one = sn::tensor(std::vector<float>{1}, {1});
  return sn::matmul(sn::softmax(scores + added) * one, v);
}

static void expectNear(const sn::Tensor &got, const sn::Tensor &want) {
  auto a = got.to_vector<float>(), b = want.to_vector<float>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 2e-5) << i;
}

TEST(Attention, MasksAddOrHide) {
  sn::Tensor q = numbers({2, 3, 5, 8}, 0.7), k = numbers({2, 3, 7, 8}, 0.9),
             v = numbers({2, 3, 7, 4}, 1.1), mask = numbers({5, 7}, 0.3);
  expectNear(sn::scaled_dot_product_attention(q, k, v, {.mask = mask}),
             byHand(q, k, v, mask));
  sn::Tensor seen = mask > -0.9;
  double hidden = -std::numeric_limits<double>::infinity();
  expectNear(sn::scaled_dot_product_attention(q, k, v, {.mask = seen}),
             byHand(q, k, v, sn::where(seen, mask * 0.0, hidden)));
}

TEST(Attention, CausalSeesWhatIsNotAfter) {
  sn::Tensor q = numbers({1, 1, 3, 4}, 0.7), v = numbers({1, 1, 3, 2}, 1.1);
  sn::Tensor y = sn::scaled_dot_product_attention(q, q, v, {.causal = true});
  auto got = y.to_vector<float>(), values = v.to_vector<float>();
  EXPECT_FLOAT_EQ(got[0], values[0]);
  EXPECT_FLOAT_EQ(got[1], values[1]);
  EXPECT_NE(got[4], values[4]);
}

TEST(Attention, HeadsShareKeys) {
  sn::Tensor q = numbers({2, 4, 5, 8}, 0.7), k = numbers({2, 2, 7, 8}, 0.9);
  auto twice = [](const sn::Tensor &x) {
    sn::Tensor apart = sn::reshape(x, {2, 2, 1, 7, 8});
    return sn::reshape(sn::broadcast(apart, {2, 2, 2, 7, 8}), {2, 4, 7, 8});
  };
  expectNear(sn::scaled_dot_product_attention(q, k, k, {.enable_gqa = true}),
             sn::scaled_dot_product_attention(q, twice(k), twice(k)));
  EXPECT_THROW(sn::scaled_dot_product_attention(q, numbers({2, 3, 7, 8}, 0.9),
                                                numbers({2, 3, 7, 8}, 0.9),
                                                {.enable_gqa = true}),
               sn::Error);
}

TEST(Attention, GradientsAreThoseByHand) {
  sn::Tensor q = numbers({2, 3, 40, 8}, 0.7), k = numbers({2, 3, 35, 8}, 0.9),
             v = numbers({2, 3, 35, 4}, 1.1), g = numbers({2, 3, 40, 4}, 1.3),
             none = numbers({1}, 0);
  for (sn::Tensor *x : {&q, &k, &v})
    x->require_grad();
  auto raised =
      sn::grad(sn::scaled_dot_product_attention(q, k, v), {q, k, v}, g);
  auto plain = sn::grad(byHand(q, k, v, none), {q, k, v}, g);
  std::string text = sn::explain(std::span<const sn::Tensor>(raised));
  EXPECT_NE(text.find("softmax between products, with 3 gradients"),
            std::string::npos)
      << text;
  for (size_t i = 0; i < 3; ++i)
    expectNear(raised[i], plain[i]);
}

// As textbooks write it: the scale is a number that the program gets, on the
// scores or on an operand, and where() hides what is later.
TEST(Attention, IsSeenInPrimitives) {
  // Of a line of their own: their lengths are numbers.
  auto rows = [](double step) {
    std::vector<float> values;
    for (int64_t i = 0; i < int64_t{2} * 3 * 70 * 8; ++i)
      values.push_back(std::sin(step * double(i)));
    return sn::tensor(values, {2, 3, 70, 8});
  };
  sn::Tensor q = rows(0.7), k = rows(0.9), v = rows(1.1), g = rows(1.3);
  for (sn::Tensor *x : {&q, &k, &v})
    x->require_grad();
  double infinity = std::numeric_limits<double>::infinity();
  sn::Tensor seen = sn::iota({70, 70}, 0) >= sn::iota({70, 70}, 1);
  sn::Tensor mask = sn::where(seen, numbers({70, 70}, 0), -infinity);
  sn::Tensor plainResult = byHand(q, k, v, mask);
  auto plain = sn::grad(plainResult, {q, k, v}, g);
  plain.push_back(plainResult);
  double root = std::sqrt(8.0);
  for (int form = 0; form < 4; ++form) {
    sn::Tensor left = form == 2 ? q / root : q;
    sn::Tensor right = form == 3 ? k * (1 / root) : k;
    sn::Tensor scores = sn::matmul(left, sn::transpose(right, {0, 1, 3, 2}));
    if (form < 2)
      scores = form == 0 ? scores * (1 / root) : scores / root;
    scores = sn::where(seen, scores, -infinity);
    sn::Tensor y = sn::matmul(sn::softmax(scores), v);
    auto raised = sn::grad(y, {q, k, v}, g);
    raised.push_back(y);
    std::string text = sn::explain(std::span<const sn::Tensor>(raised));
    EXPECT_NE(text.find("softmax between products, with 3 gradients"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("rows of a symbolic length"), std::string::npos)
        << text;
    for (size_t i = 0; i < 4; ++i)
      expectNear(raised[i], plain[i]);
  }
}

// A kernel keeps rows of a value in its frame: one of any width is no
// attention's, and none of its gradients alone is.
TEST(Attention, OfAValueOfAnyWidth) {
  sn::Tensor q = numbers({2, 3, 9, 8}, 0.7), k = numbers({2, 3, 7, 8}, 0.9),
             none = numbers({1}, 0);
  for (int64_t width : {4, 5}) {
    auto value = [&](int64_t rows, double step) {
      return numbers({2, 3, rows, width}, step);
    };
    sn::Tensor v = value(7, 1.1), g = value(9, 1.3);
    for (sn::Tensor *x : {&q, &k, &v})
      x->require_grad();
    sn::Tensor scores = sn::matmul(q, sn::transpose(k, {0, 1, 3, 2}));
    sn::Tensor y = sn::matmul(sn::softmax(scores / std::sqrt(8.0)), v);
    auto raised = sn::grad(y, {q, k, v}, g);
    auto plain = sn::grad(byHand(q, k, v, none), {q, k, v}, g);
    for (size_t i = 0; i < 3; ++i)
      expectNear(raised[i], plain[i]); // each on its own, one after the other
  }
}

TEST(Attention, ModuleHasPyTorchsNames) {
  sn::nn::MultiHeadAttention module(8, 2);
  EXPECT_EQ(namesOf(module),
            (std::vector<std::string>{"in_proj_weight", "in_proj_bias",
                                      "out_proj.weight", "out_proj.bias"}));
  sn::Tensor x = numbers({2, 5, 8}, 0.7);
  expectNear(module(x), module.attend(x, x, x));
  EXPECT_THROW(sn::nn::MultiHeadAttention(8, 3), sn::Error);
}

TEST(Attention, EncoderLayerHasPyTorchsNames) {
  sn::nn::TransformerEncoderLayer layer(8, 2, {.dim_feedforward = 12});
  std::vector<std::string> names = namesOf(layer);
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(names[0], "self_attn.in_proj_weight");
  EXPECT_EQ(names[4], "linear1.weight");
  EXPECT_EQ(names[11], "norm2.bias");
  EXPECT_EQ(layer(numbers({2, 5, 8}, 0.7)).shape().size(), 3u);
}
