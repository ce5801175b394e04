/// Shape rules of loops over steps. Tokens have the type bool[length].
#include "runtime/graph/ShapeRules.h"

#include "runtime/graph/ShapeChecks.h"
#include "sinter/runtime/Node.h"

namespace sinter::graph::shape {

static Status checkToken(const ShapeContext &context) {
  const TensorType &token = context.operands[0];
  if (token.dtype == DType::boolean && token.dims.size() == 1)
    return {};
  return shapeError(context, "the first operand is no loop");
}

Result<InferredType> scanIndex(const ShapeContext &context, Dim length) {
  return source(context, {&length, 1}, DType::boolean);
}

Result<InferredType> scanCarry(const ShapeContext &context) {
  SINTER_TRY(checkToken(context));
  return typeOf(context.operands[1]);
}

Result<InferredType> scanSlice(const ShapeContext &context) {
  SINTER_TRY(checkToken(context));
  const TensorType &xs = context.operands[1];
  if (xs.dims.empty())
    return shapeError(context, "a tensor without axes has no slices");
  if (!sameDim(context, context.operands[0].dims[0], xs.dims[0]))
    return shapeError(context, "the first axis is not as long as the loop");
  InferredType result;
  result.dtype = xs.dtype;
  result.dims.append(xs.dims.subspan(1));
  return result;
}

/// The carry that says whether a step begins is a flag.
static Status checkCondition(const ShapeContext &context, int64_t carries,
                             int64_t condition) {
  if (condition == 0)
    return {};
  if (condition < -carries || condition > carries)
    return shapeError(context, "the condition is no carry");
  size_t carry = size_t(condition < 0 ? -condition : condition) - 1;
  const TensorType &flag = context.operands[1 + 2 * carry];
  if (flag.dtype == DType::boolean && flag.dims.empty())
    return {};
  return shapeError(context, "the condition is not a boolean scalar");
}

Result<InferredType> scanEnd(const ShapeContext &context, int64_t carries,
                             int64_t condition) {
  SINTER_TRY(checkToken(context));
  std::span<const TensorType> operands = context.operands;
  if (carries < 0 || size_t(carries) > (operands.size() - 1) / 2)
    return shapeError(context, "a carry has no next value");
  SINTER_TRY(checkCondition(context, carries, condition));
  for (size_t i = 1; i < 1 + 2 * size_t(carries); i += 2) {
    const TensorType &carry = operands[i], &next = operands[i + 1];
    bool fits =
        carry.dtype == next.dtype && carry.dims.size() == next.dims.size();
    for (size_t d = 0; fits && d < carry.dims.size(); ++d)
      fits = sameDim(context, carry.dims[d], next.dims[d]);
    if (!fits) {
      ErrorInfo error =
          makeError(ErrorKind::invalid_argument,
                    "scan: a step must not change a carry's type: carry " +
                        std::to_string(i / 2) + " is " + typeString(carry) +
                        " and becomes " + typeString(next),
                    "scan");
      error.shapes = {typeString(carry), typeString(next)};
      error.site = recordScope().site;
      return error;
    }
  }
  return typeOf(operands[0]);
}

Result<InferredType> scanLast(const ShapeContext &context) {
  return scanCarry(context);
}

Result<InferredType> scanStack(const ShapeContext &context) {
  SINTER_TRY(checkToken(context));
  InferredType result;
  result.dtype = context.operands[1].dtype;
  result.dims.push_back(context.operands[0].dims[0]);
  result.dims.append(context.operands[1].dims);
  SINTER_TRY(checkSize(context, result.dims));
  return result;
}

} // namespace sinter::graph::shape
