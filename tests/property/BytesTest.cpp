/// Products and convolutions of what 8-bit codes stand for, as quantized models
/// compute them, beside the same in f64: zeros and scales of every kind, views
/// in between, and sums at their ends.
#include "tests/property/Cases.h"

#include <sinter/Basic.h>
#include <sinter/BasicOps.h>
#include <sinter/Convolution.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Linalg.h>
#include <sinter/Shaping.h>

#include <gtest/gtest.h>

#include <cmath>

namespace sn = sinter;
using namespace sinter::property;
using sn::DType;
using sn::Tensor;

namespace {

/// (codes - zero) * scale, and the same in f64.
struct Quantized {
  Tensor single, wide;
};

enum class Kind { none, number, tensor, perRow, perColumn };

class Drawer {
public:
  explicit Drawer(uint64_t seed) : rng(seed) {}

  int64_t integer(int64_t low, int64_t high) { return drawInt(rng, low, high); }
  bool chance() { return integer(0, 1) == 1; }

  /// Codes of a matrix or an image, mostly at their ends.
  Tensor codes(DType dtype, const Shape &dims) {
    int64_t low = dtype == DType::u8 ? 0 : -128, count = 1;
    for (int64_t dim : dims)
      count *= dim;
    bool atEnds = chance();
    std::vector<int32_t> numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(
          int32_t(low + (atEnds ? integer(0, 3) * 85 : integer(0, 255))));
    return sn::tensor(numbers, sn::Dims(dims.begin(), dims.end())).to(dtype);
  }

  Kind kind() { return Kind(integer(0, 4)); }

  /// Numbers that broadcast over a matrix.
  template <typename T> Tensor spread(Kind kind, const Shape &dims, auto draw) {
    size_t rank = dims.size();
    sn::Dims shape(rank, 1);
    int64_t count = 1;
    if (kind == Kind::number)
      return sn::full({}, double(draw())).to(sn::dtype_of<T>());
    if (kind == Kind::perRow)
      shape[rank - 2] = count = dims[rank - 2];
    if (kind == Kind::perColumn)
      shape[rank - 1] = count = dims[rank - 1];
    std::vector<T> numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(T(draw()));
    return sn::tensor(numbers, shape);
  }

  Quantized factor(DType dtype, const Shape &dims) {
    Tensor integers = codes(dtype, dims).to(DType::i32);
    int64_t low = dtype == DType::u8 ? 0 : -128;
    if (Kind zero = kind(); zero != Kind::none)
      integers = integers - spread<int32_t>(zero, dims, [&] {
                   return integer(low, low + 255);
                 });
    Quantized factor{integers.to(DType::f32), integers.to(DType::f64)};
    if (Kind scale = kind(); scale != Kind::none) {
      Tensor scales =
          spread<float>(scale, dims, [&] { return drawReal(rng, 0.01, 0.5); });
      factor.single = factor.single * scales;
      factor.wide = factor.wide * scales.to(DType::f64);
    }
    return factor;
  }

private:
  Rng rng;
};

/// Calls `body` with as many drawers of seeds from this run's on.
template <typename F> void eachDraw(uint64_t count, F body) {
  for (uint64_t seed = runSeed(); seed < runSeed() + count; ++seed) {
    SCOPED_TRACE("SINTER_TEST_SEED=" + std::to_string(seed));
    Drawer draw(seed);
    body(draw);
  }
}

DType drawBytes(Drawer &draw) { return draw.chance() ? DType::u8 : DType::i8; }

void expectClose(const Tensor &given, const Tensor &wanted) {
  std::vector<double> found = given.to_vector<double>(),
                      right = wanted.to_vector<double>();
  ASSERT_EQ(found.size(), right.size());
  double largest = 1e-30;
  for (double number : right)
    largest = std::max(largest, std::abs(number));
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], right[i], 1e-5 * largest) << "element " << i;
}

/// Numbers of which nobody knows what they are made of.
Tensor plain(const Tensor &x) {
  return sn::tensor(x.to_vector<double>(), x.shape());
}

/// The same of both.
template <typename F> Quantized with(const Quantized &factor, F view) {
  return {view(factor.single), view(factor.wide)};
}

} // namespace

TEST(Bytes, Products) {
  eachDraw(30, [](Drawer &draw) {
    int64_t m = draw.integer(1, 40), k = draw.integer(1, 200),
            n = draw.integer(1, 50), batches = draw.integer(1, 3);
    Quantized a = draw.factor(drawBytes(draw), {batches, m, k}), b;
    // As weights are stored, or with a matrix for each batch.
    if (draw.chance())
      b = with(draw.factor(drawBytes(draw), {n, k}),
               [](const Tensor &x) { return sn::swapaxes(x, -2, -1); });
    else
      b = draw.factor(drawBytes(draw), {batches, k, n});
    if (draw.chance())
      a = with(a, [&](const Tensor &x) {
        return sn::reshape(sn::swapaxes(sn::reshape(x, {batches, k, m}), 1, 2),
                           {batches, m, k});
      });
    expectClose(sn::matmul(a.single, b.single),
                sn::matmul(plain(a.wide), plain(b.wide)));
    expectClose(sn::matmul(a.wide, b.wide),
                sn::matmul(plain(a.wide), plain(b.wide)));
  });
}

/// Sums of integers wrap, however they are computed.
TEST(Bytes, ProductsOfIntegers) {
  eachDraw(20, [](Drawer &draw) {
    int64_t m = draw.integer(9, 40), k = draw.integer(1, 40'000),
            n = draw.integer(1, 20);
    DType dtype = draw.chance() ? DType::i32 : DType::u32;
    auto less = [&](const Shape &dims) {
      Tensor codes = draw.codes(drawBytes(draw), dims).to(dtype);
      return codes -
             sn::tensor(std::vector{draw.integer(-2'000, 2'000)}, {}).to(dtype);
    };
    Tensor a = less({m, k}), b = less({k, n});
    Tensor wide = sn::matmul(a.to(DType::i64), b.to(DType::i64)).to(dtype);
    EXPECT_EQ(sn::matmul(a, b).to_vector<int64_t>(), wide.to_vector<int64_t>());
  });
}

/// As long as sums fit; one more product is left to floats.
TEST(Bytes, LongestSums) {
  for (int64_t depth : {33'025, 33'026}) {
    auto ends = [&](sn::Dims dims) {
      std::vector<int32_t> numbers(size_t(16 * depth), 255);
      return sn::tensor(numbers, dims).to(DType::u8).to(DType::f32);
    };
    Tensor sums = sn::matmul(ends({16, depth}), ends({depth, 16}));
    EXPECT_NEAR(sums.to_vector<double>()[37], 65'025.0 * double(depth),
                65'025.0 * double(depth) * 1e-4);
  }
}

TEST(Bytes, Convolutions) {
  eachDraw(30, [](Drawer &draw) {
    int64_t groups = draw.integer(1, 2), in = draw.integer(1, 12),
            out = draw.integer(1, 20), size = draw.integer(1, 3);
    DType dtype = drawBytes(draw);
    Tensor image = draw.codes(dtype, {draw.integer(1, 2), in * groups,
                                      draw.integer(3, 12), draw.integer(3, 12)})
                       .to(DType::i32);
    Tensor weight = draw.codes(drawBytes(draw), {out * groups, in, size, size})
                        .to(DType::i32);
    // A number of the program, or one that it is given.
    Tensor zero = sn::full({}, double(draw.integer(0, 127)));
    if (draw.chance())
      image = image - zero.to(DType::i32);
    else if (draw.chance())
      image =
          image -
          sn::tensor(zero.to_vector<int32_t>(), {}).to(dtype).to(DType::i32);
    std::vector<float> scales;
    for (int64_t i = 0; i < out * groups; ++i)
      scales.push_back(float(draw.integer(1, 50)) / 97);
    Tensor scale = sn::tensor(scales, {out * groups, 1, 1, 1});
    sn::ConvOptions options{.stride = {draw.integer(1, 2)},
                            .padding = {draw.integer(0, 2)},
                            .groups = groups};
    auto factors = [&](DType dtype) {
      return std::pair(image.to(dtype) * sn::full({}, 0.05).to(dtype),
                       weight.to(dtype) * scale.to(dtype));
    };
    auto single = factors(DType::f32), wide = factors(DType::f64);
    Tensor wanted = sn::conv2d(plain(wide.first), plain(wide.second), options);
    expectClose(sn::conv2d(single.first, single.second, options), wanted);
    expectClose(sn::conv2d(wide.first, wide.second, options), wanted);
  });
}
