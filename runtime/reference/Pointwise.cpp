/// Reference loops of pointwise ops.
#include "runtime/reference/Primitives.h"

#include <cmath>
#include <limits>

namespace sinter::reference {

//===- Unary --------------------------------------------------------------===//

template <double (*function)(double)>
static Result<HostValue> unary(const Call &call) {
  HostValue result = call.makeResult();
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.set(i, function(call[0].reals[i]));
  return result;
}

static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

static Result<HostValue> neg(const Call &call) {
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    if (result.isReal())
      result.set(i, -call[0].reals[i]);
    else
      result.set(i, int64_t(0 - uint64_t(call[0].ints[i])));
  }
  return result;
}

static Result<HostValue> abs(const Call &call) {
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    if (result.isReal())
      result.set(i, std::fabs(call[0].reals[i]));
    else if (int64_t value = call[0].ints[i]; lessInts(call.dtype, value, 0))
      result.set(i, int64_t(0 - uint64_t(value)));
    else
      result.set(i, value);
  }
  return result;
}

//===- Binary -------------------------------------------------------------===//

template <double (*onReals)(double, double),
          int64_t (*onInts)(DType, int64_t, int64_t)>
static Result<HostValue> binary(const Call &call) {
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    if (result.isReal())
      result.set(i, onReals(call[0].reals[i], call[1].reals[i]));
    else
      result.set(i, onInts(call.dtype, call[0].ints[i], call[1].ints[i]));
  }
  return result;
}

static double addReals(double a, double b) { return a + b; }
static double subReals(double a, double b) { return a - b; }
static double mulReals(double a, double b) { return a * b; }
static double divReals(double a, double b) { return a / b; }

double largerReal(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double smallerReal(double a, double b) { return -largerReal(-a, -b); }

// Unsigned arithmetic wraps; set() keeps the low bits. On bool, `!= 0` of the
// sum is or, and of the product and.
static int64_t addInts(DType, int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) + uint64_t(b));
}
static int64_t subInts(DType, int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) - uint64_t(b));
}
static int64_t mulInts(DType, int64_t a, int64_t b) {
  return static_cast<int64_t>(uint64_t(a) * uint64_t(b));
}
static int64_t divInts(DType dtype, int64_t a, int64_t b) {
  if (b == 0)
    return -1;
  if (dtype == DType::u64)
    return static_cast<int64_t>(uint64_t(a) / uint64_t(b));
  if (b == -1)
    return static_cast<int64_t>(0 - uint64_t(a));
  return a / b;
}
static int64_t maxInts(DType dtype, int64_t a, int64_t b) {
  return lessInts(dtype, a, b) ? b : a;
}
static int64_t minInts(DType dtype, int64_t a, int64_t b) {
  return lessInts(dtype, b, a) ? b : a;
}

//===- compare, where, cast -----------------------------------------------===//

template <typename T> static bool holds(uint64_t predicate, T a, T b) {
  switch (predicate) {
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  default:
    return a >= b;
  }
}

static Result<HostValue> compare(const Call &call) {
  HostValue result = call.makeResult();
  uint64_t predicate = call.attrs[0];
  const HostValue &a = call[0], &b = call[1];
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    if (a.isReal())
      result.ints[i] = holds(predicate, a.reals[i], b.reals[i]);
    else if (a.dtype == DType::u64)
      result.ints[i] =
          holds(predicate, uint64_t(a.ints[i]), uint64_t(b.ints[i]));
    else
      result.ints[i] = holds(predicate, a.ints[i], b.ints[i]);
  }
  return result;
}

static Result<HostValue> where(const Call &call) {
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i)
    result.copy(i, call[call[0].ints[i] ? 1 : 2], i);
  return result;
}

static Result<HostValue> cast(const Call &call) {
  HostValue result = call.makeResult();
  const HostValue &x = call[0];
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    if (result.isReal())
      result.reals[i] = x.isReal() ? roundTo(call.dtype, x.reals[i])
                                   : intToReal(call.dtype, x.ints[i], x.dtype);
    else
      result.ints[i] = x.isReal() ? saturateTo(call.dtype, x.reals[i])
                                  : wrapTo(call.dtype, x.ints[i]);
  }
  return result;
}

std::span<const PrimitiveRow> pointwisePrimitives() {
  constexpr bool selects = true;
  static const PrimitiveRow rows[] = {
      {"add", binary<addReals, addInts>},
      {"sub", binary<subReals, subInts>},
      {"mul", binary<mulReals, mulInts>},
      {"div", binary<divReals, divInts>},
      {"maximum", binary<largerReal, maxInts>, 0, selects},
      {"minimum", binary<smallerReal, minInts>, 0, selects},
      {"neg", neg, 0, selects},
      {"abs", abs, 0, selects},
      {"exp", unary<std::exp>},
      {"log", unary<std::log>},
      {"tanh", unary<std::tanh>},
      {"sin", unary<std::sin>},
      {"cos", unary<std::cos>},
      {"sqrt", unary<std::sqrt>},
      {"rsqrt", unary<reciprocalRoot>},
      {"erf", unary<std::erf>},
      {"compare", compare},
      {"where", where, 0, selects},
      {"cast", cast},
  };
  return rows;
}

} // namespace sinter::reference
