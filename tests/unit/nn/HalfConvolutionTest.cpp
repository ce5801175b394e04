/// Convolutions and products in 16 bits, which devices have units for, against
/// f32.
#include "tests/unit/nn/ConvolutionCase.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <ostream>
#include <span>
#include <vector>

namespace sn = sinter;

namespace {

using Case = sn::test::ConvolutionCase;
using sn::test::sizesOf;

class HalfConvolution : public ::testing::TestWithParam<Case> {};

/// Numbers that both dtypes have, as a leaf.
sn::Tensor drawn(const sn::Dims &shape, sn::DType dtype) {
  std::vector<float> numbers =
      sn::normal(shape).to(dtype).to(sn::DType::f32).to_vector<float>();
  return sn::tensor(numbers, shape).to(dtype);
}

/// As that, in bf16, a leaf whose first axis is a symbol.
sn::Tensor drawnOfAny(const sn::Dims &shape) {
  std::vector<float> numbers = sn::normal(shape)
                                   .to(sn::DType::bf16)
                                   .to(sn::DType::f32)
                                   .to_vector<float>();
  std::vector<uint16_t> halves;
  for (float number : numbers)
    halves.push_back(uint16_t(std::bit_cast<uint32_t>(number) >> 16));
  return sn::from_bytes(std::as_bytes(std::span(halves)), sn::DType::bf16,
                        shape)
      .dynamic(0);
}

/// The root of the mean square of a difference, of that of what is right.
double error(const sn::Tensor &result, const sn::Tensor &expected) {
  sn::Tensor right = expected.to(sn::DType::f32);
  sn::Tensor off = result.to(sn::DType::f32) - right;
  double of = sn::sum(off * off).item<float>();
  return std::sqrt(of / sn::sum(right * right).item<float>());
}

} // namespace

TEST_P(HalfConvolution, IsNearThatOfFloats) {
  const Case &c = GetParam();
  const double most = c.dtype == sn::DType::bf16 ? 1e-2 : 1.5e-3;
  sn::manual_seed(7);
  sn::Tensor x =
      c.anyImages ? drawnOfAny(c.imageShape()) : drawn(c.imageShape(), c.dtype);
  x.require_grad();
  sn::Tensor w = drawn(c.weightShape(), c.dtype).require_grad();
  sn::Tensor wideX = x.detach().to(sn::DType::f32).require_grad();
  sn::Tensor wideW = w.detach().to(sn::DType::f32).require_grad();

  sn::Tensor expected = c.convolve(wideX, wideW);
  sn::Tensor result = c.before == Case::cast
                          ? c.convolve(wideX.to(c.dtype), wideW.to(c.dtype))
                          : c.convolve(x, w);
  EXPECT_LE(error(result, expected), most);
  if (c.before == Case::cast)
    return;
  sn::Tensor grad = c.anyImages ? drawnOfAny(sizesOf(expected))
                                : drawn(sizesOf(expected), c.dtype);
  sn::Gradients gradients = result.backward(grad);
  sn::Gradients right = expected.backward(grad.to(sn::DType::f32));
  EXPECT_LE(error(gradients[x], right[wideX]), most) << "gradient of x";
  EXPECT_LE(error(gradients[w], right[wideW]), most) << "gradient of weights";
}

static std::vector<Case> cases() {
  std::vector<Case> all{
      {{14, 18}, 64, 96, 3, 1, 1},
      {{14, 18}, 128, 64, 3, 2, 1},
      {{15, 13}, 64, 72, {3, 5}, 1, {0, 2}},
      {{16, 16}, 64, 64, {5, 3}, {2, 1}, {1, 0}, {1, 2}, 16},
      {{20, 20}, 128, 128, 1, 2, 0, 1, 32},
      {{7, 7}, 128, 192, 3, 1, 1, 1, 13},
      {{200}, 64, 80, 5, 1, 2, 1, 16},
      {{6, 9, 8}, 64, 64, 3, 1, 1},
      {{33, 33}, 3, 64, 7, 2, 3, 1, 32},
      {{20, 20}, 40, 64, 3, 1, 1, 1, 16},
      // Short sums: a box of results goes out while the next tile is made.
      {{56, 56}, 64, 64, 1, 1, 0, 1, 24},
      {{56, 56}, 64, 192, 1, 1, 0, 1, 24},
      // Results between two positions of windows are made together.
      {{28, 28}, 64, 128, 4, 2, 1, 1, 16},
      {{27, 30}, 64, 64, 3, {2, 3}, 1, 1, 16},
      {{9, 10, 8}, 64, 64, 3, 2, 1},
      // Places of channels that are no multiple of anything, few results, and
      // both in gradients.
      {{33, 29}, 3, 67, 7, 2, 3, 1, 24},
      {{20, 21}, 67, 5, 3, 1, 1, 1, 24},
      {{24, 23}, 72, 20, 3, 1, 1, 1, 16},
      {{26, 25}, 134, 12, 3, {2, 1}, 1, 1, 16},
      {{150}, 67, 20, 5, 1, 2, 1, 16},
      {{7, 9, 8}, 35, 24, 3, 1, 1},
      {{28, 28}, 16, 24, 1, 1, 0, 1, 32},
      {{28, 28}, 24, 72, 1, 1, 0, 1, 32},
      {{30, 31}, 5, 17, 3, 2, 1, 1, 32},
  };
  const size_t odd = all.size() - 9;
  for (int other = 0; other < 5; ++other)
    all.push_back(all.front());
  Case *others = &all.back() - 4;
  others[0].before = Case::relu;
  others[1].before = Case::cast;
  others[2].layout = sn::Layout::channels_first;
  others[3].dtype = sn::DType::f16;
  others[4].anyImages = true;
  for (size_t strided : {size_t(1), size_t(4), odd, odd + 2}) {
    all.push_back(all[strided]);
    all.back().anyImages = true;
  }
  for (size_t first : {odd, odd + 1, odd + 6}) {
    all.push_back(all[first]);
    all.back().layout = sn::Layout::channels_first;
    all.push_back(all[first]);
    all.back().dtype = sn::DType::f16;
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, HalfConvolution, ::testing::ValuesIn(cases()));

namespace {

struct ProductCase {
  int64_t rows, inner, columns;
};

std::ostream &operator<<(std::ostream &out, const ProductCase &c) {
  return out << c.rows << " x " << c.inner << " x " << c.columns;
}

class HalfProduct : public ::testing::TestWithParam<ProductCase> {};

} // namespace

// The gradient of the right operand sums over as many rows as there are.
TEST_P(HalfProduct, OfAnyNumberOfRowsIsNearThatOfFloats) {
  const ProductCase &c = GetParam();
  sn::manual_seed(7);
  sn::Tensor x = drawnOfAny({c.rows, c.inner}).require_grad();
  sn::Tensor w = drawn({c.inner, c.columns}, sn::DType::bf16).require_grad();
  sn::Tensor wideX = x.detach().to(sn::DType::f32).require_grad();
  sn::Tensor wideW = w.detach().to(sn::DType::f32).require_grad();
  sn::Tensor result = sn::matmul(x, w), expected = sn::matmul(wideX, wideW);
  EXPECT_LE(error(result, expected), 1e-2);
  sn::Tensor grad = drawnOfAny({c.rows, c.columns});
  sn::Gradients gradients = result.backward(grad);
  sn::Gradients right = expected.backward(grad.to(sn::DType::f32));
  EXPECT_LE(error(gradients[x], right[wideX]), 1e-2) << "gradient of x";
  EXPECT_LE(error(gradients[w], right[wideW]), 1e-2) << "gradient of w";
}

INSTANTIATE_TEST_SUITE_P(
    Cases, HalfProduct,
    ::testing::Values(ProductCase{20, 128, 256}, ProductCase{1000, 64, 1024},
                      ProductCase{4100, 64, 128}, ProductCase{777, 512, 512},
                      ProductCase{64, 1000, 520}, ProductCase{8200, 603, 5},
                      ProductCase{4100, 1072, 12}, ProductCase{2050, 134, 20},
                      ProductCase{8000, 16, 24}, ProductCase{3000, 24, 48},
                      ProductCase{1030, 520, 33}));

// Few columns, and rows of any length.
TEST(HalfProduct, OfBatchesIsNearThatOfFloats) {
  constexpr ProductCase cases[] = {
      {300, 64, 24}, {257, 134, 20}, {1000, 16, 12}, {512, 603, 5}};
  sn::manual_seed(7);
  for (sn::DType dtype : {sn::DType::bf16, sn::DType::f16})
    for (const ProductCase &c : cases) {
      sn::Tensor x = drawn({6, c.rows, c.inner}, dtype).require_grad();
      sn::Tensor w = drawn({6, c.inner, c.columns}, dtype).require_grad();
      sn::Tensor wideX = x.detach().to(sn::DType::f32).require_grad();
      sn::Tensor wideW = w.detach().to(sn::DType::f32).require_grad();
      sn::Tensor result = sn::matmul(x, w), expected = sn::matmul(wideX, wideW);
      EXPECT_LE(error(result, expected), 1e-2) << c;
      sn::Tensor grad = drawn({6, c.rows, c.columns}, dtype);
      sn::Gradients gradients = result.backward(grad);
      sn::Gradients right = expected.backward(grad.to(sn::DType::f32));
      EXPECT_LE(error(gradients[x], right[wideX]), 1e-2) << c;
      EXPECT_LE(error(gradients[w], right[wideW]), 1e-2) << c;
    }
}
