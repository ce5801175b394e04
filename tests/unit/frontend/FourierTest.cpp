/// Fourier transforms against sums of products in f64.
#include "tests/unit/frontend/Counting.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace sn = sinter;
using Complex = std::complex<double>;

static std::vector<double> numbers(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::sin(0.37 * double(i * i % 101)) + 0.1);
  return values;
}

/// sum_j x[j] e^(-2 pi i j k / n).
static Complex sumAt(const std::vector<Complex> &x, int64_t k) {
  auto n = int64_t(x.size());
  Complex sum;
  for (int64_t j = 0; j < n; ++j)
    sum += x[size_t(j)] * std::polar(1.0, -2 * std::numbers::pi *
                                              double(j * k % n) / double(n));
  return sum;
}

static void expectNear(const std::vector<double> &found,
                       const std::vector<double> &want, double off) {
  ASSERT_EQ(found.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(found[i], want[i], off) << i;
}

// One product; two and three factors; a prime.
TEST(Fourier, LengthsOfAllKinds) {
  for (int64_t n : {1, 2, 15, 64, 96, 130, 5120, 67}) {
    SCOPED_TRACE(n);
    std::vector<double> parts = numbers(2 * n), want, real = numbers(n);
    std::vector<Complex> x, ofReal(real.begin(), real.end());
    for (int64_t i = 0; i < n; ++i)
      x.emplace_back(parts[size_t(2 * i)], parts[size_t(2 * i + 1)]);
    std::vector<double> half;
    int64_t step = n > 1000 ? 37 : 1;
    sn::Tensor pairs = sn::tensor(parts, {n, 2}), all = sn::fft(pairs);
    std::vector<double> found = all.to_vector<double>(),
                        foundHalf =
                            sn::rfft(sn::tensor(real)).to_vector<double>();
    ASSERT_EQ(foundHalf.size(), size_t(n / 2 + 1) * 2);
    for (int64_t k = 0; k < n; k += step) {
      Complex sum = sumAt(x, k);
      EXPECT_NEAR(found[size_t(2 * k)], sum.real(), 1e-9);
      EXPECT_NEAR(found[size_t(2 * k + 1)], sum.imag(), 1e-9);
      if (k > n / 2)
        continue;
      sum = sumAt(ofReal, k);
      EXPECT_NEAR(foundHalf[size_t(2 * k)], sum.real(), 1e-9);
      EXPECT_NEAR(foundHalf[size_t(2 * k + 1)], sum.imag(), 1e-9);
    }
    expectNear(sn::ifft(all).to_vector<double>(), parts, 1e-12);
    expectNear(sn::irfft(sn::rfft(sn::tensor(real)), n).to_vector<double>(),
               real, 1e-12);
  }
}

TEST(Fourier, NormsBelongTogether) {
  std::vector<double> parts = numbers(24);
  sn::Tensor x = sn::tensor(parts, {12, 2});
  for (auto norm : {sn::FourierNorm::backward, sn::FourierNorm::ortho,
                    sn::FourierNorm::forward})
    expectNear(sn::ifft(sn::fft(x, norm), norm).to_vector<double>(), parts,
               1e-12);
  expectNear((sn::fft(x, sn::FourierNorm::forward) * 12).to_vector<double>(),
             sn::fft(x).to_vector<double>(), 1e-12);
}

TEST(Fourier, GradientOfAPower) {
  // sum |X|^2 = n sum |x|^2
  sn::Tensor x = sn::tensor(numbers(130), {65, 2}).require_grad();
  sn::Tensor loss = sn::sum(sn::square(sn::fft(x)));
  sn::Tensor slope = sn::grad(loss, {x})[0];
  expectNear(slope.to_vector<double>(), (x * 130.0).to_vector<double>(), 1e-9);
}

TEST(Fourier, FramesMirrorTheEnds) {
  sn::Tensor x = sn::tensor(numbers(20));
  sn::Tensor frames = sn::stft(x, 8);
  EXPECT_EQ(frames.dim(0).value, 5);
  EXPECT_EQ(frames.dim(1).value, 11); // (20 + 8 - 8) / 2 + 1
  sn::Tensor third = sn::rfft(sn::narrow(x, 0, 0, 8));
  expectNear(sn::select(frames, 1, 2).to_vector<double>(),
             third.to_vector<double>(), 1e-12);
}

TEST(Fourier, LargePrimesAreConvolved) {
  for (int64_t n : {4099, 2 * 1031}) {
    std::vector<double> parts = numbers(2 * n);
    sn::Tensor x = sn::tensor(parts, {n, 2}), all = sn::fft(x);
    expectNear(sn::ifft(all).to_vector<double>(), parts, 1e-10);
    expectNear(sn::select(all, 0, 0).to_vector<double>(),
               sn::sum(x, {0}).to_vector<double>(), 1e-10);
  }
}

TEST(Fourier, RefusesWhatAreNoNumbers) {
  expectError(sn::ErrorKind::invalid_argument,
              "fft: the operand must be complex numbers [.., n, 2]: f32[4,3]",
              [] { sn::fft(sn::zeros({4, 3})); });
}
