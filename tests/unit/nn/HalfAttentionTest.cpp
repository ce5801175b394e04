/// Attention in 16 bits, which devices have units for, against f32.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

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
  sn::DType dtype = sn::DType::bf16;
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
  return out << (c.dtype == sn::DType::bf16 ? "bf16, " : "f16, ") << c.queries
             << " queries, " << c.keys << " keys, " << c.heads << " heads of "
             << c.length << " and " << c.valueLength << ", " << c.keyHeads
             << " of keys" << (c.causal ? ", causal" : "")
             << (c.mask ? ", masked" : "");
}

class HalfAttention : public ::testing::TestWithParam<Case> {};

/// Numbers that all dtypes have, as a leaf.
sn::Tensor drawn(const sn::Dims &shape, sn::DType dtype) {
  sn::Tensor values = sn::normal(shape).to(dtype);
  std::vector<float> numbers = values.to(sn::DType::f32).to_vector<float>();
  sn::Tensor exact = sn::tensor(numbers, shape).to(dtype);
  EXPECT_EQ(exact.to(sn::DType::f32).to_vector<float>(), numbers);
  return exact;
}

/// The root of the mean square of a difference, of that of what is right.
double error(const sn::Tensor &result, const sn::Tensor &expected) {
  sn::Tensor right = expected.to(sn::DType::f32);
  sn::Tensor off = result.to(sn::DType::f32) - right;
  double of = sn::sum(off * off).item<float>();
  return std::sqrt(of / sn::sum(right * right).item<float>());
}

} // namespace

TEST_P(HalfAttention, IsNearThatOfFloats) {
  const Case c = GetParam();
  const double most = c.dtype == sn::DType::bf16 ? 1e-2 : 1.5e-3;
  sn::manual_seed(7);
  sn::Tensor inputs[] = {
      drawn({2, c.heads, c.queries, c.length}, c.dtype).require_grad(),
      drawn({2, c.keyHeads, c.keys, c.length}, c.dtype).require_grad(),
      drawn({2, c.keyHeads, c.keys, c.valueLength}, c.dtype).require_grad()};
  sn::Tensor grad = drawn({2, c.heads, c.queries, c.valueLength}, c.dtype);
  sn::AttentionOptions options{.causal = c.causal,
                               .enable_gqa = c.heads != c.keyHeads};
  if (c.mask == Case::ofKeys)
    options.mask = drawn({2, 1, 1, c.keys}, sn::DType::f32) > -1.f;
  if (c.mask == Case::ofAll)
    options.mask = drawn({c.queries, c.keys}, c.dtype);

  sn::Tensor result = sn::scaled_dot_product_attention(inputs[0], inputs[1],
                                                       inputs[2], options);
  sn::Gradients gradients = result.backward(grad);

  sn::Tensor wide[3];
  for (int i = 0; i < 3; ++i)
    wide[i] = inputs[i].detach().to(sn::DType::f32).require_grad();
  if (c.mask == Case::ofAll)
    options.mask = options.mask->to(sn::DType::f32);
  sn::Tensor expected =
      sn::scaled_dot_product_attention(wide[0], wide[1], wide[2], options);
  sn::Gradients right = expected.backward(grad.to(sn::DType::f32));

  EXPECT_LE(error(result, expected), most);
  for (int i = 0; i < 3; ++i)
    EXPECT_LE(error(gradients[inputs[i]], right[wide[i]]), most) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HalfAttention,
    ::testing::Values(
        Case{256, 256, 64, 64, true}, Case{130, 384, 128, 128},
        Case{200, 200, 128, 128, true}, Case{77, 333, 64, 128},
        Case{333, 77, 128, 64, true}, Case{100, 500, 64, 64, true},
        Case{1, 129, 128, 128}, Case{250, 250, 80, 40, true},
        Case{70, 70, 16, 8}, Case{150, 140, 64, 64, false, Case::ofKeys},
        Case{150, 141, 128, 64, false, Case::ofAll},
        Case{150, 150, 64, 128, true, Case::ofAll},
        Case{140, 140, 64, 64, true, Case::none, 6, 2},
        Case{150, 200, 64, 64, false, Case::none, 3, 3, sn::DType::f16},
        Case{150, 150, 128, 128, true, Case::ofAll, 3, 3, sn::DType::f16}));
