/// Shape rules of attention and of its parts.
#include "runtime/graph/ShapeChecks.h"
#include "runtime/graph/ShapeRules.h"

namespace sinter::graph::shape {

namespace {

/// The operands' places in an op.
struct Places {
  size_t query, key, mask;
};

} // namespace

static constexpr Places partPlaces{0, 1, 2};

/// Dims of `rows`, but the last one, and `last`.
static InferredType rowsOf(const TensorType &rows, Dim last) {
  InferredType result;
  result.dtype = rows.dtype;
  result.dims.append(rows.dims);
  result.dims.back() = last;
  return result;
}

static DType sumDType(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

/// Operand `index` must be [..., rows, columns], leading dims as the query's.
static Status checkMatrix(const ShapeContext &context, size_t index, Dim rows,
                          Dim columns, const char *what) {
  std::span<const Dim> dims = context.operands[index].dims;
  std::span<const Dim> query = context.operands[0].dims;
  bool fits = dims.size() == query.size() &&
              sameDim(context, dims[dims.size() - 2], rows) &&
              sameDim(context, dims.back(), columns);
  for (size_t i = 0; fits && i + 2 < dims.size(); ++i)
    fits = sameDim(context, dims[i], query[i]);
  if (!fits)
    return shapeError(context, std::string(what) + " does not fit");
  return {};
}

/// Query, key and mask.
static Status checkScores(const ShapeContext &context, Places places) {
  const TensorType &query = context.operands[places.query];
  const TensorType &key = context.operands[places.key];
  const TensorType &mask = context.operands[places.mask];
  if (query.dims.size() < 2 || key.dims.size() < 2)
    return shapeError(context, "expects query [..., t, d] and key [..., s, d]");
  if (key.dtype != query.dtype || mask.dtype != query.dtype)
    return shapeError(context, "dtypes differ");
  Dim keys = key.dims[key.dims.size() - 2];
  if (!atLeast(context, keys, Dim(1)))
    return shapeError(context, "there are no keys");
  SINTER_TRY(
      checkMatrix(context, places.key, keys, query.dims.back(), "the key"));
  if (!mask.dims.empty())
    SINTER_TRY(checkMatrix(context, places.mask,
                           query.dims[query.dims.size() - 2], keys,
                           "the mask"));
  return {};
}

static Result<InferredType> withValue(const ShapeContext &context,
                                      Places places, size_t value) {
  SINTER_TRY(checkScores(context, places));
  const TensorType &key = context.operands[places.key];
  const TensorType &values = context.operands[value];
  if (values.dims.size() < 2)
    return shapeError(context, "expects value [..., s, e]");
  if (values.dtype != key.dtype)
    return shapeError(context, "dtypes differ");
  SINTER_TRY(checkMatrix(context, value, key.dims[key.dims.size() - 2],
                         values.dims.back(), "the value"));
  return rowsOf(context.operands[places.query], values.dims.back());
}

Result<InferredType> attention(const ShapeContext &context) {
  return withValue(context, {0, 1, 3}, 2);
}

Result<InferredType> attentionValue(const ShapeContext &context) {
  return withValue(context, partPlaces, 3);
}

Result<InferredType> attentionRows(const ShapeContext &context) {
  SINTER_TRY(checkScores(context, partPlaces));
  InferredType result = rowsOf(context.operands[0], Dim(1));
  result.dtype = sumDType(result.dtype);
  return result;
}

/// The type of operand `of`.
static Result<InferredType> gradientType(const ShapeContext &context,
                                         size_t of) {
  SINTER_TRY_ASSIGN(InferredType result, attentionValue(context));
  Dim rows = result.dims[result.dims.size() - 2];
  if (context.operands[4].dtype != result.dtype)
    return shapeError(context, "dtypes differ");
  SINTER_TRY(checkMatrix(context, 4, rows, result.dims.back(), "the gradient"));
  for (size_t i : {5, 6}) {
    DType dtype = context.operands[i].dtype;
    if (dtype != result.dtype && dtype != sumDType(result.dtype))
      return shapeError(context, "dtypes differ");
    SINTER_TRY(checkMatrix(context, i, rows, Dim(1), "a number per query"));
  }
  const TensorType &like = context.operands[of];
  return rowsOf(like, like.dims.back());
}

Result<InferredType> attentionQueryGradient(const ShapeContext &context) {
  return gradientType(context, 0);
}

Result<InferredType> attentionKeyGradient(const ShapeContext &context) {
  return gradientType(context, 1);
}

Result<InferredType> attentionValueGradient(const ShapeContext &context) {
  return gradientType(context, 3);
}

} // namespace sinter::graph::shape
