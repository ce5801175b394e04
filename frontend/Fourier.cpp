/// Fourier transforms as products with small matrices, by factors of the
/// length; large prime factors by a convolution.
#include <sinter/Fourier.h>

#include "frontend/ComplexOps.h"
#include "frontend/Composed.h"
#include "frontend/Leaves.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Complex.h>
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
  explicit Transform(int sign) : sign(sign) {}

  /// Along the last axis.
  Complex of(const Complex &x) const;

private:
  Complex whole(const Complex &x, int64_t n) const;
  Complex direct(const Complex &x, int64_t n) const;
  Complex split(const Complex &x, int64_t a, int64_t b) const;
  Complex convolved(const Complex &x, int64_t n) const;
  /// e^(sign 2 pi i j k / n) for j below `rows` and k below `columns`.
  Complex roots(const Complex &x, int64_t rows, int64_t columns,
                int64_t n) const;

  int sign;
};

} // namespace

/// Lengths up to this are one product.
static constexpr int64_t directLength = 64;
/// A matrix of this many rows is the largest that is made.
static constexpr int64_t largestFactor = 512;

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
  return {detail::tableOf(re, {rows, columns}, options),
          detail::tableOf(im, {rows, columns}, options)};
}

static Complex mapped(const Complex &x, auto function) {
  return {function(x.re), x.im.defined() ? function(x.im) : Tensor()};
}

static Complex product(const Complex &x, const Complex &y) {
  if (!x.im.defined())
    return {x.re * y.re, x.re * y.im};
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

Complex Transform::direct(const Complex &x, int64_t n) const {
  Complex w = roots(x, n, n, n);
  if (!x.im.defined())
    return {matmul(x.re, w.re), matmul(x.re, w.im)};
  return {matmul(x.re, w.re) - matmul(x.im, w.im),
          matmul(x.re, w.im) + matmul(x.im, w.re)};
}

// n = a b: element j1 b + j2 of x, element k1 + a k2 of the result. Transforms
// of length a over j1, a turn by j2 k1, and transforms of length b over j2.
Complex Transform::split(const Complex &x, int64_t a, int64_t b) const {
  Complex columns = mapped(x, [&](const Tensor &part) {
    return swapaxes(unflatten(part, -1, {a, b}), -1, -2);
  });
  Complex inner = whole(columns, a), w = roots(x, b, a, a * b);
  Complex outer = of(mapped(product(inner, w), [](const Tensor &part) {
    return swapaxes(part, -1, -2);
  }));
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

// j k = (j^2 + k^2 - (k - j)^2) / 2: the transform is a convolution of x and a
// chirp, which a longer transform computes (Bluestein).
Complex Transform::convolved(const Complex &x, int64_t n) const {
  int64_t length = 1;
  while (length < 2 * n - 1)
    length *= 2;
  // Turns by j^2 / 2n, and the opposite ones for both signs of k - j.
  std::vector<double> re, im;
  std::vector<double> backRe(size_t(length), 0), backIm(size_t(length), 0);
  for (int64_t j = 0; j < n; ++j) {
    double angle = std::numbers::pi * double(j * j % (2 * n)) / double(n);
    re.push_back(std::cos(angle));
    im.push_back(sign * std::sin(angle));
    for (int64_t at : {j, (length - j) % length}) {
      backRe[size_t(at)] = re.back();
      backIm[size_t(at)] = -im.back();
    }
  }
  Options options{x.re.dtype(), x.re.device()};
  Complex chirp{detail::tableOf(re, {n}, options),
                detail::tableOf(im, {n}, options)};
  Complex back{detail::tableOf(backRe, {length}, options),
               detail::tableOf(backIm, {length}, options)};
  Transform forward(-1), inverse(1);
  Complex filled = mapped(product(x, chirp), [&](const Tensor &part) {
    return pad(part, {Padding{-1, 0, length - n}});
  });
  Complex sums = inverse.of(product(forward.of(filled), forward.of(back)));
  Complex kept = mapped(sums, [&](const Tensor &part) {
    return narrow(part, -1, 0, n) * (1 / double(length));
  });
  return product(kept, chirp);
}

/// Of a length that is not split.
Complex Transform::whole(const Complex &x, int64_t n) const {
  return n > largestFactor ? convolved(x, n) : direct(x, n);
}

Complex Transform::of(const Complex &x) const {
  int64_t n = x.re.dim(-1).value;
  if (n <= directLength)
    return direct(x, n);
  int64_t factor = factorOf(n);
  return factor == n ? whole(x, n) : split(x, factor, n / factor);
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

/// What a call is given: complex numbers, or floats in pairs.
static Complex complexOf(const Composed &call) {
  if (isComplex(call.x.dtype())) {
    if (call.x.rank() < 1)
      call.fail("the operand must be numbers [.., n]");
    return {knownLength(call, real(call.x), -1),
            knownLength(call, imag(call.x), -1)};
  }
  if (call.x.rank() < 2 || call.x.dim(-1).value != 2)
    call.fail("the operand must be complex numbers [.., n, 2]");
  Tensor x = knownLength(call, call.x, -2);
  return {select(x, -1, 0), select(x, -1, 1)};
}

/// What it gives: as it was given.
static Tensor pairsOf(const Complex &x, double scale, DType dtype) {
  if (isComplex(dtype))
    return complex(scaled(x.re, scale), scaled(x.im, scale));
  return scaled(stack({x.re, x.im}, -1), scale).to(dtype);
}

static Tensor complexTransform(const Composed &call, int sign,
                               FourierNorm norm) {
  Complex x = complexOf(call);
  int64_t n = x.re.dim(-1).value;
  return pairsOf(Transform(sign).of(x), scaleOf(norm, sign > 0, n),
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

/// The first half of a transform of real numbers.
static Complex halfTransform(const Composed &call, const Tensor &given,
                             FourierNorm norm) {
  if (given.rank() < 1)
    call.fail("the operand must be numbers [.., n]");
  Tensor x = knownLength(call, given, -1);
  int64_t n = x.dim(-1).value, kept = n / 2 + 1;
  double scale = scaleOf(norm, false, n);
  return mapped(Transform(-1).of({x, Tensor()}), [&](const Tensor &part) {
    return scaled(narrow(part, -1, 0, kept), scale);
  });
}

static Tensor realTransform(const Composed &call, const Tensor &given,
                            FourierNorm norm) {
  return pairsOf(halfTransform(call, given, norm), 1, given.dtype());
}

Tensor rfft(const Arg &x, FourierNorm norm) try {
  Composed call("rfft", x);
  return realTransform(call, call.x, norm);
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// `length` numbers along the last axis: cut, or filled with 0.
static Complex resized(const Complex &x, int64_t length) {
  int64_t there = x.re.dim(-1).value;
  return mapped(x, [&](const Tensor &part) {
    return length <= there ? narrow(part, -1, 0, length)
                           : pad(part, {Padding{-1, 0, length - there}});
  });
}

// The other half is conjugate, from the end; the parts that would have to be
// real count as real.
static Tensor realNumbers(const Composed &call, const Complex &given,
                          std::optional<int64_t> n, FourierNorm norm) {
  int64_t m = given.re.dim(-1).value, length = n.value_or(2 * (m - 1));
  if (length < 1)
    call.fail(fmt::format("{} real numbers", length));
  int64_t half = length / 2 + 1, mirrored = (length - 1) / 2;
  Complex x0 = resized(given, half);
  auto mirror = [&](const Tensor &part) {
    return flip(narrow(part, -1, 1, mirrored), {part.rank() - 1});
  };
  Dims ends(x0.im.rank(), Dim(1));
  std::vector<double> hasImaginary(size_t(half), 1);
  hasImaginary[0] = 0;
  if (length % 2 == 0)
    hasImaginary.back() = 0;
  ends.back() = Dim(half);
  Tensor im = x0.im * detail::tableOf(hasImaginary, ends,
                                      {x0.im.dtype(), x0.im.device()});
  Complex all{concat({x0.re, mirror(x0.re)}, -1),
              concat({im, -mirror(im)}, -1)};
  return scaled(Transform(1).of(all).re, scaleOf(norm, true, length));
}

Tensor irfft(const Arg &x, std::optional<int64_t> n, FourierNorm norm) try {
  Composed call("irfft", x);
  return realNumbers(call, complexOf(call), n, norm).to(partOf(call.x.dtype()));
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Along any axis -----------------------------------------------------===//

/// Numbers whose last axis is `dim` of the operand, cut or filled to n.
static Complex along(const Composed &call, const Tensor &x, int64_t dim,
                     std::optional<int64_t> n) {
  if (n && *n < 1)
    call.fail(fmt::format("a transform of length {}", *n));
  auto last = [&](const Tensor &part) {
    return knownLength(call, swapaxes(part, dim, -1), -1);
  };
  Complex numbers{last(real(x)),
                  isComplex(x.dtype()) ? last(imag(x)) : Tensor()};
  return n ? resized(numbers, *n) : numbers;
}

static Tensor transformAlong(const Composed &call, const Tensor &x, int sign,
                             int64_t dim, std::optional<int64_t> n,
                             FourierNorm norm) {
  Complex numbers = along(call, x, dim, n);
  double scale = scaleOf(norm, sign > 0, numbers.re.dim(-1).value);
  Complex all = mapped(Transform(sign).of(numbers), [&](const Tensor &part) {
    return swapaxes(scaled(part, scale), dim, -1);
  });
  return complex(all.re, all.im);
}

static Tensor transformAlong(const Composed &call, int sign,
                             const FourierOptions &options) {
  return transformAlong(call, call.x, sign, call.axis(options.dim), options.n,
                        options.norm);
}

Tensor fft(const Arg &x, const FourierOptions &options) try {
  return transformAlong(Composed("fft", x), -1, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor ifft(const Arg &x, const FourierOptions &options) try {
  return transformAlong(Composed("ifft", x), 1, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor rfft(const Arg &x, const FourierOptions &options) try {
  Composed call("rfft", x);
  if (isComplex(call.x.dtype()))
    call.fail("the operand must be real");
  int64_t dim = call.axis(options.dim);
  Complex half =
      halfTransform(call, along(call, call.x, dim, options.n).re, options.norm);
  return complex(swapaxes(half.re, dim, -1), swapaxes(half.im, dim, -1));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor irfft(const Arg &x, const FourierOptions &options) try {
  Composed call("irfft", x);
  int64_t dim = call.axis(options.dim);
  Complex numbers = along(call, call.x, dim, {});
  if (!numbers.im.defined())
    numbers.im = zeros_like(numbers.re);
  return swapaxes(realNumbers(call, numbers, options.n, options.norm), dim, -1);
} catch (...) {
  detail::raiseExhausted(x.where);
}

static Tensor transformOver(const Composed &call, int sign,
                            const FourierAxes &axes, size_t lastAxes) {
  std::vector<int64_t> dims = axes.dim;
  size_t count = !axes.s.empty() ? axes.s.size()
                 : lastAxes      ? lastAxes
                                 : size_t(call.x.rank());
  if (dims.empty())
    for (size_t i = 0; i < count; ++i)
      dims.push_back(int64_t(i) - int64_t(count));
  if (!axes.s.empty() && axes.s.size() != dims.size())
    call.fail(
        fmt::format("{} lengths for {} axes", axes.s.size(), dims.size()));
  Tensor y = call.x;
  for (size_t i = 0; i < dims.size(); ++i) {
    std::optional<int64_t> n;
    if (!axes.s.empty() && axes.s[i] != -1)
      n = axes.s[i];
    y = transformAlong(call, y, sign, call.axis(dims[i]), n, axes.norm);
  }
  return isComplex(y.dtype()) ? y : y.to(complexOf(y.dtype()));
}

Tensor fftn(const Arg &x, const FourierAxes &axes) try {
  return transformOver(Composed("fftn", x), -1, axes, 0);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor ifftn(const Arg &x, const FourierAxes &axes) try {
  return transformOver(Composed("ifftn", x), 1, axes, 0);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor fft2(const Arg &x, const FourierAxes &axes) try {
  return transformOver(Composed("fft2", x), -1, axes, 2);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor ifft2(const Arg &x, const FourierAxes &axes) try {
  return transformOver(Composed("ifft2", x), 1, axes, 2);
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
