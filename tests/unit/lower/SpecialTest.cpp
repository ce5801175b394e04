/// Accuracy of the gamma function's logarithm, its derivatives and the inverse
/// of erf.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/Ulps.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <random>

namespace sinter::compiler {
namespace {

using Long = long double;

Long exactLogGamma(Long x) { return ::lgammal(x); }

// (-1)^(n + 1) n! sum (x + k)^-(n + 1), by its first terms and the integral of
// the others with the midpoint rule's corrections; digamma likewise from log.
Long exactPolygamma(int order, Long x) {
  Long sum = 0, s = order + 1;
  while (x < 4000) {
    sum += std::pow(x, -s);
    x += 1;
  }
  Long y = x - 0.5L;
  Long rest = order == 0 ? -std::log(y) : std::pow(y, 1 - s) / (s - 1);
  rest -= s / 24 * std::pow(y, -s - 1);
  rest += 7 * s * (s + 1) * (s + 2) / 5760 * std::pow(y, -s - 3);
  Long factor = std::tgamma(s) * (order % 2 ? 1 : -1);
  return factor * (sum + rest);
}
Long exactDigamma(Long x) { return exactPolygamma(0, x); }

// By halves: erf of long double is exact enough to compare.
Long exactInverseErf(Long x) {
  if (!(std::abs(x) < 1))
    return std::abs(x) == 1 ? std::copysign(HUGE_VALL, x)
                            : std::numeric_limits<Long>::quiet_NaN();
  // From twice a small x on, which it stays below: halves are relative to it.
  Long magnitude = std::abs(x), low = 0;
  Long high = magnitude < 0.5L ? 2 * magnitude : 7;
  for (int i = 0; i < 80; ++i) {
    Long middle = (low + high) / 2;
    bool isBelow = magnitude < 0.5L ? std::erf(middle) < magnitude
                                    : std::erfc(middle) > 1 - magnitude;
    (isBelow ? low : high) = middle;
  }
  return std::copysign((low + high) / 2, x);
}

std::string textOf(const std::string &call, const char *type, size_t count) {
  std::string tensor = "tensor<" + std::to_string(count) + "x" + type + ">";
  return kernelText("map", 0, "%x: " + tensor,
                    "%0 = sinter." + call + " : (" + tensor + ") -> " + tensor +
                        "\nprogram.yield %0 : " + tensor);
}

template <typename T> constexpr const char *typeName = "f32";
template <> constexpr const char *typeName<double> = "f64";

template <typename T>
std::vector<T> resultsOf(const std::string &call, const char *target,
                         std::vector<T> x) {
  std::vector<T> y(x.size());
  KernelRunner kernel(textOf(call, typeName<T>, x.size()), target);
  EXPECT_EQ(kernel.error, "");
  if (kernel.error.empty())
    kernel.run({x.data(), y.data()});
  return y;
}

template <typename T> std::vector<T> between(double low, double high) {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<T> values;
  for (int i = 0; i < 4000; ++i)
    values.push_back(T(draw(engine)));
  return values;
}

/// The largest error, in ulp of the exact result or of 1 where `least` is 1.
template <typename T>
void check(const std::string &call, Long (*exact)(Long), const char *target,
           const std::vector<T> &x, double allowed, double least = 0) {
  std::vector<T> y = resultsOf(call, target, x);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    Long want = exact(x[i]);
    double error = ulps(y[i], want);
    if (std::abs(want) < least)
      error = double(std::abs(y[i] - want)) / std::numeric_limits<T>::epsilon();
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  EXPECT_LE(worst, allowed)
      << call << " " << target << " at " << x[where] << ": " << y[where];
  std::printf("%s %s %s: %.3f ulp at %a\n", call.c_str(), typeName<T>, target,
              worst, double(x[where]));
}

class SpecialTest : public testing::TestWithParam<const char *> {};

// docs/semantics.md states these.
template <typename T> void checkAccuracy(const char *target) {
  check("lgamma %x", exactLogGamma, target, between<T>(0, 3), 8);
  check("lgamma %x", exactLogGamma, target, between<T>(0.9, 2.1), 8);
  check("lgamma %x", exactLogGamma, target, between<T>(3, 100), 8);
  check("lgamma %x", exactLogGamma, target, between<T>(100, 1e6), 8);
  check("lgamma %x", exactLogGamma, target, between<T>(-20, 0), 16, 1);
  check("digamma %x", exactDigamma, target, between<T>(0, 100), 12, 1);
  check(
      "polygamma %x {order = 1 : i64}",
      [](Long x) { return exactPolygamma(1, x); }, target, between<T>(0, 100),
      16);
  check(
      "polygamma %x {order = 4 : i64}",
      [](Long x) { return exactPolygamma(4, x); }, target, between<T>(0, 30),
      24);
  std::vector<T> x = between<T>(-1, 1);
  for (int power = 1; power < std::numeric_limits<T>::digits; ++power) {
    x.push_back(1 - std::ldexp(T(1), -power));
    x.push_back(-std::ldexp(T(1), -power));
  }
  check("erfinv %x", exactInverseErf, target, x, 8);
}

TEST_P(SpecialTest, F32) { checkAccuracy<float>(GetParam()); }
TEST_P(SpecialTest, F64) { checkAccuracy<double>(GetParam()); }

template <typename T> void checkEnds(const char *target) {
  T infinity = std::numeric_limits<T>::infinity();
  T nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> x = {0, T(-0.0), -1, -2, 1, 2, infinity, -infinity, nan};
  auto same = [&](const std::string &call, const std::vector<T> &want) {
    std::vector<T> y = resultsOf(call, target, x);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(std::isnan(want[i])
                      ? std::isnan(y[i])
                      : std::abs(y[i] - want[i]) < T(1e-6) || y[i] == want[i])
          << call << " of " << x[i] << ": " << y[i];
  };
  T euler = T(std::numbers::egamma);
  same("lgamma %x",
       {infinity, infinity, infinity, infinity, 0, 0, infinity, infinity, nan});
  same("digamma %x",
       {-infinity, infinity, nan, nan, -euler, 1 - euler, infinity, nan, nan});
  T square = T(std::numbers::pi * std::numbers::pi / 6);
  same("polygamma %x {order = 1 : i64}",
       {infinity, infinity, infinity, infinity, square, square - 1, 0, nan,
        nan});
  same("erfinv %x", {0, 0, -infinity, nan, infinity, nan, nan, nan, nan});
}

TEST_P(SpecialTest, Ends) {
  checkEnds<float>(GetParam());
  checkEnds<double>(GetParam());
}

// psi(1 - x) - psi(x) = pi cot(pi x), and its derivatives.
TEST_P(SpecialTest, BelowZero) {
  std::vector<double> x = {-0.7, -1.5, -3.25, -8.1};
  std::vector<double> y = resultsOf("digamma %x", GetParam(), x);
  std::vector<double> slope =
      resultsOf("polygamma %x {order = 1 : i64}", GetParam(), x);
  std::vector<double> bend =
      resultsOf("polygamma %x {order = 2 : i64}", GetParam(), x);
  for (size_t i = 0; i < x.size(); ++i) {
    double pi = std::numbers::pi, cotangent = 1 / std::tan(pi * x[i]);
    double square = 1 + cotangent * cotangent;
    double up = double(exactDigamma(1 - Long(x[i])));
    double first = double(exactPolygamma(1, 1 - Long(x[i])));
    double second = double(exactPolygamma(2, 1 - Long(x[i])));
    EXPECT_NEAR(y[i], up - pi * cotangent, 1e-12 * std::abs(y[i]) + 1e-13);
    EXPECT_NEAR(slope[i], -first + pi * pi * square, 1e-12 * slope[i]);
    EXPECT_NEAR(bend[i], second - 2 * pi * pi * pi * cotangent * square,
                1e-11 * std::abs(bend[i]) + 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SpecialTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
