/// Accuracy of the functions made of arithmetic, over the whole range.
#include "tests/unit/lower/KernelRunner.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace sinter::compiler {
namespace {

struct Function {
  const char *name;
  long double (*exact)(long double);
};

const Function functions[] = {
    {"exp", [](long double x) { return std::exp(x); }},
    {"log", [](long double x) { return std::log(x); }},
    {"tanh", [](long double x) { return std::tanh(x); }},
    {"erf", [](long double x) { return std::erf(x); }},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }},
};

// How many units in the last place of T lie between them.
template <typename T> double ulps(T got, long double want) {
  T nearest = T(want);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got)
      return 0;
    // An overflow may begin one unit early or late.
    return std::abs(double(want)) > 0.999 * std::numeric_limits<T>::max() ? 1
                                                                          : 1e9;
  }
  int exponent = std::max(std::ilogb(double(std::abs(want))),
                          std::numeric_limits<T>::min_exponent - 1);
  if (want == 0)
    exponent = std::numeric_limits<T>::min_exponent - 1;
  long double unit =
      std::ldexp(1.0L, exponent + 1 - std::numeric_limits<T>::digits);
  return double(std::abs(got - want) / unit);
}

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

template <typename T>
void check(const char *target, const char *type, double allowed) {
  std::vector<T> x = arguments<T>();
  std::string tensor = "tensor<" + std::to_string(x.size()) + "x" + type + ">";
  for (const Function &function : functions) {
    KernelRunner kernel(kernelText("map", 0, "%x: " + tensor,
                                   std::string("%0 = sinter.") + function.name +
                                       " %x : (" + tensor + ") -> " + tensor +
                                       "\nprogram.yield %0 : " + tensor),
                        target);
    ASSERT_EQ(kernel.error, "");
    std::vector<T> y(x.size());
    kernel.run({x.data(), y.data()});
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      double error = ulps(y[i], function.exact(x[i]));
      if (error > worst) {
        worst = error;
        where = i;
      }
    }
    EXPECT_LE(worst, allowed)
        << function.name << " " << target << " at " << x[where] << ": "
        << y[where] << " instead of " << T(function.exact(x[where]));
    testing::Test::RecordProperty(std::string(function.name) + type + target,
                                  std::to_string(worst));
  }
}

class MathTest : public testing::TestWithParam<const char *> {};

TEST_P(MathTest, F32) { check<float>(GetParam(), "f32", 3); }
TEST_P(MathTest, F64) { check<double>(GetParam(), "f64", 4); }

INSTANTIATE_TEST_SUITE_P(Targets, MathTest,
                         testing::Values("cpu", "cpu:x86-64-v3", "cpu:scalar"));

} // namespace
} // namespace sinter::compiler
