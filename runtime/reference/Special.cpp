/// Reference loops of the gamma function's logarithm, its derivatives and the
/// inverse of erf.
#include "runtime/reference/Primitives.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace sinter::reference {

template <double (*function)(double)>
static Result<HostValue> unary(const Call &call) {
  HostValue result = call.makeResult();
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.set(i, function(call[0].reals[i]));
  return result;
}

// std::lgamma writes the sign to a global variable.
static double logGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// B(2k) for k = 1, 2, ...: Bernoulli's numbers.
static constexpr long double bernoulli[] = {
    1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
    5.0L / 66, -691.0L / 2730, 7.0L / 6};

// By digamma(x) = digamma(x + 1) - 1 / x up to 20, and the series from there.
static long double digammaAbove(long double x) {
  long double sum = 0;
  while (x < 20) {
    sum -= 1 / x;
    x += 1;
  }
  sum += std::log(x) - 0.5L / x;
  long double power = 1;
  for (int k = 1; k <= 7; ++k) {
    power /= x * x;
    sum -= bernoulli[k - 1] / (2 * k) * power;
  }
  return sum;
}

static long double cotangent(long double x) {
  long double angle = std::numbers::pi_v<long double> * std::remainder(x, 1.0L);
  return std::cos(angle) / std::sin(angle);
}

static double digamma(double x) {
  if (x == 0)
    return -std::copysign(std::numeric_limits<double>::infinity(), x);
  if (x > 0)
    return double(digammaAbove(x));
  if (x == std::floor(x))
    return std::numeric_limits<double>::quiet_NaN();
  return double(digammaAbove(1 - static_cast<long double>(x)) -
                std::numbers::pi_v<long double> * cotangent(x));
}

// (-1)^(n + 1) n! times the sum of (x + k)^-(n + 1), by as many terms as its
// rest needs that is taken from the integral and its corrections.
static long double polygammaAbove(int64_t order, long double x) {
  long double exponent = static_cast<long double>(order) + 1, sum = 0;
  while (x < 30) {
    sum += std::pow(x, -exponent);
    x += 1;
  }
  sum +=
      std::pow(x, 1 - exponent) / (exponent - 1) + std::pow(x, -exponent) / 2;
  long double rising = exponent / 2;
  for (int k = 1; k <= 7; ++k) {
    sum += bernoulli[k - 1] * rising * std::pow(x, 1 - exponent - 2 * k);
    rising *= (exponent + 2 * k - 1) * (exponent + 2 * k) /
              static_cast<long double>((2 * k + 1) * (2 * k + 2));
  }
  return (order % 2 ? 1 : -1) * std::tgamma(exponent) * sum;
}

// d^n cot(pi x) / dx^n, by the polynomials in the cotangent.
static long double cotangentDerivative(int64_t order, long double x) {
  std::vector<long double> p = {0, 1};
  for (int64_t n = 0; n < order; ++n) {
    std::vector<long double> next(p.size() + 1, 0);
    for (size_t i = 1; i < p.size(); ++i) {
      next[i - 1] -= static_cast<long double>(i) * p[i];
      next[i + 1] -= static_cast<long double>(i) * p[i];
    }
    p = next;
  }
  long double value = 0, c = cotangent(x);
  for (size_t i = p.size(); i-- > 0;)
    value = value * c + p[i];
  return value * std::pow(std::numbers::pi_v<long double>,
                          static_cast<long double>(order));
}

static double polygamma(int64_t order, double x) {
  if (order == 0)
    return digamma(x);
  if (!(x < -0.5))
    return double(polygammaAbove(order, x));
  return double((order % 2 ? -1 : 1) *
                    polygammaAbove(order, 1 - static_cast<long double>(x)) -
                std::numbers::pi_v<long double> *
                    cotangentDerivative(order, x));
}

static Result<HostValue> polygamma(const Call &call) {
  HostValue result = call.makeResult();
  int64_t order = graph::AttrReader(call.attrs).integer();
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.set(i, polygamma(order, call[0].reals[i]));
  return result;
}

// Newton's steps toward erf(y) = x, of erfc where that is closer to 0.
static double inverseErf(double x) {
  double magnitude = std::abs(x);
  if (!(magnitude < 1))
    return magnitude == 1
               ? std::copysign(std::numeric_limits<double>::infinity(), x)
               : std::numeric_limits<double>::quiet_NaN();
  long double target = magnitude, y = 0;
  for (int step = 0; step < 200; ++step) {
    long double residue =
        target < 0.5L ? std::erf(y) - target : (1 - target) - std::erfc(y);
    long double slope =
        2 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-y * y);
    long double next = y - residue / slope;
    if (next == y)
      break;
    y = next;
  }
  return std::copysign(double(y), x);
}

std::span<const PrimitiveRow> specialPrimitives() {
  static const PrimitiveRow rows[] = {
      {"lgamma", unary<logGamma>, 16},
      {"digamma", unary<digamma>, 12},
      {"polygamma", polygamma, 24},
      {"erfinv", unary<inverseErf>},
  };
  return rows;
}

} // namespace sinter::reference
