/// Fourier transforms.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/Fourier.h>

#include <numeric>

namespace sinter::onnx {

/// Cut, or filled with 0, to a length along an axis.
static Tensor ofLength(const Tensor &x, int64_t axis, int64_t length) {
  int64_t more = length - fixed(x.dim(axis));
  return more == 0 ? x : pad(x, {{axis, 0, more}});
}

/// The first n / 2 + 1 of n numbers of a transform.
static Tensor firstHalf(const Tensor &x, int64_t axis) {
  return sliceAxis(x, axis, 0, fixed(x.dim(axis)) / 2 + 1);
}

/// All of the numbers whose first half this is: the others are their
/// conjugates, in reverse order.
static Tensor bothHalves(Call &call, const Tensor &half, int64_t length) {
  int64_t axis = half.rank() - 2, given = fixed(half.dim(axis));
  if (given != length / 2 + 1)
    call.unsupported("an inverse of " + std::to_string(given) + " of " +
                     std::to_string(length) + " numbers");
  int64_t missing = length - given;
  if (missing == 0)
    return half;
  Tensor mirrored = flip(sliceAxis(half, axis, 1, 1 + missing), {axis});
  Tensor real = narrow(mirrored, -1, 0, 1),
         imaginary = narrow(mirrored, -1, 1, 1);
  return concat({half, concat({real, 0 - imaginary}, -1)}, axis);
}

/// Along one axis of x, whose last axis holds a real number or a complex one.
static void dftRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.opset() < 20 ? call.integer("axis")
                 : call.has(2)     ? call.integer(2, "axis")
                                   : -2;
  axis = call.axisOf(axis, x.rank());
  int64_t parts = fixed(x.dim(-1)), last = x.rank() - 1;
  if (axis == last || parts < 1 || parts > 2)
    call.invalid("axis " + std::to_string(axis) + " of numbers with " +
                 std::to_string(parts) + " parts");
  bool isInverse = call.flag("inverse"), isHalf = call.flag("onesided");
  int64_t length = call.has(1)           ? call.integer(1, "dft_length")
                   : isInverse && isHalf ? 2 * (fixed(x.dim(axis)) - 1)
                                         : fixed(x.dim(axis));
  if (length < 1)
    call.invalid("a transform of " + std::to_string(length) + " numbers");
  DType dtype = x.dtype();
  x = widened(x);
  if (parts == 1)
    x = pad(x, {{last, 0, 1}});
  x = swapaxes(x, axis, last - 1);
  x = isInverse && isHalf ? bothHalves(call, x, length)
                          : ofLength(x, last - 1, length);
  Tensor y = isInverse ? ifft(x) : fft(x);
  if (isHalf && !isInverse)
    y = firstHalf(y, last - 1);
  if (isHalf && isInverse)
    y = narrow(y, -1, 0, 1);
  call.give(swapaxes(y, axis, last - 1).to(dtype));
}

/// Frames of the signal [batch, length, 1 or 2], each transformed.
static void stftRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t step = call.integer(1, "frame_step");
  if (x.rank() == 2)
    x = unsqueeze(x, 2);
  int64_t parts = fixed(x.dim(-1));
  int64_t length = call.has(3)   ? call.integer(3, "frame_length")
                   : call.has(2) ? fixed(call.tensor(2).dim(0))
                                 : 0;
  if (x.rank() != 3 || parts < 1 || parts > 2 || step < 1 || length < 1)
    call.invalid("the frames do not fit the signal");
  // [batch, frames, parts, length], then the parts last.
  Tensor frames = permute(unfold(x, 1, length, step), {0, 1, 3, 2});
  if (call.has(2))
    frames = frames * alongAxis(call.tensor(2), 2, 4);
  if (parts == 1)
    frames = pad(frames, {{3, 0, 1}});
  Tensor y = fft(frames);
  call.give(call.flag("onesided") ? firstHalf(y, 2) : y);
}

static constexpr Operator rows[] = {
    {"DFT", 17, 19, "axis:int=1 inverse:int=0 onesided:int=0", dftRule},
    {"DFT", 20, 0, "inverse:int=0 onesided:int=0", dftRule},
    {"STFT", 17, 0, "onesided:int=1", stftRule},
};

std::span<const Operator> signalRows() { return rows; }

} // namespace sinter::onnx
