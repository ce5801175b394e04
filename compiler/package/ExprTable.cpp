/// Affine expressions become entries of a program's list.
#include "compiler/package/ExprTable.h"

using namespace mlir;

namespace sinter::compiler {

static ExprOp opOf(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return ExprOp::add;
  case AffineExprKind::Mul:
    return ExprOp::mul;
  case AffineExprKind::Mod:
    return ExprOp::mod;
  case AffineExprKind::FloorDiv:
    return ExprOp::floorDiv;
  case AffineExprKind::CeilDiv:
    return ExprOp::ceilDiv;
  case AffineExprKind::Constant:
    return ExprOp::constant;
  case AffineExprKind::SymbolId:
  case AffineExprKind::DimId:
    return ExprOp::symbol;
  }
  llvm_unreachable("all kinds have a code");
}

uint32_t ExprTable::add(AffineExpr expr) {
  if (auto found = known.find(expr); found != known.end())
    return found->second;
  Expr entry;
  entry.op = opOf(expr.getKind());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    entry.value = constant.getValue();
  } else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    entry.value = symbol.getPosition();
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    entry.lhs = add(binary.getLHS());
    entry.rhs = add(binary.getRHS());
  }
  list.push_back(entry);
  return known[expr] = list.size() - 1;
}

} // namespace sinter::compiler
