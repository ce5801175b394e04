/// Gradients: the table of gradient rules that the reverse sweep applies.
#pragma once

#include "runtime/autodiff/rules/Rules.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <cstdint>

namespace sinter::autodiff {

using GradientRule = Result<OperandGradients> (*)(const GradientContext &);

/// How an op is differentiated.
struct GradientInfo {
  /// Null: not differentiable, unless `throughDecomposition`.
  GradientRule rule = nullptr;
  /// A composite without a rule of its own: expand, then differentiate.
  bool throughDecomposition = false;
  /// Which operands' values the rule reads (bit N; all bits when variadic),
  /// and whether it reads the result's. Shapes are not values.
  uint32_t readsOperands = 0;
  bool readsResult = false;
};

/// The rule of an op. `op` is valid and not `leaf`.
const GradientInfo &gradientOf(graph::OpId op);

} // namespace sinter::autodiff
