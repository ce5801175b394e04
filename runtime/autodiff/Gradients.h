/// Gradients: the table of gradient rules that the reverse sweep applies.
#pragma once

#include "runtime/support/SmallVector.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>

namespace sinter::autodiff {

/// What a rule works from; borrowed for the call. Rules record ordinary ops.
struct GradientContext {
  std::span<const graph::NodeRef> operands;
  const graph::NodeRef &result;
  /// The result's gradient: same dtype and shape as `result`.
  const graph::NodeRef &grad;
  std::span<const uint64_t> attrs; ///< of the node, encoded
  /// Which operands want a gradient; a rule may leave out the others.
  std::span<const bool> needs;
};

/// One entry per operand; an empty ref means: no gradient flows there.
using OperandGradients = SmallVector<graph::NodeRef, 3>;
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
