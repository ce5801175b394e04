/// Fourier transforms as products with small matrices, by factors of the
/// length.
#include <sinter/Fourier.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace sinter {

using detail::Composed;

namespace {

/// Numbers [.., n]; without an imaginary part they are real.
struct Complex {
  Tensor re, im;
};

/// A transform being recorded: forward where `sign` is -1.
class Transform {
public:
  Transform(const Composed &call, int sign) : call(call), sign(sign) {}

  /// Along the last axis.
  Complex of(const Complex &x) const;

private:
  Complex direct(const Complex &x, int64_t n) const;
  Complex split(const Complex &x, int64_t a, int64_t b) const;
  /// e^(sign 2 pi i j k / n) for j below `rows` and k below `columns`.
  Complex roots(const Complex &x, int64_t rows, int64_t columns,
                int64_t n) const;

  const Composed &call;
  int sign;
};

} // namespace

/// Lengths up to this are one product.
static constexpr int64_t directLength = 64;
/// A matrix of this many rows is the largest that is made.
static constexpr int64_t largestFactor = 2048;

Complex Transform::roots(const Complex &x, int64_t rows, int64_t columns,
                         int64_t n) const {
  std::vector<double> re, im;
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t k = 0; k < columns; ++k) {
      double angle = 2 * std::numbers::pi * double(j * k % n) / double(n);
      re.push_back(std::cos(angle));
      im.push_back(sign * std::sin(angle));
    }
  Options options{x.re.dtype(), x.re.device()};
  return {tensor(re, {rows, columns}, options),
          tensor(im, {rows, columns}, options)};
}

Complex Transform::direct(const Complex &x, int64_t n) const {
  Complex w = roots(x, n, n, n);
  if (!x.im.defined())
    return {matmul(x.re, w.re), matmul(x.re, w.im)};
  return {matmul(x.re, w.re) - matmul(x.im, w.im),
          matmul(x.re, w.im) + matmul(x.im, w.re)};
}

static Complex mapped(const Complex &x, auto function) {
  return {function(x.re), x.im.defined() ? function(x.im) : Tensor()};
}

// n = a b: element j1 b + j2 of x, element k1 + a k2 of the result. Transforms
// of length a over j1, a turn by j2 k1, and transforms of length b over j2.
Complex Transform::split(const Complex &x, int64_t a, int64_t b) const {
  Complex columns = mapped(x, [&](const Tensor &part) {
    return swapaxes(unflatten(part, -1, {a, b}), -1, -2);
  });
  Complex inner = direct(columns, a), w = roots(x, b, a, a * b);
  Complex turned{inner.re * w.re - inner.im * w.im,
                 inner.re * w.im + inner.im * w.re};
  Complex outer = of(mapped(
      turned, [](const Tensor &part) { return swapaxes(part, -1, -2); }));
  return mapped(outer, [](const Tensor &part) {
    return flatten(swapaxes(part, -1, -2), -2, -1);
  });
}

/// The largest factor of n that is one product; the least one above, if none.
static int64_t factorOf(int64_t n) {
  for (int64_t factor = directLength; factor > 1; --factor)
    if (n % factor == 0)
      return factor;
  for (int64_t factor = directLength + 1; factor * factor <= n; ++factor)
    if (n % factor == 0)
      return factor;
  return n;
}

Complex Transform::of(const Complex &x) const {
  int64_t n = x.re.dim(-1).value;
  if (n <= directLength)
    return direct(x, n);
  int64_t factor = factorOf(n);
  if (factor > largestFactor)
    call.fail(ErrorKind::unsupported,
              fmt::format("the length has the prime factor {}, and none above "
                          "{} is supported",
                          factor, largestFactor));
  return factor == n ? direct(x, n) : split(x, factor, n / factor);
}

/// What a transform of length n is multiplied by.
static double scaleOf(FourierNorm norm, bool isInverse, int64_t n) {
  if (norm == FourierNorm::ortho)
    return 1 / std::sqrt(double(n));
  return (norm == FourierNorm::backward) == isInverse ? 1 / double(n) : 1;
}

static Tensor scaled(const Tensor &x, double scale) {
  return scale == 1 ? x : x * scale;
}

/// A float tensor whose length along `axis` is known and positive; in f32 when
/// it is narrower.
static Tensor knownLength(const Composed &call, const Tensor &x, int64_t axis) {
  if (!isFloat(x.dtype()))
    call.fail("the operand must be floats");
  Dims shape = x.shape();
  Dim &length = shape[size_t(axis < 0 ? axis + x.rank() : axis)];
  length = Dim(length.value);
  if (length.value < 1)
    call.fail("the length must be positive");
  return reshape(x, shape).to(x.dtype() == DType::f64 ? DType::f64
                                                      : DType::f32);
}

static Complex complexOf(const Composed &call) {
  if (call.x.rank() < 2 || call.x.dim(-1).value != 2)
    call.fail("the operand must be complex numbers [.., n, 2]");
  Tensor x = knownLength(call, call.x, -2);
  return {select(x, -1, 0), select(x, -1, 1)};
}

static Tensor pairsOf(const Complex &x, double scale, DType dtype) {
  return scaled(stack({x.re, x.im}, -1), scale).to(dtype);
}

static Tensor complexTransform(const Composed &call, int sign,
                               FourierNorm norm) {
  Complex x = complexOf(call);
  int64_t n = x.re.dim(-1).value;
  return pairsOf(Transform(call, sign).of(x), scaleOf(norm, sign > 0, n),
                 call.x.dtype());
}

Tensor fft(const Arg &x, FourierNorm norm) try {
  return complexTransform(Composed("fft", x), -1, norm);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor ifft(const Arg &x, FourierNorm norm) try {
  return complexTransform(Composed("ifft", x), 1, norm);
} catch (...) {
  detail::raiseExhausted(x.where);
}

static Tensor realTransform(const Composed &call, const Tensor &given,
                            FourierNorm norm) {
  if (given.rank() < 1)
    call.fail("the operand must be numbers [.., n]");
  Tensor x = knownLength(call, given, -1);
  int64_t n = x.dim(-1).value, kept = n / 2 + 1;
  Complex all = Transform(call, -1).of({x, Tensor()});
  Complex half = mapped(
      all, [&](const Tensor &part) { return narrow(part, -1, 0, kept); });
  return pairsOf(half, scaleOf(norm, false, n), given.dtype());
}

Tensor rfft(const Arg &x, FourierNorm norm) try {
  Composed call("rfft", x);
  return realTransform(call, call.x, norm);
} catch (...) {
  detail::raiseExhausted(x.where);
}

// The other half is conjugate, from the end; the parts that would have to be
// real count as real.
Tensor irfft(const Arg &x, std::optional<int64_t> n, FourierNorm norm) try {
  Composed call("irfft", x);
  Complex given = complexOf(call);
  int64_t m = given.re.dim(-1).value, length = n.value_or(2 * (m - 1));
  if (length < 1)
    call.fail(fmt::format("{} real numbers", length));
  int64_t half = length / 2 + 1, mirrored = (length - 1) / 2;
  Complex x0 = mapped(given, [&](const Tensor &part) {
    return half <= m ? narrow(part, -1, 0, half)
                     : pad(part, {Padding{-1, 0, half - m}});
  });
  auto mirror = [&](const Tensor &part) {
    return flip(narrow(part, -1, 1, mirrored), {part.rank() - 1});
  };
  Dims ends(x0.im.rank(), Dim(1));
  std::vector<double> isComplex(size_t(half), 1);
  isComplex[0] = 0;
  if (length % 2 == 0)
    isComplex.back() = 0;
  ends.back() = Dim(half);
  Tensor im = x0.im * tensor(isComplex, ends, {x0.im.dtype(), x0.im.device()});
  Complex all{concat({x0.re, mirror(x0.re)}, -1),
              concat({im, -mirror(im)}, -1)};
  Tensor real = Transform(call, 1).of(all).re;
  return scaled(real, scaleOf(norm, true, length)).to(call.x.dtype());
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor stft(const Arg &x, int64_t n_fft, const StftOptions &options) try {
  Composed call("stft", x);
  int64_t hop = options.hop.value_or(n_fft / 4);
  if (call.x.rank() < 1 || n_fft < 1 || hop < 1)
    call.fail(fmt::format("frames of {} at a distance of {}", n_fft, hop));
  Tensor signal = call.x;
  if (options.center)
    signal = pad(signal, {Padding{-1, n_fft / 2, n_fft / 2}}, PadMode::reflect);
  if (signal.dim(-1).value < n_fft)
    call.fail(fmt::format("fewer than {} numbers", n_fft));
  Tensor frames = unfold(signal, -1, n_fft, hop);
  if (options.window) {
    if (options.window->rank() != 1 || options.window->dim(0).value != n_fft)
      call.fail(fmt::format("the window must have {} factors", n_fft));
    frames = frames * *options.window;
  }
  Tensor all = realTransform(call, frames, FourierNorm::backward);
  return swapaxes(all, -2, -3);
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
