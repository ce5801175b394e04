/// Functions of numbers and reductions, written in the ops of Ops.h.
#pragma once

#include <sinter/Axes.h>
#include <sinter/Tensor.h>

#include <optional>
#include <utility>
#include <vector>

namespace sinter {

/// How `div` makes an integer of a quotient.
enum class Rounding : uint8_t {
  none,  ///< it does not: as `div`
  trunc, ///< toward zero
  floor, ///< down: as `floor_divide`
};
/// lhs / rhs, rounded; with a rounding, integers stay integers.
Tensor div(const Arg &lhs, const Arg &rhs, Rounding rounding);

/// x with numbers in the place of NaN and of infinities: by default 0, and the
/// largest and the least number of x's dtype.
Tensor nan_to_num(const Arg &x, double nan = 0,
                  std::optional<double> posinf = {},
                  std::optional<double> neginf = {});
/// log(x / (1 - x)); x is brought into [eps, 1 - eps] first, if given.
Tensor logit(const Arg &x, std::optional<double> eps = {});
/// start + weight * (end - start).
Tensor lerp(const Arg &start, const Arg &end, const Arg &weight);
/// x + value * a * b, and x + value * a / b.
Tensor addcmul(const Arg &x, const Arg &a, const Arg &b, double value = 1);
Tensor addcdiv(const Arg &x, const Arg &a, const Arg &b, double value = 1);
/// x, or the bound where x is below it, or above it.
Tensor clamp_min(const Arg &x, double min);
Tensor clamp_max(const Arg &x, double max);
/// x where the mask does not hold, and `value` where it does.
Tensor masked_fill(const Arg &x, const Arg &mask, const Arg &value);
/// Whether |lhs - rhs| <= atol + rtol * |rhs|; equal infinities are close.
Tensor isclose(const Arg &lhs, const Arg &rhs, double rtol = 1e-5,
               double atol = 1e-8, bool equal_nan = false);

/// Elements, and where they stand in x along an axis (i64).
struct Extremes {
  Tensor values;
  Tensor indices;
};
/// The largest or smallest elements along an axis; the first of several, to
/// which the gradient goes.
Extremes max(const Arg &x, int64_t axis, bool keepdims = false);
Extremes min(const Arg &x, int64_t axis, bool keepdims = false);
/// The largest or smallest element up to each position along an axis; the last
/// of several.
Extremes cummax(const Arg &x, int64_t axis);
Extremes cummin(const Arg &x, int64_t axis);
/// The middle element along an axis in order; the lower of two.
Extremes median(const Arg &x, int64_t axis = -1, bool keepdims = false);

/// Square root of the variance over axes; see `var`.
Tensor std(const Arg &x, const Axes &axes = {}, double correction = 1,
           bool keepdims = false);
/// The variance and the mean over axes; see `var`.
std::pair<Tensor, Tensor> var_mean(const Arg &x, const Axes &axes = {},
                                   double correction = 1,
                                   bool keepdims = false);
/// Covariances of the rows of [variables, samples]: [variables, variables].
Tensor cov(const Arg &x, double correction = 1);
/// The p-norm over axes: (sum |x|^p)^(1/p). Of p = 0 the number of elements
/// that are not 0; of an infinity the largest or smallest |x|.
Tensor norm(const Arg &x, double p = 2, const Axes &axes = {},
            bool keepdims = false);

/// Rows of 0 with a 1 at each index; i64.
Tensor one_hot(const Arg &indices, int64_t classes);

/// How `scatter_reduce` folds updates into an element.
enum class ScatterReduce : uint8_t { sum, prod, mean, amax, amin };
/// x with updates folded in at positions along an axis. Indices and updates
/// have one shape, which is no longer than x's along other axes. Without
/// `include_self` an element that has updates is made of them alone.
Tensor scatter_reduce(const Arg &x, int64_t axis, const Arg &indices,
                      const Arg &updates, ScatterReduce reduce,
                      bool include_self = true);
/// x with slices of `source` added at positions along an axis: indices[i] gets
/// alpha * source[.., i, ..].
Tensor index_add(const Arg &x, int64_t axis, const Arg &indices,
                 const Arg &source, double alpha = 1);
/// The elements at positions in row-major order, in the indices' shape.
/// Negative positions count from the end. A bool tensor of x's shape is a mask:
/// the elements where it holds (which evaluates it).
Tensor take(const Arg &x, const Arg &indices);
/// The elements x[i0, i1, ..., :], as in NumPy. Index tensors stand for the
/// first axes and broadcast to one shape, which comes in the place of their
/// axes; in front where these are apart. An empty Tensor takes all of its axis.
/// A bool tensor is a mask of as many axes as it has, and stands for the
/// positions where it holds (which evaluates it). Negative indices count from
/// the end; floats are an error.
Tensor index(const Arg &x, const std::vector<Tensor> &indices);
/// x with `values` at those places, or added to what is there; several at one
/// place are added in order.
Tensor index_put(const Arg &x, const std::vector<Tensor> &indices,
                 const Arg &values, bool accumulate = false);

/// Where x is not 0, in row-major order: [count, rank], i64. The count is read
/// from the device, so this evaluates x; in a function that is recorded for a
/// file the size stays open, and each run counts.
Tensor nonzero(const Arg &x);
/// The elements where the mask holds, in row-major order; evaluates the mask,
/// as `nonzero` does.
Tensor masked_select(const Arg &x, const Arg &mask);
/// The different elements of a tensor, and where they stood in it.
struct UniqueElements {
  Tensor values;  ///< [count], or x with `count` slices along the axis
  Tensor indices; ///< of the first that is equal to each: [count], i64
  Tensor inverse; ///< which of the values an element of x is: i64
  Tensor counts;  ///< how often each stands in x: [count], i64
};
/// The different elements of x, or with an axis the different slices along it,
/// in ascending order, or without `sorted` in the order in which they are first
/// met. `inverse` has x's shape, or one axis where one is named. A NaN is equal
/// to nothing. The count is read from the device, as of `nonzero`. Slices are
/// put in order by one sort for each of their elements.
UniqueElements unique(const Arg &x, std::optional<int64_t> axis = {},
                      bool sorted = true);
/// How often each of 0, 1, ... stands in a vector, up to its largest element
/// but `minlength` numbers at least; i64. Evaluates x.
Tensor bincount(const Arg &x, int64_t minlength = 0);
/// How many elements stand in each of `bins` equal parts of [min, max]; others
/// are not counted. In x's dtype, f32 for integers.
Tensor histc(const Arg &x, int64_t bins, double min, double max);

/// Where each value belongs in a sorted sequence: the number of elements that
/// are less, or with `right`, not greater; i64. The sequence is a vector, or
/// has the same leading dims as the values.
Tensor searchsorted(const Arg &sequence, const Arg &values, bool right = false);

} // namespace sinter
