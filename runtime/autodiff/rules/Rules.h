/// The gradient rules that are written in C++ (GradientFn records name them).
#pragma once

#include "runtime/autodiff/Gradients.h"

namespace sinter::autodiff {

/// Sums over the axes that were repeated.
Result<OperandGradients> broadcastGradient(const GradientContext &context);
/// A slice for each operand.
Result<OperandGradients> concatGradient(const GradientContext &context);

} // namespace sinter::autodiff
