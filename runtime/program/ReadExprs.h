/// ReadExprs: dimension expressions of a file, in and out.
#pragma once

#include "sinter/generated/program_generated.h"
#include "sinter/runtime/Dim.h"
#include "sinter/runtime/Result.h"

#include <vector>

namespace sinter::runtime {

/// Copies a list (null: empty) that its flatbuffer's verifier has seen; checks
/// ops, that operands come first, and symbols. An error of kind `io` says what
/// is wrong, without a file's name.
Result<std::vector<Expr>>
readExprs(const flatbuffers::Vector<const fb::Expr *> *list,
          uint32_t numSymbols);

inline fb::Expr toFile(const Expr &expr) {
  return fb::Expr(uint8_t(expr.op), expr.lhs, expr.rhs, expr.value);
}

} // namespace sinter::runtime
