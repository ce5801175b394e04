#include "runtime/graph/ComplexShapeRules.h"

#include "runtime/graph/ShapeChecks.h"
#include "sinter/runtime/Complex.h"

namespace sinter::graph::shape {

Result<InferredType> complexOfParts(const ShapeContext &context) {
  SINTER_TRY_ASSIGN(InferredType result, elementwise(context));
  result.dtype = complexOf(result.dtype);
  return result;
}

Result<InferredType> partOfComplex(const ShapeContext &context) {
  InferredType result = typeOf(context.operands[0]);
  result.dtype = partOf(result.dtype);
  return result;
}

} // namespace sinter::graph::shape
