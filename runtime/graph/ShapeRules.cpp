/// Shape rules of ops that compute: elementwise, reductions, contractions,
/// indexed ops, sources and composites. Views stand in ViewShapeRules.cpp.
#include "runtime/graph/ShapeRules.h"

#include "runtime/graph/ShapeChecks.h"
#include "sinter/runtime/Complex.h"

namespace sinter::graph::shape {

static Status sameShape(const ShapeContext &context, std::span<const Dim> dims,
                        std::span<const Dim> others) {
  if (dims.size() != others.size()) [[unlikely]]
    return shapeError(context, "ranks differ");
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (!sameDim(context, dims[axis], others[axis])) [[unlikely]]
      return shapeError(context, "shapes differ");
  return {};
}

static Status sameShapes(const ShapeContext &context, size_t first) {
  for (const TensorType &other : context.operands.subspan(first + 1))
    SINTER_TRY(sameShape(context, context.operands[first].dims, other.dims));
  return {};
}

static Status sameDTypes(const ShapeContext &context, size_t first) {
  for (size_t i = first + 1; i < context.operands.size(); ++i)
    if (context.operands[i].dtype != context.operands[first].dtype) [[unlikely]]
      return shapeError(context, "dtypes differ");
  return {};
}

/// Whether all operands have the very same type: nothing is left to check.
static bool allIdentical(const ShapeContext &context) {
  const TensorType &first = context.operands[0];
  for (const TensorType &other : context.operands.subspan(1)) {
    if (other.dtype != first.dtype || !identicalDims(other.dims, first.dims))
      return false;
  }
  return true;
}

Result<InferredType> elementwise(const ShapeContext &context) {
  if (!allIdentical(context)) [[unlikely]] {
    SINTER_TRY(sameDTypes(context, 0));
    SINTER_TRY(sameShapes(context, 0));
  }
  return typeOf(context.operands[0]);
}

Result<InferredType> withNumbers(const ShapeContext &context) {
  SINTER_TRY(sameDTypes(context, 0));
  for (const TensorType &other : context.operands.subspan(1))
    if (!other.dims.empty())
      SINTER_TRY(sameShape(context, context.operands[0].dims, other.dims));
  return typeOf(context.operands[0]);
}

Result<InferredType> compare(const ShapeContext &context) {
  SINTER_TRY_ASSIGN(InferredType result, elementwise(context));
  result.dtype = DType::boolean;
  return result;
}

Result<InferredType> where(const ShapeContext &context) {
  if (context.operands[0].dtype != DType::boolean)
    return shapeError(context, "the condition is not bool");
  SINTER_TRY(sameDTypes(context, 1));
  SINTER_TRY(sameShapes(context, 0));
  return typeOf(context.operands[1]);
}

Result<InferredType> cast(const ShapeContext &context, DType dtype) {
  SINTER_TRY(checkStorable(context, dtype));
  InferredType result = typeOf(context.operands[0]);
  result.dtype = dtype;
  return result;
}

Result<InferredType> sameAsFirst(const ShapeContext &context) {
  return typeOf(context.operands[0]);
}

Result<InferredType> polygamma(const ShapeContext &context, int64_t order) {
  if (order < 0 || order > 20)
    return shapeError(context, "the order " + std::to_string(order) +
                                   " is not in [0, 20]");
  return typeOf(context.operands[0]);
}

//===- Reductions ---------------------------------------------------------===//

/// The operand's dims without `axes` (sorted), or with size 1 there.
static InferredType reducedType(const TensorType &type,
                                std::span<const int64_t> axes, bool keepdims) {
  InferredType result;
  result.dtype = type.dtype;
  size_t next = 0;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    bool isReduced = next < axes.size() && axes[next] == int64_t(i);
    next += isReduced;
    if (!isReduced)
      result.dims.push_back(type.dims[i]);
    else if (keepdims)
      result.dims.push_back(Dim(1));
  }
  return result;
}

static Status checkNotEmpty(const ShapeContext &context,
                            std::span<const int64_t> axes) {
  for (int64_t axis : axes)
    if (!atLeast(context, context.operands[0].dims[axis], Dim(1)))
      return shapeError(context, "axis " + std::to_string(axis) + " is empty");
  return {};
}

static DType sumType(DType dtype) {
  return hasGradients(dtype) ? dtype : DType::i64;
}

Result<InferredType> reduce(const ShapeContext &context,
                            std::span<const int64_t> axes, bool keepdims) {
  SINTER_TRY(checkNotEmpty(context, axes));
  return reducedType(context.operands[0], axes, keepdims);
}

Result<InferredType> sum(const ShapeContext &context,
                         std::span<const int64_t> axes, bool keepdims) {
  InferredType result = reducedType(context.operands[0], axes, keepdims);
  result.dtype = sumType(result.dtype);
  return result;
}

Result<InferredType> quantifier(const ShapeContext &context,
                                std::span<const int64_t> axes, bool keepdims) {
  InferredType result = reducedType(context.operands[0], axes, keepdims);
  result.dtype = DType::boolean;
  return result;
}

Result<InferredType> count(const ShapeContext &context,
                           std::span<const int64_t> axes, bool keepdims) {
  InferredType result = reducedType(context.operands[0], axes, keepdims);
  result.dtype = DType::i64;
  return result;
}

Result<InferredType> argmax(const ShapeContext &context, int64_t axis,
                            bool keepdims) {
  std::span<const int64_t> axes(&axis, 1);
  SINTER_TRY(checkNotEmpty(context, axes));
  InferredType result = reducedType(context.operands[0], axes, keepdims);
  result.dtype = DType::i64;
  return result;
}

Result<InferredType> prefix(const ShapeContext &context, int64_t) {
  InferredType result = typeOf(context.operands[0]);
  result.dtype = sumType(result.dtype);
  return result;
}

//===- Sorts --------------------------------------------------------------===//

Result<InferredType> sorted(const ShapeContext &context, int64_t axis,
                            Dim count) {
  const TensorType &x = context.operands[0];
  if (!atLeast(context, count, Dim(0)))
    return shapeError(context,
                      "count " + std::to_string(count.value) + " is negative");
  bool isWhole = identicalDims({&count, 1}, {&x.dims[axis], 1});
  if (!isWhole && !atLeast(context, x.dims[axis], count))
    return shapeError(context, "count " + std::to_string(count.value) +
                                   " is more than axis " +
                                   std::to_string(axis) + " has");
  InferredType result = typeOf(x);
  result.dims[axis] = count;
  return result;
}

Result<InferredType> sortedPositions(const ShapeContext &context, int64_t axis,
                                     Dim count) {
  SINTER_TRY_ASSIGN(InferredType result, sorted(context, axis, count));
  result.dtype = DType::i64;
  return result;
}

//===- Contractions -------------------------------------------------------===//

Result<InferredType> matmul(const ShapeContext &context) {
  SINTER_TRY(sameDTypes(context, 0));
  std::span<const Dim> lhs = context.operands[0].dims;
  std::span<const Dim> rhs = context.operands[1].dims;
  if (lhs.size() < 2 || rhs.size() < 2)
    return shapeError(context, "operands need at least two dimensions");
  if (lhs.size() != rhs.size())
    return shapeError(context, "ranks differ");
  size_t rank = lhs.size();
  for (size_t i = 0; i + 2 < rank; ++i)
    if (!sameDim(context, lhs[i], rhs[i]))
      return shapeError(context, "batch dimensions differ");
  if (!sameDim(context, lhs[rank - 1], rhs[rank - 2]))
    return shapeError(context, "inner dimensions differ");
  InferredType result = typeOf(context.operands[0]);
  result.dims[rank - 1] = rhs[rank - 1];
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

//===- Indexed ops --------------------------------------------------------===//

/// Fails where positions would have no element to name: the axis is empty, and
/// no dim of the indices is 0. What that relies on is guarded.
static Status checkPicks(const ShapeContext &context, int64_t axis) {
  std::span<const Dim> indices = context.operands[1].dims;
  for (Dim dim : indices)
    if (dim.isConstant() && dim.value == 0)
      return {};
  if (isOneWhereSome(context, context.operands[0].dims[axis], indices))
    return {};
  if (atLeast(context, context.operands[0].dims[axis], Dim(1)))
    return {};
  for (Dim dim : indices)
    if (isKnown(context, dim) && sameDim(context, dim, Dim(0)))
      return {};
  return shapeError(context, "axis " + std::to_string(axis) + " is empty");
}

static Status checkIndices(const ShapeContext &context, int64_t axis) {
  const TensorType &x = context.operands[0];
  const TensorType &indices = context.operands[1];
  if (indices.dtype != DType::i32 && indices.dtype != DType::i64)
    return shapeError(context, "indices must be i32 or i64");
  if (x.dims.size() != indices.dims.size())
    return shapeError(context, "ranks differ");
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (int64_t(i) != axis && !sameDim(context, x.dims[i], indices.dims[i]))
      return shapeError(context,
                        "shapes differ besides axis " + std::to_string(axis));
  return checkPicks(context, axis);
}

Result<InferredType> gather(const ShapeContext &context, int64_t axis) {
  SINTER_TRY(checkIndices(context, axis));
  InferredType result = typeOf(context.operands[1]);
  result.dtype = context.operands[0].dtype;
  return result;
}

Result<InferredType> scatter(const ShapeContext &context, int64_t axis) {
  SINTER_TRY(checkIndices(context, axis));
  if (context.operands[2].dtype != context.operands[0].dtype)
    return shapeError(context, "dtypes differ");
  SINTER_TRY(sameShapes(context, 1));
  return typeOf(context.operands[0]);
}

Result<InferredType> indexSelect(const ShapeContext &context, int64_t axis) {
  const TensorType &indices = context.operands[1];
  if (indices.dims.size() != 1)
    return shapeError(context, "the indices must have one axis");
  SINTER_TRY(checkPicks(context, axis));
  InferredType result = typeOf(context.operands[0]);
  result.dims[axis] = indices.dims[0];
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

Result<InferredType> embedding(const ShapeContext &context) {
  const TensorType &table = context.operands[0];
  if (table.dims.size() != 2)
    return shapeError(context, "expects weight [count, length]");
  SINTER_TRY(checkPicks(context, 0));
  InferredType result = typeOf(context.operands[1]);
  result.dtype = table.dtype;
  result.dims.push_back(table.dims[1]);
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

//===- Sources ------------------------------------------------------------===//

Result<InferredType> source(const ShapeContext &context,
                            std::span<const Dim> shape, DType dtype) {
  SINTER_TRY(checkComputable(context, dtype));
  return full(context, shape, dtype);
}

Result<InferredType> full(const ShapeContext &context,
                          std::span<const Dim> shape, DType dtype) {
  if (!isComplex(dtype))
    SINTER_TRY(checkComputable(context, dtype));
  SINTER_TRY(checkSize(context, shape));
  InferredType result;
  result.dtype = dtype;
  result.dims.append(shape);
  return result;
}

Result<InferredType> scalar(const ShapeContext &context, DType dtype) {
  return source(context, {}, dtype);
}

/// The operands from `first` on are a generator's key and counter.
static Status checkGenerator(const ShapeContext &context, size_t first) {
  for (const TensorType &operand : context.operands.subspan(first))
    if (operand.dtype != DType::i64 || !operand.dims.empty())
      return shapeError(context, "key and counter must be i64 of rank 0");
  return {};
}

Result<InferredType> random(const ShapeContext &context,
                            std::span<const Dim> shape, DType dtype) {
  SINTER_TRY(checkGenerator(context, 0));
  if (!isFloat(dtype))
    return shapeError(context, "the dtype must be a float, not " +
                                   std::string(name(dtype)));
  return source(context, shape, dtype);
}

Result<InferredType> dropout(const ShapeContext &context, double p) {
  SINTER_TRY(checkGenerator(context, 1));
  if (!(p >= 0 && p <= 1))
    return shapeError(context, "p must be in [0, 1], not " + std::to_string(p));
  return typeOf(context.operands[0]);
}

//===- Composites ---------------------------------------------------------===//

Result<InferredType> softmax(const ShapeContext &context, int64_t axis) {
  SINTER_TRY(checkNotEmpty(context, {&axis, 1}));
  return typeOf(context.operands[0]);
}

Result<InferredType> layerNorm(const ShapeContext &context) {
  SINTER_TRY(sameDTypes(context, 0));
  std::span<const Dim> x = context.operands[0].dims;
  if (x.empty())
    return shapeError(context, "x needs at least one dimension");
  for (size_t i = 1; i < context.operands.size(); ++i) {
    std::span<const Dim> dims = context.operands[i].dims;
    if (dims.size() != 1 || !sameDim(context, x.back(), dims[0]))
      return shapeError(context,
                        "weight and bias must be as long as the last axis");
  }
  return typeOf(context.operands[0]);
}

Result<InferredType> crossEntropy(const ShapeContext &context) {
  const TensorType &logits = context.operands[0];
  const TensorType &labels = context.operands[1];
  if (logits.dims.size() != 2 || labels.dims.size() != 1)
    return shapeError(context, "expects logits [n, classes] and labels [n]");
  if (labels.dtype != DType::i32 && labels.dtype != DType::i64)
    return shapeError(context, "labels must be i32 or i64");
  if (!sameDim(context, logits.dims[0], labels.dims[0]))
    return shapeError(context, "batch dimensions differ");
  if (!atLeast(context, logits.dims[1], Dim(1)))
    return shapeError(context, "there are no classes");
  InferredType result;
  result.dtype = logits.dtype;
  return result;
}

} // namespace sinter::graph::shape
