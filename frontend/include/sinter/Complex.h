/// Complex: tensors of complex numbers, c64 of two f32 and c128 of two f64.
///
/// The functions of Ops.h take them where it says so in docs/semantics.md; a
/// real operand beside them has no imaginary part. Gradients are those of
/// PyTorch: by the real part, plus i times by the imaginary part, of a real
/// loss.
#pragma once

#include <sinter/Creation.h>
#include <sinter/generated/functions/Complex.h>

#include <complex>

namespace sinter {

/// The real parts; a real tensor is its own.
Tensor real(const Arg &x);
/// The imaginary parts of complex numbers.
Tensor imag(const Arg &x);
/// re - i im; a real tensor is its own.
Tensor conj(const Arg &x);
/// The angle to the positive real axis, in [-pi, pi].
Tensor angle(const Arg &x);
/// abs (cos angle + i sin angle).
Tensor polar(const Arg &abs, const Arg &angle);
/// The parts of complex x [..] along a new last axis: [.., 2].
Tensor view_as_real(const Arg &x);
/// Complex numbers [..] from their parts x [.., 2].
Tensor view_as_complex(const Arg &x);

template <> constexpr DType dtype_of<std::complex<float>>() {
  return DType::c64;
}
template <> constexpr DType dtype_of<std::complex<double>>() {
  return DType::c128;
}

/// Leaves that copy complex numbers; without a shape they have one axis.
template <typename T>
Tensor tensor(const std::vector<std::complex<T>> &values, const Dims &shape,
              Options options = {},
              std::source_location where = std::source_location::current()) {
  return tensor(std::span<const std::complex<T>>(values), shape, options,
                where);
}
/// The same; `{}` is the shape of a number.
template <typename T>
Tensor tensor(const std::vector<std::complex<T>> &values,
              std::initializer_list<Dim> shape, Options options = {},
              std::source_location where = std::source_location::current()) {
  return tensor(values, Dims(shape), options, where);
}
template <typename T>
Tensor tensor(const std::vector<std::complex<T>> &values,
              std::source_location where = std::source_location::current()) {
  return tensor(values, Dims{Dim(int64_t(values.size()))}, {}, where);
}

} // namespace sinter
