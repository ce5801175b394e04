/// Dim expressions of a program file: affine expressions as a flat list.
#pragma once

#include "sinter/runtime/Dim.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace sinter::compiler {

/// Numbers expressions in order of first use, operands before users, without
/// duplicates.
class ExprTable {
public:
  /// The index of `expr`, added if it is new.
  uint32_t add(mlir::AffineExpr expr);
  const std::vector<Expr> &exprs() const { return list; }

private:
  llvm::DenseMap<mlir::AffineExpr, uint32_t> known;
  std::vector<Expr> list;
};

} // namespace sinter::compiler
