/// Complex tensors: host values, promotion, movement.
#include "tests/unit/frontend/Counting.h"

#include <sinter/Basic.h>
#include <sinter/BasicOps.h>
#include <sinter/Complex.h>
#include <sinter/Shaping.h>

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

namespace sn = sinter;
using sn::DType;
using sn::Tensor;

using C64 = std::complex<float>;
using C128 = std::complex<double>;

namespace {

std::vector<C64> count(size_t n) {
  std::vector<C64> numbers;
  for (size_t i = 0; i < n; ++i)
    numbers.emplace_back(float(i), -float(i) / 4);
  return numbers;
}

std::vector<C64> values(const Tensor &x) { return x.to_vector<C64>(); }

} // namespace

TEST(Complex, HostValues) {
  Tensor x = sn::tensor(count(6), {2, 3});
  EXPECT_EQ(x.dtype(), DType::c64);
  EXPECT_EQ(values(x), count(6));
  EXPECT_EQ(x.to_vector<C128>()[5], C128(5, -1.25));
  Tensor number = sn::tensor(std::vector<C128>{{1, 2}}, {});
  EXPECT_EQ(number.dtype(), DType::c128);
  EXPECT_EQ(number.item<C128>(), C128(1, 2));
  // Real numbers have no imaginary part.
  EXPECT_EQ(sn::tensor({1.5F}).item<C64>(), C64(1.5, 0));
  expectError(sn::ErrorKind::unsupported, "reading c64 values as real numbers",
              [&] { x.to_vector<float>(); });
}

TEST(Complex, IsPrintedInPairs) {
  Tensor x = sn::tensor(std::vector<C64>{{1, -2}, {0.5, 3}});
  EXPECT_TRUE(x.to_string().starts_with(
      "tensor([1.0000-2.0000i, 0.5000+3.0000i], dtype=c64"))
      << x.to_string();
  Tensor whole = sn::tensor(std::vector<C128>{{1, -2}});
  EXPECT_TRUE(whole.to_string().starts_with("tensor([1.-2.i], dtype=c128"))
      << whole.to_string();
}

TEST(Complex, PartsAndViews) {
  Tensor x = sn::tensor(count(4), {2, 2});
  EXPECT_EQ(sn::real(x).dtype(), DType::f32);
  EXPECT_EQ(sn::imag(x).to_vector<float>(),
            (std::vector<float>{0, -0.25, -0.5, -0.75}));
  Tensor pairs = sn::view_as_real(x);
  EXPECT_EQ(pairs.dim(-1).value, 2);
  EXPECT_EQ(pairs.to_vector<float>(),
            (std::vector<float>{0, 0, 1, -0.25, 2, -0.5, 3, -0.75}));
  EXPECT_EQ(values(sn::view_as_complex(pairs)), values(x));
  Tensor real = sn::tensor({1.F, 2.F});
  EXPECT_EQ(sn::real(real).to_vector<float>(), real.to_vector<float>());
  EXPECT_EQ(sn::complex(real, 0).dtype(), DType::c64);
  EXPECT_EQ(sn::complex(real.to(DType::f64), real).dtype(), DType::c128);
  EXPECT_EQ(values(sn::complex(0.0, real)), (std::vector<C64>{{0, 1}, {0, 2}}));
}

TEST(Complex, Promotion) {
  Tensor x = sn::tensor(count(2)), wide = x.to(DType::c128);
  auto typeOf = [](const Tensor &y) { return y.dtype(); };
  EXPECT_EQ(typeOf(x + 1), DType::c64);
  EXPECT_EQ(typeOf(2.5 * x), DType::c64);
  EXPECT_EQ(typeOf(x * sn::zeros({2}, {DType::i64})), DType::c64);
  EXPECT_EQ(typeOf(x + sn::zeros({2}, {DType::i64})), DType::c64);
  EXPECT_EQ(typeOf(x - sn::zeros({2}, {DType::f16})), DType::c64);
  EXPECT_EQ(typeOf(x + sn::zeros({2}, {DType::f64})), DType::c128);
  EXPECT_EQ(typeOf(x * sn::zeros({2}, {DType::f64})), DType::c128);
  EXPECT_EQ(typeOf(x / wide), DType::c128);
  EXPECT_EQ(values(x + 1), (std::vector<C64>{{1, 0}, {2, -0.25}}));
  EXPECT_EQ(values(1 - x), (std::vector<C64>{{1, 0}, {0, 0.25}}));
  EXPECT_EQ(values(x * 2), (std::vector<C64>{{0, 0}, {2, -0.5}}));
  EXPECT_EQ(values(sn::scalar(2) + x), (std::vector<C64>{{2, 0}, {3, -0.25}}));
}

TEST(Complex, Casts) {
  Tensor x = sn::tensor(std::vector<C64>{{1.5, 2}, {0, 3}, {0, 0}});
  EXPECT_EQ(x.to(DType::f32).to_vector<float>(),
            (std::vector<float>{1.5, 0, 0}));
  EXPECT_EQ(x.to(DType::i32).to_vector<int>(), (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(x.to(DType::boolean).to_vector<bool>(),
            (std::vector<bool>{true, true, false}));
  EXPECT_EQ(values(sn::tensor({true, false}).to(DType::c64)),
            (std::vector<C64>{{1, 0}, {0, 0}}));
  EXPECT_EQ(x.to(DType::c128).to_vector<C128>()[0], C128(1.5, 2));
}

TEST(Complex, Movement) {
  Tensor x = sn::tensor(count(6), {2, 3});
  EXPECT_EQ(values(sn::transpose(x, {1, 0}))[1], C64(3, -0.75));
  EXPECT_EQ(values(sn::flip(x, {1}))[0], C64(2, -0.5));
  EXPECT_EQ(values(sn::narrow(x, 1, 1, 2))[2], C64(4, -1));
  EXPECT_EQ(values(sn::concat({x, x}, 1))[5], C64(2, -0.5));
  EXPECT_EQ(values(sn::concat({x, sn::ones({2, 1})}, 1))[3], C64(1, 0));
  EXPECT_EQ(values(sn::stack({x, x}, 2))[3], C64(1, -0.25));
  EXPECT_EQ(values(sn::pad(x, {{1, 1, 0}}))[1], C64(0, 0));
  EXPECT_EQ(values(sn::pad(x, {{1, 1, 0}}))[2], C64(1, -0.25));
  EXPECT_EQ(values(sn::index_select(x, sn::tensor({2, 0}), 1))[2],
            C64(5, -1.25));
  EXPECT_EQ(values(sn::expand(sn::unsqueeze(x, 0), {2, 2, 3}))[11],
            C64(5, -1.25));
  Tensor isOdd = sn::real(x) == 1;
  EXPECT_EQ(values(sn::where(isOdd, x, 0))[1], C64(1, -0.25));
  EXPECT_EQ(values(sn::where(isOdd, x, 0))[2], C64(0, 0));
  EXPECT_EQ(values(sn::roll(x, 1, 1))[0], C64(2, -0.5));
  EXPECT_EQ(values(sn::sum(x, {0}))[1], C64(5, -1.25));
  EXPECT_EQ(values(sn::zeros_like(x))[0], C64(0, 0));
  EXPECT_EQ(values(sn::full({1}, 2, {DType::c64, {}}))[0], C64(2, 0));
  // Axes with a symbol, and none at all.
  Tensor symbolic = sn::tensor(count(6), {2, 3}).dynamic(0);
  EXPECT_EQ(values(sn::reshape(symbolic, {-1}))[4], C64(4, -1));
  EXPECT_EQ(values(sn::narrow(x, 1, 1, 0)).size(), 0u);
}

TEST(Complex, Comparison) {
  Tensor x = sn::tensor(std::vector<C64>{{1, 2}, {1, 3}, {2, 0}});
  Tensor y = sn::tensor(std::vector<C64>{{1, 2}, {1, 2}, {3, 0}});
  EXPECT_EQ((x == y).to_vector<bool>(),
            (std::vector<bool>{true, false, false}));
  EXPECT_EQ((x != y).to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ((x == 2).to_vector<bool>(),
            (std::vector<bool>{false, false, true}));
}

TEST(Complex, Gradients) {
  Tensor x = sn::tensor(count(6), {2, 3}).require_grad();
  expectError(sn::ErrorKind::invalid_argument,
              "backward: a complex tensor needs a cotangent: c64[]",
              [&] { sn::sum(x * x).backward(); });
  // Used twice, moved and cut: 2 x where it counts.
  Tensor used = sn::narrow(sn::transpose(x, {1, 0}), 0, 1, 2);
  Tensor size = sn::abs(used), half = sn::real(used * sn::conj(used));
  Tensor slope = sn::grad(sn::sum(size * size + half) * 0.5, {x})[0];
  EXPECT_EQ(slope.dtype(), DType::c64);
  std::vector<C64> found = values(slope);
  for (size_t i = 0; i < 6; ++i) {
    C64 wanted = i % 3 == 0 ? C64() : count(6)[i] * 2.F;
    EXPECT_NEAR(std::abs(found[i] - wanted), 0, 1e-5) << i;
  }
  Tensor picked = sn::index_select(x, sn::tensor({1, 1}), 1);
  Tensor real = sn::grad(sn::sum(sn::real(picked)), {x})[0];
  EXPECT_EQ(values(real), (std::vector<C64>{0, 2, 0, 0, 2, 0}));
  // By a cotangent, and of a real operand.
  Tensor r = sn::tensor({2.F}).require_grad();
  Tensor y = sn::tensor(std::vector<C64>{{3, 4}});
  Tensor cotangent = sn::tensor(std::vector<C64>{{0, 1}});
  Tensor byReal = sn::grad(r * y, std::vector<Tensor>{r}, cotangent)[0];
  EXPECT_EQ(byReal.dtype(), DType::f32);
  EXPECT_EQ(byReal.item<float>(), 4);
}

TEST(Complex, LargeAndSmallQuotients) {
  Tensor x = sn::tensor(std::vector<C64>{{1e30F, 1e30F}, {1e-30F, 1e-30F}});
  EXPECT_EQ(values(x / x), (std::vector<C64>{{1, 0}, {1, 0}}));
  EXPECT_EQ(values(sn::square(sn::sqrt(sn::tensor(std::vector<C64>{0})))),
            std::vector<C64>{0});
}

TEST(Complex, ArraysInFiles) {
  auto path = std::filesystem::temp_directory_path() /
              ("complex-" + std::to_string(getpid()) + ".npy");
  Tensor x = sn::tensor(count(6), {2, 3}).to(DType::c128);
  sn::data::write_npy(path.string(), x);
  Tensor back = sn::data::read_npy(path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(back.dtype(), DType::c128);
  EXPECT_EQ(back.to_vector<C128>(), x.to_vector<C128>());
}
