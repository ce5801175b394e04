/// AttentionParts: what a kernel of attention makes.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Attention.h"

namespace sinter::compiler {

/// The parts of attention in a kernel, which read the same scores; null for
/// those that it does not have.
struct AttentionParts {
  explicit AttentionParts(program::KernelOp kernel);

  bool isGradient() const { return !output && !logsumexp; }

  ir::AttentionOpInterface first; ///< what all of them have, one of them has
  ir::AttentionOp output;
  ir::AttentionLogsumexpOp logsumexp;
  ir::AttentionQueryGradientOp queryGradient;
  ir::AttentionKeyGradientOp keyGradient;
  ir::AttentionValueGradientOp valueGradient;
  bool walksKeys = false; ///< chunks have keys, and walk queries
  /// Query and key, or key and query.
  mlir::Value lanesOperand, stepsOperand;
  /// Of gradients.
  mlir::Value value, grad, rowLogsumexps, delta;
};

/// The number of the buffer in which a part's result is stored.
unsigned bufferOfPart(KernelWriter &writer, mlir::Value result);

/// The parts in the target's units for whole blocks. Gives the sizes that no
/// unit takes, 1 for each of them, which the writer has then: 0 where all are
/// taken.
mlir::AffineExpr emitAttentionInBlocks(KernelWriter &writer,
                                       const AttentionParts &parts);

} // namespace sinter::compiler
