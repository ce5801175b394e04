/// Shaping: functions that arrange elements, written in the views of Ops.h.
#pragma once

#include <sinter/Tensor.h>

#include <vector>

namespace sinter {

/// Tensors of one shape along a new axis, which counts in the result.
Tensor stack(std::span<const Tensor> xs, int64_t axis = 0,
             std::source_location where = std::source_location::current());
inline Tensor
stack(std::initializer_list<Tensor> xs, int64_t axis = 0,
      std::source_location where = std::source_location::current()) {
  return stack(std::span<const Tensor>(xs.begin(), xs.size()), axis, where);
}

/// Parts of `size` elements along an axis; the last may be shorter.
std::vector<Tensor> split(const Arg &x, int64_t size, int64_t axis = 0);
/// Parts of the given sizes, which add up to the axis' length.
std::vector<Tensor> split(const Arg &x, const std::vector<int64_t> &sizes,
                          int64_t axis = 0);
/// At most `chunks` parts of equal size along an axis; the last may be shorter.
std::vector<Tensor> chunk(const Arg &x, int64_t chunks, int64_t axis = 0);
/// The elements along an axis, without it.
std::vector<Tensor> unbind(const Arg &x, int64_t axis = 0);

/// `length` elements from `start` on along an axis: a start as in `slice`.
Tensor narrow(const Arg &x, int64_t axis, const Arg &start, Dim length);
/// One element along an axis, without it; -1 is the last. An index as a start
/// in `slice`.
Tensor select(const Arg &x, int64_t axis, const Arg &index);

/// The axes from `start` to `end` as one; rank 0 becomes one element.
Tensor flatten(const Arg &x, int64_t start = 0, int64_t end = -1);
/// One axis as several; one of the dims may be -1.
Tensor unflatten(const Arg &x, int64_t axis, const Dims &dims);
/// Axes in another order: axis d of the result is axis order[d] of x.
Tensor permute(const Arg &x, const Axes &order);
/// The two axes exchanged.
Tensor swapaxes(const Arg &x, int64_t first, int64_t second);
/// Axes moved to other places; the rest keep their order.
Tensor movedim(const Arg &x, const Axes &from, const Axes &to);
/// x in a shape that it broadcasts to; -1 keeps a dim.
Tensor expand(const Arg &x, const Dims &shape);

/// x repeated counts[d] times along each axis; more counts than axes stand for
/// new leading axes.
Tensor repeat(const Arg &x, const Axes &counts);
/// Every element `count` times along an axis.
Tensor repeat_interleave(const Arg &x, int64_t count, int64_t axis);
/// Elements moved along axes; what leaves at the end comes in at the start.
Tensor roll(const Arg &x, const Axes &shifts, const Axes &axes);

/// Of the last two axes, the elements on and below a diagonal, or on and above
/// it, and 0 elsewhere. Diagonal 1 is the one above the main one.
Tensor tril(const Arg &x, int64_t diagonal = 0);
Tensor triu(const Arg &x, int64_t diagonal = 0);
/// The elements on a diagonal of two axes, as the last axis.
Tensor diagonal(const Arg &x, int64_t offset = 0, int64_t axis1 = 0,
                int64_t axis2 = 1);
/// Matrices with the last axis on a diagonal, and 0 elsewhere.
Tensor diag_embed(const Arg &x, int64_t offset = 0);
/// Sum of a matrix' diagonal.
Tensor trace(const Arg &x);

/// x with `values` in the place of x[starts : limits : steps], as in `slice`.
Tensor slice_assign(const Arg &x, const Arg &values, const Axes &starts,
                    const Dims &limits, const Axes &steps);
/// x with `values`, which have as many axes, in the place of as many elements
/// from `starts` on: `cache = slice_assign(cache, key, {0, position, 0})`.
Tensor slice_assign(const Arg &x, const Arg &values,
                    const std::vector<Arg> &starts);

/// How `pad` fills what it adds.
enum class PadMode : uint8_t {
  constant,  ///< with a number
  reflect,   ///< with what mirrors at the border, which is not repeated
  replicate, ///< with the border
  circular,  ///< with what stands at the other end
};
/// What is added at both ends of one axis; a negative number takes away.
struct Padding {
  int64_t axis = 0;
  int64_t before = 0;
  int64_t after = 0;
};
/// x with more elements at the ends of axes.
Tensor pad(const Arg &x, const std::vector<Padding> &paddings,
           PadMode mode = PadMode::constant, double value = 0);

/// Each vector along an axis of its own, in the shape of all of them. With
/// `xy` the first two axes are exchanged.
std::vector<Tensor>
meshgrid(std::span<const Tensor> xs, bool xy = false,
         std::source_location where = std::source_location::current());

/// [..., c r r, h, w] as [..., c, h r, w r], and back.
Tensor pixel_shuffle(const Arg &x, int64_t factor);
Tensor pixel_unshuffle(const Arg &x, int64_t factor);
/// Every `step`-th window of `size` elements along an axis; windows stand in a
/// new last axis.
Tensor unfold(const Arg &x, int64_t axis, int64_t size, int64_t step);

struct PatchOptions {
  Axes dilation = 1, padding = 0, stride = 1;
};
/// The windows of images [n, c, h, w] as columns: [n, c * kernel, positions].
Tensor im2col(const Arg &x, const Axes &kernel,
              const PatchOptions &options = {});
/// Sums of columns at the places that im2col takes them from.
Tensor col2im(const Arg &columns, const Axes &size, const Axes &kernel,
              const PatchOptions &options = {});

} // namespace sinter
