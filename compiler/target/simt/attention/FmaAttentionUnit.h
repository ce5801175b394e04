/// FmaAttentionUnit: attention in f32 as a block's unit.
#pragma once

#include "compiler/target/AttentionUnit.h"
#include "compiler/target/BlockThreads.h"

#include <limits>

namespace sinter::compiler {

/// What of such a unit a device can have.
struct FmaAttentionDevice {
  const BlockThreads &threads; ///< outlives the unit
  int64_t registers = 0;       ///< of a multiprocessor
  int64_t mostThreads = std::numeric_limits<int64_t>::max(); ///< of a block
  int64_t mostNumbers = std::numeric_limits<int64_t>::max(); ///< of its memory
};

/// Attention of f32, f16 and bf16, all in f32, by multiply-add, with rows of
/// any length that a block's memory holds. Operands are read element by
/// element: they may lie anyhow.
std::unique_ptr<const AttentionUnit>
makeFmaAttentionUnit(const FmaAttentionDevice &device);

} // namespace sinter::compiler
