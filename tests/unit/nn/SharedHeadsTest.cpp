/// Attention whose heads share keys and values, as models spell it: the numbers
/// are those of keys and values written out for each head, forward and back,
/// and the compiler undoes every spelling.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

namespace sn = sinter;

namespace {

/// From [batch, key heads, keys, length] to [batch, heads, keys, length].
struct Spelling {
  const char *name;
  sn::Tensor (*spread)(const sn::Tensor &x, int64_t times);
  /// Whether head h has the keys of h % key heads, not of h / times.
  bool isOuter = false;
};

sn::Dim dim(const sn::Tensor &x, int64_t axis) { return x.dim(axis); }

sn::Tensor byReshape(const sn::Tensor &x, int64_t times) {
  sn::Tensor apart = sn::reshape(x, {dim(x, 0), dim(x, 1), 1, dim(x, 2), -1});
  sn::Tensor spread =
      sn::expand(apart, {dim(x, 0), dim(x, 1), times, dim(x, 2), dim(x, 3)});
  return sn::reshape(spread,
                     {dim(x, 0), dim(x, 1) * times, dim(x, 2), dim(x, 3)});
}

sn::Tensor byRepeatInterleave(const sn::Tensor &x, int64_t times) {
  return sn::repeat_interleave(x, times, 1);
}

sn::Tensor byRepeat(const sn::Tensor &x, int64_t times) {
  return sn::repeat(x, {1, times, 1, 1});
}

// Of keys as a projection gives them: positions before heads.
sn::Tensor beforeTurn(const sn::Tensor &x, int64_t times) {
  sn::Tensor rows = sn::transpose(x, {0, 2, 1, 3});
  sn::Tensor spread =
      sn::expand(sn::unsqueeze(rows, 3),
                 {dim(rows, 0), dim(rows, 1), dim(rows, 2), times, dim(x, 3)});
  sn::Tensor joined = sn::reshape(
      spread, {dim(rows, 0), dim(rows, 1), dim(rows, 2) * times, dim(x, 3)});
  return sn::transpose(joined, {0, 2, 1, 3});
}

sn::Tensor byCopies(const sn::Tensor &x, int64_t times) {
  std::vector<sn::Tensor> copies(static_cast<size_t>(times), x);
  return sn::reshape(sn::stack(copies, 2),
                     {dim(x, 0), dim(x, 1) * times, dim(x, 2), dim(x, 3)});
}

// What a rotary embedding does to keys that were spread before.
sn::Tensor turnedAfter(const sn::Tensor &x, int64_t times) {
  sn::Tensor spread = byReshape(x, times);
  int64_t half = x.dim(3).value / 2;
  sn::Tensor first = sn::narrow(spread, 3, 0, half),
             second = sn::narrow(spread, 3, half, half);
  sn::Tensor angle =
      sn::reshape(sn::arange(x.dim(2), {sn::DType::f32}), {x.dim(2), 1}) * 0.1;
  sn::Tensor cosine = sn::cos(angle).to(x.dtype()),
             sine = sn::sin(angle).to(x.dtype());
  return sn::concat(
      {first * cosine - second * sine, second * cosine + first * sine}, 3);
}

const Spelling spellings[] = {
    {"reshape", byReshape},     {"repeat_interleave", byRepeatInterleave},
    {"repeat", byRepeat, true}, {"before_turn", beforeTurn},
    {"copies", byCopies},       {"turned_after", turnedAfter},
};

struct Case {
  int64_t heads, keyHeads, queries, keys, length;
  sn::DType dtype;
  bool causal = false;
  bool isFlat = false; ///< batch and heads are one axis
};

sn::Tensor drawn(const sn::Dims &shape, sn::DType dtype) {
  sn::Tensor values = sn::normal(shape).to(dtype);
  return sn::tensor(values.to(sn::DType::f32).to_vector<float>(), shape)
      .to(dtype);
}

/// The root of the mean square of a difference, of that of what is right.
double error(const sn::Tensor &result, const sn::Tensor &expected) {
  sn::Tensor right = expected.to(sn::DType::f32);
  sn::Tensor off = result.to(sn::DType::f32) - right;
  double of = sn::sum(off * off).item<float>();
  return std::sqrt(of / sn::sum(right * right).item<float>());
}

sn::Tensor attention(sn::Tensor q, sn::Tensor k, sn::Tensor v, const Case &c) {
  sn::Dims result = q.shape();
  if (c.isFlat)
    for (sn::Tensor *x : {&q, &k, &v})
      *x = sn::reshape(*x, {-1, x->dim(2), x->dim(3)});
  sn::Tensor y =
      sn::scaled_dot_product_attention(q, k, v, {.causal = c.causal});
  return sn::reshape(y, result);
}

class SharedHeads
    : public ::testing::TestWithParam<std::tuple<Spelling, Case>> {};

std::string
nameOf(const ::testing::TestParamInfo<SharedHeads::ParamType> &info) {
  const auto &[spelling, c] = info.param;
  return std::string(spelling.name) + "_" + std::to_string(c.queries);
}

} // namespace

TEST_P(SharedHeads, HaveTheNumbersOfHeadsApart) {
  const auto &[spelling, c] = GetParam();
  const sn::DType dtype = c.dtype;
  int64_t times = c.heads / c.keyHeads;
  sn::manual_seed(11);
  sn::Tensor inputs[] = {
      drawn({2, c.heads, c.queries, c.length}, dtype).require_grad(),
      drawn({2, c.keyHeads, c.keys, c.length}, dtype).require_grad(),
      drawn({2, c.keyHeads, c.keys, c.length}, dtype).require_grad()};
  sn::Tensor grad = drawn({2, c.heads, c.queries, c.length}, dtype);
  sn::Tensor result = attention(inputs[0], spelling.spread(inputs[1], times),
                                spelling.spread(inputs[2], times), c);
  sn::Gradients gradients = result.backward(grad);

  // Keys and values of every head as leaves, in f32.
  sn::Tensor wide[3];
  wide[0] = inputs[0].detach().to(sn::DType::f32).require_grad();
  for (int i : {1, 2}) {
    sn::Tensor spread =
        spelling.spread(inputs[i].detach().to(sn::DType::f32), times);
    wide[i] =
        sn::tensor(spread.to_vector<float>(), spread.shape()).require_grad();
  }
  sn::Tensor expected = attention(wide[0], wide[1], wide[2], c);
  sn::Gradients right = expected.backward(grad.to(sn::DType::f32));

  const double most = dtype == sn::DType::bf16 ? 1.5e-2 : 1e-5;
  EXPECT_LE(error(result, expected), most);
  EXPECT_LE(error(gradients[inputs[0]], right[wide[0]]), most);
  for (int i : {1, 2}) {
    sn::Tensor leaf = inputs[i].detach().to(sn::DType::f32).require_grad();
    sn::Gradients back = spelling.spread(leaf, times).backward(right[wide[i]]);
    EXPECT_LE(error(gradients[inputs[i]], back[leaf]), most) << i;
  }
}

// Heads that share keys have an axis of their own, or are rows for one query.
TEST_P(SharedHeads, AreApart) {
  const auto &[spelling, c] = GetParam();
  int64_t times = c.heads / c.keyHeads;
  auto leaf = [&c](int64_t heads, int64_t rows) {
    sn::Tensor x = sn::zeros({2, heads, rows, c.length}, {c.dtype});
    x.eval();
    return x.require_grad();
  };
  sn::Tensor q = leaf(c.heads, c.queries), k = leaf(c.keyHeads, c.keys),
             v = leaf(c.keyHeads, c.keys);
  sn::Tensor y =
      attention(q, spelling.spread(k, times), spelling.spread(v, times), c);
  std::vector<int64_t> apart{2, c.keyHeads, times, c.queries, c.length};
  if (spelling.isOuter)
    std::swap(apart[1], apart[2]);
  else if (c.queries == 1)
    apart.erase(apart.begin() + 3);
  std::string result = "-> tensor<";
  for (int64_t size : apart)
    result += std::to_string(size) + "x";
  std::string text = sn::inspect({y}, "simplify");
  size_t at = text.find("sinter.attention ");
  ASSERT_NE(at, std::string::npos) << text;
  std::string line = text.substr(at, text.find('\n', at) - at);
  EXPECT_NE(line.find(result), std::string::npos) << line;
  if (c.queries == 1)
    return;
  std::vector<sn::Tensor> gradients = sn::grad(y, {k, v}, q);
  text = sn::inspect(gradients, "simplify");
  for (const char *op :
       {"attention_key_gradient", "attention_value_gradient"}) {
    at = text.find(op);
    ASSERT_NE(at, std::string::npos) << text;
    line = text.substr(at, text.find('\n', at) - at);
    std::string keys = result;
    keys.replace(keys.rfind(std::to_string(c.queries) + "x"),
                 std::to_string(c.queries).size(), std::to_string(c.keys));
    EXPECT_NE(line.find(keys), std::string::npos) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, SharedHeads,
    ::testing::Combine(
        ::testing::ValuesIn(spellings),
        ::testing::Values(Case{6, 2, 70, 70, 64, sn::DType::bf16, true},
                          Case{6, 2, 40, 30, 64, sn::DType::f32, true, true},
                          Case{8, 2, 1, 130, 64, sn::DType::bf16})),
    nameOf);
