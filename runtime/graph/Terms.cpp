/// Terms over dims, axes and dtypes.
#include "runtime/graph/Terms.h"

#include <algorithm>

namespace sinter::graph::term {

Number within(DType dtype, Number number) {
  if (number.isReal || !isInteger(dtype))
    return number;
  // A Number has no more than an i64 has, though u64 has more.
  unsigned bits = std::min(valueBits(dtype) - isSigned(dtype), 63U);
  int64_t most = int64_t((uint64_t(1) << bits) - 1);
  int64_t least = isSigned(dtype) ? -most - 1 : 0;
  return std::clamp(number.integer, least, most);
}

DType computeDType(const NodeRef &x) {
  DType dtype = x->dtype();
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

DimList keptShape(const NodeRef &x, std::span<const int64_t> axes) {
  DimList shape(x->dims());
  for (int64_t axis : axes)
    shape[axis] = Dim(1);
  return shape;
}

DimList columnShape(const NodeRef &x) {
  DimList shape(x->dims());
  shape.push_back(Dim(1));
  return shape;
}

Dim countOf(const NodeRef &x, std::span<const int64_t> axes) {
  Dim count(1);
  for (int64_t axis : axes)
    count = count * x->dims()[axis];
  return count;
}

int64_t lastAxis(const NodeRef &x) { return int64_t(x->rank()) - 1; }

int64_t rowAxis(const NodeRef &x) { return int64_t(x->rank()) - 2; }

DimList scoresShape(const NodeRef &query, const NodeRef &key) {
  DimList shape(query->dims());
  shape.back() = key->dims()[rowAxis(key)];
  return shape;
}

IntList allAxes(const NodeRef &x) {
  IntList axes;
  for (unsigned axis = 0; axis < x->rank(); ++axis)
    axes.push_back(axis);
  return axes;
}

IntList inverseOf(std::span<const int64_t> permutation) {
  IntList inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[permutation[i]] = int64_t(i);
  return inverse;
}

IntList swapLastTwo(const NodeRef &x) {
  IntList axes = allAxes(x);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return axes;
}

IntList minusOne(std::span<const int64_t> values) {
  IntList result(values);
  for (int64_t &value : result)
    --value;
  return result;
}

IntList plusOne(std::span<const int64_t> values) {
  IntList result(values);
  for (int64_t &value : result)
    ++value;
  return result;
}

DimList paddedLimits(const NodeRef &x, std::span<const int64_t> low,
                     std::span<const int64_t> interior) {
  DimList limits;
  for (size_t i = 0; i < low.size(); ++i) {
    Dim dim = x->dims()[i];
    // An empty axis ends where it begins.
    if (dim.isConstant() && dim.value == 0)
      limits.push_back(Dim(low[i]));
    else
      limits.push_back((dim - Dim(1)) * Dim(interior[i] + 1) + Dim(low[i] + 1));
  }
  return limits;
}

DimList squeezedShape(const NodeRef &x, std::span<const int64_t> axes) {
  DimList shape;
  for (unsigned axis = 0; axis < x->rank(); ++axis)
    if (!std::ranges::count(axes, int64_t(axis)))
      shape.push_back(x->dims()[axis]);
  return shape;
}

DimList unsqueezedShape(const NodeRef &x, int64_t axis) {
  DimList shape(x->dims().first(axis));
  shape.push_back(Dim(1));
  shape.append(x->dims().subspan(axis));
  return shape;
}

DimList flatShape(const NodeRef &x) { return {countOf(x, allAxes(x))}; }

IntList windowAxes(const NodeRef &x, std::span<const int64_t> axes) {
  IntList result;
  for (size_t i = 0; i < axes.size(); ++i)
    result.push_back(int64_t(x->rank() + i));
  return result;
}

DimList alongShape(const NodeRef &x, const NodeRef &indices, int64_t axis) {
  DimList shape;
  for (unsigned i = 0; i < x->rank(); ++i)
    shape.push_back(int64_t(i) == axis ? indices->dims()[0] : Dim(1));
  return shape;
}

DimList selectedShape(const NodeRef &x, const NodeRef &indices, int64_t axis) {
  DimList shape(x->dims());
  shape[axis] = indices->dims()[0];
  return shape;
}

DimList embeddedShape(const NodeRef &table, const NodeRef &indices) {
  DimList shape(indices->dims());
  shape.push_back(table->dims()[1]);
  return shape;
}

} // namespace sinter::graph::term
