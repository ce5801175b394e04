/// What rules of several families share.
#pragma once

#include "frontend/import/onnx/Call.h"

#include <sinter/BasicOps.h>
#include <sinter/Convolution.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Linalg.h>
#include <sinter/Normalization.h>
#include <sinter/Pooling.h>
#include <sinter/Shaping.h>

namespace sinter::onnx {

/// x with axes that are numbers; asks for numbers where some are symbolic.
std::vector<int64_t> numbersOf(const Tensor &x);

/// x and a size of some axis, which may be counted: a number for others.
Tensor plusSize(const Tensor &x, Dim size);
Tensor timesSize(const Tensor &x, Dim size);

/// The largest number of a file that is multiplied by another one before it is
/// known to fit a tensor: such products do not overflow.
inline constexpr int64_t mostFactor = (int64_t(1) << 31) - 1;

/// A rule of one function of one tensor.
template <Tensor (*function)(const Arg &)> void unaryRule(Call &call) {
  call.give(function(call.tensor(0)));
}

/// Operand 1, as it meets operand 0, which is x. Before opset 7 attributes say
/// whether and where it is broadcast.
Tensor rightOperand(Call &call, const Tensor &x);

/// f16 and bf16 as f32; others as they are.
Tensor widened(const Tensor &x);
/// Any dtype as a float: integers and bool become f32.
Tensor asFloat(const Tensor &x);

/// Brought into the range of an integer dtype after rounding to even.
Tensor saturated(const Tensor &x, DType dtype);
/// Rounded to even, moved by a zero point, and brought into the range of its
/// integer dtype.
Tensor requantized(const Tensor &x, const Tensor &zero);
/// Whether there is no such operand, or it is known to be zeros: those of
/// quantized weights mostly are.
bool isZero(const Call &call, size_t input);
/// x in i32 less its zero point, an operand: one number, or one for each index
/// of an axis with so many behind it.
Tensor lessZero(Call &call, const Tensor &x, size_t zero, int64_t behind = 0);
/// x in another dtype as Cast brings it there. `saturates` is about floats of a
/// byte: what is too large, and infinity, becomes the largest number.
Tensor converted(Call &call, const Tensor &x, DType dtype, bool saturates);
/// The least and largest number of an integer dtype.
std::pair<double, double> rangeOf(DType dtype);

/// u8 of a scale and a zero point.
struct Quantized {
  Tensor codes, scale, zero;
};
/// x with the scale and the zero point of its own range and 0.
Quantized dynamicallyQuantized(const Tensor &x);

/// The bits of x, which this evaluates, as elements of another dtype of the
/// same width.
Tensor bitsAs(const Tensor &x, DType dtype);

/// The axes of x from `axis` on as one, and those before it as one.
Tensor asMatrix(Call &call, const Tensor &x, int64_t axis);

/// x[starts : limits] along one axis, of dims that may be symbolic.
Tensor sliceAxis(const Tensor &x, int64_t axis, Dim start, Dim limit,
                 int64_t step = 1);

/// A tensor of the shape [1, .., n, .., 1] with n at `axis`.
Tensor alongAxis(const Tensor &vector, int64_t axis, int64_t rank);

/// Elements that are made on the host. Their axes are never symbolic, however
/// many sizes one node makes.
Tensor hostReals(const std::vector<double> &reals, const Dims &dims,
                 DType dtype, DeviceId device);
Tensor hostIntegers(const std::vector<int64_t> &integers, const Dims &dims,
                    DeviceId device);

} // namespace sinter::onnx
