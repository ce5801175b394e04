/// Shape rules of complex numbers and their parts.
#pragma once

#include "runtime/graph/ShapeRules.h"

namespace sinter::graph::shape {

/// Real and imaginary parts of one shape and dtype.
Result<InferredType> complexOfParts(const ShapeContext &context);
/// The shape of a complex tensor in the dtype of its parts.
Result<InferredType> partOfComplex(const ShapeContext &context);

} // namespace sinter::graph::shape
