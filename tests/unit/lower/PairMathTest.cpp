/// pow, atan2 and fmod: accuracy over the whole range, and C's edges.
#include "tests/unit/lower/KernelRunner.h"
#include "tests/unit/lower/Ulps.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace sinter::compiler {
namespace {

struct Function {
  const char *name;
  long double (*exact)(long double, long double);
  double ulps32, ulps64; ///< what is promised
};

// docs/semantics.md states these.
const Function functions[] = {
    {"pow", [](long double x, long double y) { return std::pow(x, y); }, 2, 4},
    {"atan2", [](long double x, long double y) { return std::atan2(x, y); }, 4,
     4},
    {"fmod", [](long double x, long double y) { return std::fmod(x, y); }, 0,
     0},
};

template <typename T> std::vector<T> edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           T(0.5),
                           2,
                           3,
                           T(2.5),
                           T(1e6),
                           T(1.0001),
                           Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::denorm_min(),
                           Limits::min(),
                           Limits::max(),
                           T(16777216) * 2 + 1};
  for (size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

/// All pairs of edges, then pairs of any bits, and of usual sizes.
template <typename T> std::pair<std::vector<T>, std::vector<T>> arguments() {
  std::vector<T> x, y;
  for (T a : edges<T>())
    for (T b : edges<T>()) {
      x.push_back(a);
      y.push_back(b);
    }
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::mt19937_64 engine(5);
  for (int i = 0; i < 100000; ++i) {
    x.push_back(std::bit_cast<T>(Bits(engine())));
    y.push_back(std::bit_cast<T>(Bits(engine())));
  }
  std::uniform_real_distribution<double> sizes(-20, 20);
  for (int i = 0; i < 100000; ++i) {
    x.push_back(T(std::exp2(sizes(engine))));
    y.push_back(T(sizes(engine)));
  }
  // Powers that end near the largest and the smallest number.
  double most = std::log(double(std::numeric_limits<T>::max()));
  std::uniform_real_distribution<double> near(0.9, 1.02);
  for (int i = 0; i < 50000; ++i) {
    x.push_back(T(std::exp2(sizes(engine))));
    double logarithm = std::log(double(x.back()));
    y.push_back(T((i % 2 ? most : -most) * near(engine) / logarithm));
  }
  return {x, y};
}

template <typename T>
void check(const Function &function, const char *target, const char *type,
           double allowed) {
  auto [x, y] = arguments<T>();
  std::string tensor = "tensor<" + std::to_string(x.size()) + "x" + type + ">";
  KernelRunner kernel(kernelText("map", 0, "%x: " + tensor + ", %y: " + tensor,
                                 std::string("%0 = sinter.") + function.name +
                                     " %x, %y : (" + tensor + ", " + tensor +
                                     ") -> " + tensor +
                                     "\nprogram.yield %0 : " + tensor),
                      target);
  ASSERT_EQ(kernel.error, "");
  std::vector<T> z(x.size());
  kernel.run({x.data(), y.data(), z.data()});
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    long double want = function.exact(x[i], y[i]);
    double error = ulps(z[i], want);
    if (z[i] == 0 && want == 0 && std::signbit(z[i]) != std::signbit(want))
      error = 1e9;
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  EXPECT_LE(worst, allowed)
      << function.name << " " << target << " of " << x[where] << ", "
      << y[where] << ": " << z[where] << " instead of "
      << double(function.exact(x[where], y[where]));
  std::printf("%s %s %s: %.3f ulp at %a, %a\n", function.name, type, target,
              worst, double(x[where]), double(y[where]));
}

class PairMathTest : public testing::TestWithParam<const char *> {};

TEST_P(PairMathTest, F32) {
  for (const Function &function : functions)
    check<float>(function, GetParam(), "f32", function.ulps32);
}
TEST_P(PairMathTest, F64) {
  for (const Function &function : functions)
    check<double>(function, GetParam(), "f64", function.ulps64);
}

INSTANTIATE_TEST_SUITE_P(Targets, PairMathTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
