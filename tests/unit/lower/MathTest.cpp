/// Accuracy of the functions made of arithmetic, over the whole range.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/Ulps.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string_view>

namespace sinter::compiler {
namespace {

struct Function {
  const char *name;
  long double (*exact)(long double);
  double (*exactInDouble)(double);
  double ulps32, ulps64; ///< what is promised
};

double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

// docs/semantics.md states these.
const Function functions[] = {
    {"exp", [](long double x) { return std::exp(x); }, std::exp, 2, 4},
    {"log", [](long double x) { return std::log(x); }, std::log, 2, 4},
    {"tanh", [](long double x) { return std::tanh(x); }, std::tanh, 2, 4},
    {"erf", [](long double x) { return std::erf(x); }, std::erf, 2, 4},
    {"sin", [](long double x) { return std::sin(x); }, std::sin, 1, 1},
    {"cos", [](long double x) { return std::cos(x); }, std::cos, 1, 1},
    {"exp2", [](long double x) { return std::exp2(x); }, std::exp2, 4, 4},
    {"expm1", [](long double x) { return std::expm1(x); }, std::expm1, 4, 4},
    {"log2", [](long double x) { return std::log2(x); }, std::log2, 4, 4},
    {"log10", [](long double x) { return std::log10(x); }, std::log10, 4, 4},
    {"log1p", [](long double x) { return std::log1p(x); }, std::log1p, 4, 4},
    {"atan", [](long double x) { return std::atan(x); }, std::atan, 4, 4},
    {"erfc", [](long double x) { return std::erfc(x); }, std::erfc, 4, 4},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, reciprocalRoot, 2,
     2},
};

template <typename T> std::vector<T> arguments() {
  std::vector<T> values = {0,
                           T(-0.0),
                           1,
                           -1,
                           std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::lowest()};
  // Where tables change from one row to the next, and their neighbours.
  for (int i = 1; i <= 2048; ++i)
    for (T sign : {T(1), T(-1)}) {
      T middle = sign * T(i) / 256;
      values.push_back(middle);
      values.push_back(std::nextafter(middle, T(0)));
      values.push_back(std::nextafter(middle, 2 * middle));
    }
  std::mt19937_64 engine(7);
  // Any bits, then numbers of the size that functions are interesting at.
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  for (int i = 0; i < 200000; ++i)
    values.push_back(std::bit_cast<T>(Bits(engine())));
  for (double width : {0.1, 1.5, 8.0, 110.0, 760.0}) {
    std::uniform_real_distribution<double> draw(-width, width);
    for (int i = 0; i < 100000; ++i)
      values.push_back(T(draw(engine)));
  }
  return values;
}

// The text of a kernel that applies the function to `count` elements.
std::string textOf(const char *function, const char *type, size_t count) {
  std::string tensor = "tensor<" + std::to_string(count) + "x" + type + ">";
  return kernelText("map", 0, "%x: " + tensor,
                    std::string("%0 = sinter.") + function + " %x : (" +
                        tensor + ") -> " + tensor +
                        "\nprogram.yield %0 : " + tensor);
}

// The largest error over `x`, against `exact`.
template <typename T, typename Exact>
void check(const Function &function, const char *target, const char *type,
           std::vector<T> x, Exact exact, double allowed,
           NumericsMode numerics = NumericsMode::standard) {
  KernelRunner kernel(textOf(function.name, type, x.size()), target,
                      /*keepText=*/false, numerics);
  ASSERT_EQ(kernel.error, "");
  std::vector<T> y(x.size());
  kernel.run({x.data(), y.data()});
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double error = ulps(y[i], exact(x[i]));
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  EXPECT_LE(worst, allowed)
      << function.name << " " << target << " at " << x[where] << ": "
      << y[where] << " instead of " << T(exact(x[where]));
  std::printf("%s %s %s: %.3f ulp at %a\n", function.name, type, target, worst,
              double(x[where]));
}

class MathTest : public testing::TestWithParam<const char *> {};

TEST_P(MathTest, F32) {
  for (const Function &function : functions)
    check(function, GetParam(), "f32", arguments<float>(), function.exact,
          function.ulps32);
}
TEST_P(MathTest, F64) {
  for (const Function &function : functions)
    check(function, GetParam(), "f64", arguments<double>(), function.exact,
          function.ulps64);
}

TEST_P(MathTest, ErfEndsAtOne) {
  auto ofType = [](auto zero, const char *type) {
    using T = decltype(zero);
    std::vector<T> x;
    for (double magnitude : {7.0, 100.0, 1e30, HUGE_VAL})
      for (double sign : {1.0, -1.0})
        x.push_back(T(sign * magnitude));
    std::vector<T> y(x.size());
    KernelRunner kernel(textOf("erf", type, x.size()), GetParam());
    ASSERT_EQ(kernel.error, "");
    kernel.run({x.data(), y.data()});
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(y[i], std::copysign(T(1), x[i])) << GetParam() << " " << x[i];
  };
  ofType(0.0f, "f32");
  ofType(0.0, "f64");
}

// Every 4093rd bit pattern of f32, of both signs, in one sweep.
TEST_P(MathTest, F32OverTheWholeRange) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 4093)
    x.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (const Function &function : functions)
    check(function, GetParam(), "f32", x, function.exactInDouble,
          function.ulps32);
}

// Multiples of pi/2 as close as each binade has them: the angle that is left is
// small, and an inexact reduction shows.
template <typename T> std::vector<T> nearMultiples() {
  std::vector<T> values;
  std::mt19937_64 engine(11);
  const long double halfPi = std::acos(0.0L);
  for (int i = 0; i < 300000; ++i) {
    auto count = static_cast<long double>(engine() >> (i % 48 + 12));
    T near = T(count * halfPi);
    for (T value : {near, std::nextafter(near, T(0)),
                    std::nextafter(near, std::numeric_limits<T>::max())})
      values.push_back(i % 2 ? value : -value);
  }
  // The closest ones of f64 (2^-61 away) and of f32 (2^-29).
  for (double closest : {0x1.6ac5b262ca1ffp+849, 0x1.f37c8ap+95})
    if (closest <= double(std::numeric_limits<T>::max()))
      values.push_back(T(closest));
  return values;
}

TEST_P(MathTest, AnglesNearMultiples) {
  for (const Function &function : functions) {
    if (std::string_view(function.name) != "sin" &&
        std::string_view(function.name) != "cos")
      continue;
    check(function, GetParam(), "f32", nearMultiples<float>(), function.exact,
          function.ulps32);
    check(function, GetParam(), "f64", nearMultiples<double>(), function.exact,
          function.ulps64);
  }
}

//===- Approximations -----------------------------------------------------===//

// docs/numerics.md states these, for f32.
const Function approximations[] = {
    {"exp", [](long double x) { return std::exp(x); }, std::exp, 6, 4},
    {"log", [](long double x) { return std::log(x); }, std::log, 2, 4},
    {"tanh", [](long double x) { return std::tanh(x); }, std::tanh, 8, 4},
    {"erf", [](long double x) { return std::erf(x); }, std::erf, 16, 4},
    {"sin", [](long double x) { return std::sin(x); }, std::sin, 1, 1},
    {"cos", [](long double x) { return std::cos(x); }, std::cos, 1, 1},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, reciprocalRoot, 2,
     2},
    {"sqrt", [](long double x) { return std::sqrt(x); }, std::sqrt, 2, 0.5},
};

bool isDenormal(float x) {
  return x != 0 && std::abs(x) < std::numeric_limits<float>::min();
}

TEST_P(MathTest, ApproximationsOfF32) {
  for (const Function &function : approximations) {
    std::vector<float> x = arguments<float>();
    // A root of a denormal is a matter of its own.
    if (std::string_view(function.name) == "sqrt")
      std::erase_if(x, isDenormal);
    check(function, GetParam(), "f32", x, function.exact, function.ulps32,
          NumericsMode::fast);
  }
}

TEST_P(MathTest, ApproximationsOverTheWholeRange) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 4093)
    x.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (const Function &function : approximations) {
    if (std::string_view(function.name) == "sqrt")
      std::erase_if(x, isDenormal);
    check(function, GetParam(), "f32", x, function.exactInDouble,
          function.ulps32, NumericsMode::fast);
  }
}

TEST_P(MathTest, F64IsNotApproximated) {
  for (const Function &function : approximations)
    check(function, GetParam(), "f64", arguments<double>(), function.exact,
          function.ulps64, NumericsMode::fast);
}

template <typename T> std::vector<T> specials() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           3,
                           Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::denorm_min(),
                           7 * Limits::denorm_min(),
                           Limits::min() / 4,
                           Limits::min(),
                           Limits::max() / 2,
                           Limits::max()};
  for (size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

// Zeros with their signs, infinities and NaN of roots come out as they do
// elsewhere; roots of denormals to within 2^-13.
TEST_P(MathTest, ApproximateRootsOfSpecialNumbers) {
  std::vector<float> x = specials<float>(), y(x.size());
  KernelRunner kernel(textOf("sqrt", "f32", x.size()), GetParam(),
                      /*keepText=*/false, NumericsMode::fast);
  ASSERT_EQ(kernel.error, "");
  kernel.run({x.data(), y.data()});
  for (size_t i = 0; i < x.size(); ++i) {
    float want = std::sqrt(x[i]);
    SCOPED_TRACE(x[i]);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(y[i]));
      continue;
    }
    EXPECT_EQ(std::signbit(y[i]), std::signbit(want));
    float off = isDenormal(x[i]) ? 0x1p-13F : 0x1p-22F;
    EXPECT_TRUE(y[i] == want || std::abs(y[i] - want) <= off * want) << y[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MathTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
