/// Shape rules: from operand types and attributes to a result's type.
///
/// Recording and the verifier of the `sinter` dialect call the same functions.
/// A record of an op names its rule; the rules know no op but by its name.
#pragma once

#include "runtime/support/SmallVector.h"
#include "sinter/runtime/DType.h"
#include "sinter/runtime/Dim.h"
#include "sinter/runtime/Number.h"
#include "sinter/runtime/OpTable.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sinter/generated/Choices.h.inc"

namespace sinter::graph {

/// The type of an operand; the dims are borrowed.
struct TensorType {
  DType dtype = DType::f32;
  std::span<const Dim> dims;
};

/// What a rule infers.
struct InferredType {
  DType dtype = DType::f32;
  SmallVector<Dim, 6> dims;
  operator TensorType() const { return {dtype, dims}; }
};

/// Collects the equalities between dims with different expressions that a rule
/// relied on. They become guards of the program.
struct GuardSink {
  /// In the compiler the values of symbolic dims are not known: two dims of
  /// which one is symbolic count as equal, and are collected.
  bool valuesUnknown = false;
  std::vector<std::pair<Dim, Dim>> equalities;
};

/// What every rule is given. Without `guards`, those of the thread's GuardScope
/// count, if there is one.
struct ShapeContext {
  OpId op;
  std::span<const TensorType> operands;
  GuardSink *guards = nullptr;
};

/// Whether two dims are equal: by value, and collected in the context's sink
/// when their expressions differ (or when values are unknown).
bool sameDim(const ShapeContext &context, Dim a, Dim b);

/// Whether two shapes have equal values and expressions.
inline bool identicalDims(std::span<const Dim> lhs, std::span<const Dim> rhs) {
  if (lhs.size() != rhs.size())
    return false;
  for (size_t i = 0; i < lhs.size(); ++i)
    if (lhs[i].value != rhs[i].value || lhs[i].expr != rhs[i].expr)
      return false;
  return true;
}

/// `f32[4,8]`
std::string typeString(const TensorType &type);
/// An invalid_argument error of the context's op with its operands' types in
/// `shapes`: `MNEMONIC: WHAT: f32[4,8] x f32[16,2]`.
ErrorInfo shapeError(const ShapeContext &context, std::string what);

/// A set of dtypes: bit N is the dtype of code N.
using DTypeSet = uint32_t;
constexpr DTypeSet dtypeBit(DType type) {
  return DTypeSet(1) << static_cast<unsigned>(type);
}
/// Fails, naming op and dtype, unless operand `index` has one of the dtypes:
/// `exp: operand x must be f64, f32, f16 or bf16: i32[4]`. The kind is
/// `unsupported` for dtypes that nothing computes with.
Status checkDType(const ShapeContext &context, unsigned index,
                  DTypeSet allowed);

/// An axis in [-rank, rank) as one in [0, rank), or an error naming the op,
/// the axis and the operands.
Result<int64_t> normalizeAxis(const ShapeContext &context, int64_t axis,
                              size_t rank);
/// Axes as a sorted set; twice the same is an error.
Result<SmallVector<int64_t, 8>> normalizeAxes(const ShapeContext &context,
                                              std::span<const int64_t> axes,
                                              size_t rank);
/// Axes in the given order (a permutation is checked by its rule).
Result<SmallVector<int64_t, 8>>
normalizePermutation(const ShapeContext &context, std::span<const int64_t> axes,
                     size_t rank);

/// The rules. Axes arrive normalized. Operand counts are checked before.
namespace shape {

/// All operands of one dtype and shape; so is the result.
Result<InferredType> elementwise(const ShapeContext &context);
/// All operands of one dtype, and of the first one's shape or of rank 0; the
/// first one's type.
Result<InferredType> withNumbers(const ShapeContext &context);
/// Two operands as in elementwise; the result is bool.
Result<InferredType> compare(const ShapeContext &context);
/// A bool condition and two operands, all of one shape.
Result<InferredType> where(const ShapeContext &context);
/// The first operand's shape in another dtype.
Result<InferredType> cast(const ShapeContext &context, DType dtype);
/// The first operand's type.
Result<InferredType> sameAsFirst(const ShapeContext &context);
/// The same, for a derivative's order in [0, 20].
Result<InferredType> polygamma(const ShapeContext &context, int64_t order);

/// Axes of size 1 removed.
Result<InferredType> squeeze(const ShapeContext &context,
                             std::span<const int64_t> axes);
/// A new axis of size 1; `axis` counts in the result.
Result<InferredType> unsqueeze(const ShapeContext &context, int64_t axis);
/// As many elements as the operand. A dim of value -1 stands for what is left
/// over; it is stored resolved.
Result<InferredType> reshape(const ShapeContext &context,
                             std::span<const Dim> shape);
Result<InferredType> transpose(const ShapeContext &context,
                               std::span<const int64_t> permutation);
/// Aligned at the last axis; dims of size 1 and missing leading dims expand. A
/// symbolic dim of value 1 that expands is guarded to be 1. -1 keeps a dim; it
/// is stored resolved.
Result<InferredType> broadcast(const ShapeContext &context,
                               std::span<const Dim> shape);
/// out[d] = ceilDiv(limits[d] - starts[d], steps[d]), 0 <= starts <= limits <=
/// dims, steps > 0.
Result<InferredType> slice(const ShapeContext &context,
                           std::span<const int64_t> starts,
                           std::span<const Dim> limits,
                           std::span<const int64_t> steps);
/// A user's kernel, of which one text at least is there: `extents` are the
/// operands' dims one after the other, which they are guarded to be; `grid` and
/// `block` have three positive numbers that CUDA devices take.
Result<InferredType>
customOp(const ShapeContext &context, std::string_view source,
         std::string_view glsl, std::string_view spirv,
         std::string_view function, std::span<const int64_t> extents,
         std::span<const int64_t> grid, std::span<const int64_t> block,
         int64_t sharedBytes, DType dtype, std::span<const int64_t> shape);

/// One dtype, equal dims but along `axis`.
Result<InferredType> concat(const ShapeContext &context, int64_t axis);
/// `shape` is the result's; low + (dim - 1) * (interior + 1) + 1 must fit.
Result<InferredType> pad(const ShapeContext &context,
                         std::span<const int64_t> low,
                         std::span<const Dim> shape,
                         std::span<const int64_t> interior);
/// x and a start of rank 0; x's dims, and `size` along the axis, which is no
/// larger than x's dim, or no smaller.
Result<InferredType> dynamicSlice(const ShapeContext &context, int64_t axis,
                                  Dim size);
Result<InferredType> dynamicPad(const ShapeContext &context, int64_t axis,
                                Dim size);

/// out[axes[j]] windows of an axis, and the sizes after x's dims; there is at
/// least one window.
Result<InferredType> window(const ShapeContext &context,
                            std::span<const int64_t> axes,
                            std::span<const int64_t> sizes,
                            std::span<const int64_t> strides,
                            std::span<const int64_t> dilations);
/// x has the windows of `shape`; the result has `shape` and then the sizes.
Result<InferredType>
unwindow(const ShapeContext &context, std::span<const Dim> shape,
         std::span<const int64_t> axes, std::span<const int64_t> sizes,
         std::span<const int64_t> strides, std::span<const int64_t> dilations);

/// Axes removed, or kept with size 1. An empty axis is an error.
Result<InferredType> reduce(const ShapeContext &context,
                            std::span<const int64_t> axes, bool keepdims);
/// As reduce for a sum: empty axes are allowed; bool and integers give i64.
Result<InferredType> sum(const ShapeContext &context,
                         std::span<const int64_t> axes, bool keepdims);
/// As reduce, but that empty axes are allowed; the result is bool, or i64.
Result<InferredType> quantifier(const ShapeContext &context,
                                std::span<const int64_t> axes, bool keepdims);
Result<InferredType> count(const ShapeContext &context,
                           std::span<const int64_t> axes, bool keepdims);
/// One axis removed, or kept with size 1; the result is i64.
Result<InferredType> argmax(const ShapeContext &context, int64_t axis,
                            bool keepdims);
/// lhs[..., m, k], rhs[..., k, n], equal leading dims, one dtype.
Result<InferredType> matmul(const ShapeContext &context);
/// x and i32 or i64 indices of the same rank, equal dims but along `axis`.
Result<InferredType> gather(const ShapeContext &context, int64_t axis);
/// x, and indices and updates of one shape; x's type.
Result<InferredType> scatter(const ShapeContext &context, int64_t axis);
/// x's shape; bool and integers give i64.
Result<InferredType> prefix(const ShapeContext &context, int64_t axis);
/// x with `count` elements along the axis, of at least as many.
Result<InferredType> sorted(const ShapeContext &context, int64_t axis,
                            Dim count);
/// As sorted, in i64.
Result<InferredType> sortedPositions(const ShapeContext &context, int64_t axis,
                                     Dim count);

/// x and i32 or i64 indices of rank 1, which replace x's `axis`.
Result<InferredType> indexSelect(const ShapeContext &context, int64_t axis);
/// weight[v, d] and i32 or i64 indices of any shape: their dims, and d.
Result<InferredType> embedding(const ShapeContext &context);
/// x, and key and counter of rank 0 in i64; x's type. 0 <= p <= 1.
Result<InferredType> dropout(const ShapeContext &context, double p);

/// No tensor operand; non-negative dims.
Result<InferredType> source(const ShapeContext &context,
                            std::span<const Dim> shape, DType dtype);
/// The same of a real number, also in a complex dtype.
Result<InferredType> full(const ShapeContext &context,
                          std::span<const Dim> shape, DType dtype);
/// Rank 0.
Result<InferredType> scalar(const ShapeContext &context, DType dtype);
/// Key and counter operands of rank 0 in i64; a float dtype.
Result<InferredType> random(const ShapeContext &context,
                            std::span<const Dim> shape, DType dtype);
/// x's type; the axis is not empty.
Result<InferredType> softmax(const ShapeContext &context, int64_t axis);
/// x[..., n], weight[n], bias[n] of one dtype; x's type.
Result<InferredType> layerNorm(const ShapeContext &context);
/// logits[n, c], i32 or i64 labels[n]; rank 0 in the logits' dtype.
Result<InferredType> crossEntropy(const ShapeContext &context);

/// An image and weight[m, n, sizes...]: x has n * groups channels, the result
/// m, and as many positions as x has windows.
Result<InferredType>
conv(const ShapeContext &context, std::span<const int64_t> sizes,
     std::span<const int64_t> strides, std::span<const int64_t> low,
     std::span<const int64_t> high, std::span<const int64_t> dilations,
     int64_t groups, Layout layout);
/// As conv, from the result's side: x has m channels, the result n * groups
/// and `space`, which has x's positions as windows or more.
Result<InferredType>
convTranspose(const ShapeContext &context, std::span<const int64_t> sizes,
              std::span<const int64_t> strides, std::span<const int64_t> low,
              std::span<const int64_t> high, std::span<const int64_t> dilations,
              int64_t groups, std::span<const Dim> space, Layout layout);
/// An image and one that stands at its first windows: a weight.
Result<InferredType>
convWeight(const ShapeContext &context, std::span<const int64_t> sizes,
           std::span<const int64_t> strides, std::span<const int64_t> low,
           std::span<const int64_t> high, std::span<const int64_t> dilations,
           int64_t groups, Layout layout);
/// As many positions as the padded image has windows.
Result<InferredType> pool(const ShapeContext &context,
                          std::span<const int64_t> sizes,
                          std::span<const int64_t> strides,
                          std::span<const int64_t> low,
                          std::span<const int64_t> high,
                          std::span<const int64_t> dilations, Layout layout);
Result<InferredType>
avgPool(const ShapeContext &context, std::span<const int64_t> sizes,
        std::span<const int64_t> strides, std::span<const int64_t> low,
        std::span<const int64_t> high, std::span<const int64_t> dilations,
        std::span<const int64_t> countedLow,
        std::span<const int64_t> countedHigh, double divisor, Layout layout);
/// query[..., t, d], key[..., s, d], value[..., s, e] and a mask [..., t, s] or
/// of rank 0, of one dtype: [..., t, e].
Result<InferredType> attention(const ShapeContext &context);
/// As attention, of query, key, mask, value.
Result<InferredType> attentionValue(const ShapeContext &context);
/// Query, key, mask: [..., t, 1] in the dtype of sums.
Result<InferredType> attentionRows(const ShapeContext &context);
/// Query, key, mask, value, grad [..., t, e], and logsumexp and delta
/// [..., t, 1]: the type of query, key or value.
Result<InferredType> attentionQueryGradient(const ShapeContext &context);
Result<InferredType> attentionKeyGradient(const ShapeContext &context);
Result<InferredType> attentionValueGradient(const ShapeContext &context);

/// A loop's token: bool[length].
Result<InferredType> scanIndex(const ShapeContext &context, Dim length);
/// A token, and what a carry has at first: its type.
Result<InferredType> scanCarry(const ShapeContext &context);
/// A token, and a tensor whose first axis is as long: the other axes.
Result<InferredType> scanSlice(const ShapeContext &context);
/// A token, then carries and their next values, of equal types, then anything:
/// the token's type.
Result<InferredType> scanEnd(const ShapeContext &context, int64_t carries,
                             int64_t condition);
/// A token and a carry: its type.
Result<InferredType> scanLast(const ShapeContext &context);
/// A token and a value of each step: the length, and the value's axes.
Result<InferredType> scanStack(const ShapeContext &context);

} // namespace shape
} // namespace sinter::graph
