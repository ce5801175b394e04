/// The gradient rules that are written in C++ (GradientFn records name them).
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

/// Sums over the axes that were repeated.
Result<OperandGradients> broadcastGradient(const GradientContext &context);
/// A slice for each operand.
Result<OperandGradients> concatGradient(const GradientContext &context);
/// Windows of the places that elements were taken to.
Result<OperandGradients> unwindowGradient(const GradientContext &context);
/// A transposed convolution, and conv_weight_grad.
Result<OperandGradients> convGradient(const GradientContext &context);
/// A convolution, and conv_weight_grad.
Result<OperandGradients> convTransposeGradient(const GradientContext &context);
/// A transposed convolution, and a convolution.
Result<OperandGradients> convWeightGradient(const GradientContext &context);
/// To the first of each window's largest elements.
Result<OperandGradients> maxPoolGradient(const GradientContext &context);
/// To the last of the elements so far that are the result.
Result<OperandGradients> prefixExtremumGradient(const GradientContext &context);
Result<OperandGradients> logcumsumexpGradient(const GradientContext &context);
/// Of rows that were brought to mean 0 and size 1.
Result<OperandGradients> layerNormGradient(const GradientContext &context);
/// Whether a dim is known to be 0.
bool hasNoElements(const graph::NodeRef &x);
/// Zeros for each operand that needs a gradient.
Result<OperandGradients> zerosLike(const GradientContext &context);
/// Parts of loops have no rule of their own: it says so.
Result<OperandGradients> loopPart(const GradientContext &context);

} // namespace sinter::autodiff
