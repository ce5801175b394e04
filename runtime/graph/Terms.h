/// Terms: what rules of ops compute from types and attributes.
///
/// A dag of dialects/sinter names them (OpBase.td, Sinter_Term); the generated
/// rules call them. `x` is any node; results that borrow live as long as it.
#pragma once

#include "runtime/support/SmallVector.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Number.h"

#include <cstdint>
#include <span>

namespace sinter::graph::term {

using IntList = SmallVector<int64_t, 8>;
using DimList = SmallVector<Dim, 6>;

/// One integer, or several, as a list.
inline IntList ints(int64_t value) { return {value}; }
inline std::span<const int64_t> ints(std::span<const int64_t> values) {
  return values;
}

inline std::span<const Dim> shapeOf(const NodeRef &x) { return x->dims(); }
inline DType dtypeOf(const NodeRef &x) { return x->dtype(); }
/// What x is computed in: f32 for f16 and bf16, else its own dtype.
DType computeDType(const NodeRef &x);
/// x's dims with `axes` of size 1.
DimList keptShape(const NodeRef &x, std::span<const int64_t> axes);
/// x's dims and a last one of size 1.
DimList columnShape(const NodeRef &x);
/// Product of x's dims along `axes`.
Dim countOf(const NodeRef &x, std::span<const int64_t> axes);
/// x's dim along an axis.
inline Dim sizeOf(const NodeRef &x, int64_t axis) { return x->dims()[axis]; }
int64_t lastAxis(const NodeRef &x);
/// The last axis but one.
int64_t rowAxis(const NodeRef &x);
/// [..., t, s] of query[..., t, d] and key[..., s, d].
DimList scoresShape(const NodeRef &query, const NodeRef &key);
IntList allAxes(const NodeRef &x);
IntList inverseOf(std::span<const int64_t> permutation);
/// The permutation that exchanges x's last two axes.
IntList swapLastTwo(const NodeRef &x);
IntList minusOne(std::span<const int64_t> values);
IntList plusOne(std::span<const int64_t> values);
inline int64_t successor(int64_t value) { return value + 1; }
/// Where x ends inside a padding of it: the limits of the slice that takes it
/// out again.
DimList paddedLimits(const NodeRef &x, std::span<const int64_t> low,
                     std::span<const int64_t> interior);
/// x's dims without `axes`, and with a 1 at `axis`.
DimList squeezedShape(const NodeRef &x, std::span<const int64_t> axes);
DimList unsqueezedShape(const NodeRef &x, int64_t axis);
/// One axis of all of x's elements.
DimList flatShape(const NodeRef &x);
/// As many axes as `axes`, after x's.
IntList windowAxes(const NodeRef &x, std::span<const int64_t> axes);
/// Ones, as many as x has axes, and the number of indices at `axis`.
DimList alongShape(const NodeRef &x, const NodeRef &indices, int64_t axis);
/// x's dims, and the number of indices at `axis`.
DimList selectedShape(const NodeRef &x, const NodeRef &indices, int64_t axis);
/// The dims of the indices, and the length of a row of the table.
DimList embeddedShape(const NodeRef &table, const NodeRef &indices);
/// What makes up for elements that are dropped with probability p; 0 when none
/// is left.
inline double keptScale(double p) { return p < 1 ? 1 / (1 - p) : 0; }
/// The nearest number of an integer dtype to an integer; other numbers, and
/// those beside other dtypes, as they are.
Number within(DType dtype, Number number);
inline Number within(const NodeRef &x, Number number) {
  return within(x->dtype(), number);
}
inline bool negate(bool value) { return !value; }

} // namespace sinter::graph::term
