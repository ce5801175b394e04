/// Shape rules of views: reshape, transpose, broadcast, slice, concat, pad, and
/// of slices and pads whose start a program is given.
#include "runtime/graph/ShapeRules.h"

#include "runtime/graph/ShapeChecks.h"

namespace sinter::graph::shape {

static std::string shapeString(std::span<const Dim> shape) {
  return typeString({DType::f32, shape}).substr(3);
}

static Dim product(std::span<const Dim> dims) {
  Dim result(1);
  for (Dim dim : dims)
    result = result * dim;
  return result;
}

//===- reshape ------------------------------------------------------------===//

/// The dim that -1 stands for.
static Result<Dim> leftOver(const ShapeContext &context,
                            std::span<const Dim> shape, size_t position) {
  Dim total = product(context.operands[0].dims);
  Dim known(1);
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != position)
      known = known * shape[i];
  if (isKnown(context, known) && known.value <= 0)
    return shapeError(context, "cannot tell what -1 stands for in " +
                                   shapeString(shape));
  if (!sameDim(context, mod(total, known), Dim(0)))
    return shapeError(context, "cannot be " + shapeString(shape));
  return floorDiv(total, known);
}

Result<InferredType> reshape(const ShapeContext &context,
                             std::span<const Dim> shape) {
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(shape);
  size_t position = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].isConstant() || shape[i].value != -1)
      continue;
    if (position != shape.size())
      return shapeError(context, "-1 stands twice in " + shapeString(shape));
    position = i;
  }
  if (position != shape.size()) {
    SINTER_TRY_ASSIGN(result.dims[position],
                      leftOver(context, shape, position));
    SINTER_TRY(checkSize(context, result.dims));
    return result;
  }
  SINTER_TRY(checkSize(context, result.dims));
  if (!sameDim(context, product(context.operands[0].dims), product(shape)))
    return shapeError(context,
                      "element counts differ: cannot be " + shapeString(shape));
  return result;
}

//===- squeeze, unsqueeze -------------------------------------------------===//

Result<InferredType> squeeze(const ShapeContext &context,
                             std::span<const int64_t> axes) {
  const TensorType &x = context.operands[0];
  InferredType result;
  result.dtype = x.dtype;
  size_t next = 0;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (next == axes.size() || axes[next] != int64_t(i)) {
      result.dims.push_back(x.dims[i]);
      continue;
    }
    ++next;
    if (!sameDim(context, x.dims[i], Dim(1)))
      return shapeError(context,
                        "axis " + std::to_string(i) + " is not of size 1");
  }
  return result;
}

Result<InferredType> unsqueeze(const ShapeContext &context, int64_t axis) {
  const TensorType &x = context.operands[0];
  size_t rank = x.dims.size();
  if (axis < 0 || axis > int64_t(rank))
    return shapeError(context, "axis " + std::to_string(axis) +
                                   " is out of range for the new rank " +
                                   std::to_string(rank + 1));
  InferredType result;
  result.dtype = x.dtype;
  result.dims.append(x.dims.first(axis));
  result.dims.push_back(Dim(1));
  result.dims.append(x.dims.subspan(axis));
  return result;
}

//===- transpose, broadcast -----------------------------------------------===//

Result<InferredType> transpose(const ShapeContext &context,
                               std::span<const int64_t> permutation) {
  std::span<const Dim> dims = context.operands[0].dims;
  if (permutation.size() != dims.size())
    return shapeError(
        context, "the permutation has " + std::to_string(permutation.size()) +
                     " axes for rank " + std::to_string(dims.size()));
  InferredType result;
  result.dtype = context.operands[0].dtype;
  uint64_t seen = 0;
  for (int64_t axis : permutation) {
    if (seen >> axis & 1)
      return shapeError(context,
                        "axis " + std::to_string(axis) + " is named twice");
    seen |= uint64_t(1) << axis;
    result.dims.push_back(dims[axis]);
  }
  return result;
}

Result<InferredType> broadcast(const ShapeContext &context,
                               std::span<const Dim> shape) {
  std::span<const Dim> dims = context.operands[0].dims;
  if (dims.size() > shape.size())
    return shapeError(context, "cannot become " + shapeString(shape));
  size_t missing = shape.size() - dims.size();
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(shape);
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim from = dims[i], &to = result.dims[missing + i];
    if (to.isConstant() && to.value == -1)
      to = from;
    bool expands = from.value == 1 && to.value != 1;
    if (expands && isKnown(context, from) && from.expr != to.expr) {
      sameDim(context, from, Dim(1));
      continue;
    }
    if (from.isConstant() && from.value == 1)
      continue;
    if (!sameDim(context, from, to))
      return shapeError(context, "cannot become " + shapeString(shape));
  }
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

//===- slice, concat, pad -------------------------------------------------===//

static Status checkCount(const ShapeContext &context, const char *what,
                         size_t count, size_t rank) {
  if (count == rank)
    return {};
  return shapeError(context, std::string(what) + " has " +
                                 std::to_string(count) + " entries for rank " +
                                 std::to_string(rank));
}

static ErrorInfo axisError(const ShapeContext &context, const char *what,
                           size_t axis) {
  return shapeError(context,
                    std::string(what) + " on axis " + std::to_string(axis));
}

Result<InferredType> slice(const ShapeContext &context,
                           std::span<const int64_t> starts,
                           std::span<const Dim> limits,
                           std::span<const int64_t> steps) {
  std::span<const Dim> dims = context.operands[0].dims;
  SINTER_TRY(checkCount(context, "starts", starts.size(), dims.size()));
  SINTER_TRY(checkCount(context, "limits", limits.size(), dims.size()));
  SINTER_TRY(checkCount(context, "steps", steps.size(), dims.size()));
  InferredType result;
  result.dtype = context.operands[0].dtype;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (steps[i] <= 0)
      return axisError(context, "the step is not positive", i);
    if (starts[i] < 0)
      return axisError(context, "the start is negative", i);
    if (!atLeast(context, limits[i], Dim(starts[i])))
      return axisError(context, "the limit is below the start", i);
    if (!atLeast(context, dims[i], limits[i]))
      return axisError(context, "the limit is beyond the end", i);
    result.dims.push_back(ceilDiv(limits[i] - Dim(starts[i]), Dim(steps[i])));
  }
  return result;
}

Result<InferredType> concat(const ShapeContext &context, int64_t axis) {
  if (context.operands.empty())
    return shapeError(context, "needs at least one operand");
  std::span<const Dim> first = context.operands[0].dims;
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(first);
  for (const TensorType &operand : context.operands.subspan(1)) {
    if (operand.dtype != result.dtype)
      return shapeError(context, "dtypes differ");
    if (operand.dims.size() != first.size())
      return shapeError(context, "ranks differ");
    for (size_t i = 0; i < first.size(); ++i) {
      if (int64_t(i) == axis)
        result.dims[i] = result.dims[i] + operand.dims[i];
      else if (!sameDim(context, first[i], operand.dims[i]))
        return shapeError(context,
                          "shapes differ besides axis " + std::to_string(axis));
    }
  }
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

Result<InferredType> pad(const ShapeContext &context,
                         std::span<const int64_t> low,
                         std::span<const Dim> shape,
                         std::span<const int64_t> interior) {
  std::span<const Dim> dims = context.operands[0].dims;
  SINTER_TRY(checkCount(context, "low", low.size(), dims.size()));
  SINTER_TRY(checkCount(context, "shape", shape.size(), dims.size()));
  SINTER_TRY(checkCount(context, "interior", interior.size(), dims.size()));
  SINTER_TRY(checkSize(context, shape));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (low[i] < 0)
      return axisError(context, "negative padding", i);
    if (interior[i] < 0)
      return axisError(context, "negative dilation", i);
    if (interior[i] >= maxDim)
      return axisError(context, "the dilation is too large", i);
    // An empty axis has a spread of at most 0.
    Dim spread = (dims[i] - Dim(1)) * Dim(interior[i] + 1) + Dim(1);
    if (!atLeast(context, shape[i], Dim(low[i])) ||
        !atLeast(context, shape[i], Dim(low[i]) + spread))
      return axisError(context, "the result is too small", i);
  }
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(shape);
  return result;
}

//===- dynamic_slice, dynamic_pad -----------------------------------------===//

static Result<InferredType> resized(const ShapeContext &context, int64_t axis,
                                    Dim size) {
  if (!context.operands[1].dims.empty())
    return shapeError(context, "the start is no number of rank 0");
  InferredType result;
  result.dtype = context.operands[0].dtype;
  result.dims.append(context.operands[0].dims);
  result.dims[axis] = size;
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

Result<InferredType> dynamicSlice(const ShapeContext &context, int64_t axis,
                                  Dim size) {
  if (!atLeast(context, context.operands[0].dims[axis], size))
    return axisError(context, "more elements than there are", axis);
  return resized(context, axis, size);
}

Result<InferredType> dynamicPad(const ShapeContext &context, int64_t axis,
                                Dim size) {
  if (!atLeast(context, size, context.operands[0].dims[axis]))
    return axisError(context, "the result is too small", axis);
  return resized(context, axis, size);
}

} // namespace sinter::graph::shape
