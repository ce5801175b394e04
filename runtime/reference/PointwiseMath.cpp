/// Reference loops of the further functions of numbers, and of bits.
#include "runtime/reference/Primitives.h"

#include <bit>
#include <cmath>

namespace sinter::reference {

// Integers are rounded.
template <double (*onReal)(double)>
static Result<HostValue> rounding(const Call &call) {
  HostValue result = call.makeResult();
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    if (result.isReal())
      result.set(i, onReal(call[0].reals[i]));
    else
      result.set(i, call[0].ints[i]);
  }
  return result;
}

template <double (*function)(double)>
static Result<HostValue> unary(const Call &call) {
  HostValue result = call.makeResult();
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.set(i, function(call[0].reals[i]));
  return result;
}

template <double (*function)(double, double)>
static Result<HostValue> binaryReal(const Call &call) {
  HostValue result = call.makeResult();
  for (size_t i = 0; i < result.reals.size(); ++i)
    result.set(i, function(call[0].reals[i], call[1].reals[i]));
  return result;
}

template <int64_t (*function)(DType, int64_t, int64_t)>
static Result<HostValue> binaryInteger(const Call &call) {
  HostValue result = call.makeResult();
  for (size_t i = 0; i < result.ints.size(); ++i)
    result.set(i, function(call.dtype, call[0].ints[i], call[1].ints[i]));
  return result;
}

template <double (*onReals)(double, double),
          int64_t (*onInts)(DType, int64_t, int64_t)>
static Result<HostValue> binary(const Call &call) {
  return call[0].isReal() ? binaryReal<onReals>(call)
                          : binaryInteger<onInts>(call);
}

/// The nearest integer; halves to the even one, whatever the rounding mode.
static double roundEven(double x) {
  double below = std::floor(x), rest = x - below;
  if (!(rest == 0.5))
    return std::round(x);
  return std::copysign(below + (std::fmod(below, 2) != 0 ? 1 : 0), x);
}

static int64_t powInts(DType dtype, int64_t base, int64_t exponent) {
  if (lessInts(dtype, exponent, 0)) {
    if (base == -1)
      return exponent % 2 == 0 ? 1 : -1;
    return base == 1 ? 1 : 0;
  }
  uint64_t result = 1, square = uint64_t(base);
  for (uint64_t bits = uint64_t(exponent); bits != 0; bits >>= 1) {
    if (bits & 1)
      result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

static int64_t fmodInts(DType dtype, int64_t a, int64_t b) {
  if (b == 0)
    return a;
  if (dtype == DType::u64)
    return static_cast<int64_t>(uint64_t(a) % uint64_t(b));
  return b == -1 ? 0 : a % b;
}

static int64_t andInts(DType, int64_t a, int64_t b) { return a & b; }
static int64_t orInts(DType, int64_t a, int64_t b) { return a | b; }
static int64_t xorInts(DType, int64_t a, int64_t b) { return a ^ b; }

static bool isShortShift(DType dtype, int64_t by) {
  return by >= 0 && by < int64_t(8 * byteWidth(dtype));
}
static int64_t shiftLeft(DType dtype, int64_t a, int64_t b) {
  return isShortShift(dtype, b) ? static_cast<int64_t>(uint64_t(a) << b) : 0;
}
static int64_t shiftRight(DType dtype, int64_t a, int64_t b) {
  if (dtype == DType::u64)
    return isShortShift(dtype, b) ? static_cast<int64_t>(uint64_t(a) >> b) : 0;
  return a >> (isShortShift(dtype, b) ? b : 63);
}

static Result<HostValue> bitwiseNot(const Call &call) {
  HostValue result = call.makeResult();
  for (size_t i = 0; i < result.ints.size(); ++i)
    result.set(i, call.dtype == DType::boolean ? int64_t(!call[0].ints[i])
                                               : ~call[0].ints[i]);
  return result;
}

std::span<const PrimitiveRow> mathPrimitives() {
  static const PrimitiveRow rows[] = {
      {"floor", rounding<std::floor>},
      {"ceil", rounding<std::ceil>},
      {"trunc", rounding<std::trunc>},
      {"round", rounding<roundEven>},
      {"exp2", unary<std::exp2>},
      {"expm1", unary<std::expm1>},
      {"log2", unary<std::log2>},
      {"log10", unary<std::log10>},
      {"log1p", unary<std::log1p>},
      {"atan", unary<std::atan>},
      {"erfc", unary<std::erfc>},
      {"pow", binary<std::pow, powInts>},
      {"atan2", binaryReal<std::atan2>},
      {"copysign", binaryReal<std::copysign>, 0, /*selects=*/true},
      {"fmod", binary<std::fmod, fmodInts>},
      {"bitwise_and", binaryInteger<andInts>},
      {"bitwise_or", binaryInteger<orInts>},
      {"bitwise_xor", binaryInteger<xorInts>},
      {"bitwise_not", bitwiseNot},
      {"bitwise_left_shift", binaryInteger<shiftLeft>},
      {"bitwise_right_shift", binaryInteger<shiftRight>},
  };
  return rows;
}

} // namespace sinter::reference
