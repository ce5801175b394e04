/// Checks expressions while copying them.
#include "runtime/program/ReadExprs.h"

#include <cstdint>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

template <typename... Args>
static ErrorInfo broken(fmt::format_string<Args...> format, Args &&...args) {
  return makeError(ErrorKind::io,
                   fmt::format(format, std::forward<Args>(args)...));
}

Result<std::vector<Expr>>
sinter::runtime::readExprs(const flatbuffers::Vector<const fb::Expr *> *list,
                           uint32_t numSymbols) {
  std::vector<Expr> exprs;
  if (!list)
    return exprs;
  // The flatbuffer verifier looks at the list's length only.
  if (reinterpret_cast<uintptr_t>(list->Data()) % alignof(fb::Expr))
    return broken("a list of exprs is not aligned");
  for (uint32_t i = 0; i < list->size(); ++i) {
    const fb::Expr &from = *list->Get(i);
    if (from.op() > uint8_t(ExprOp::mod))
      return broken("expr {} has unknown op {}", i, from.op());
    Expr expr{ExprOp(from.op()), from.lhs(), from.rhs(), from.value()};
    bool leaf = expr.op == ExprOp::constant || expr.op == ExprOp::symbol;
    if (!leaf && (expr.lhs >= i || expr.rhs >= i))
      return broken("expr {} uses an expr that is not before it", i);
    bool isSymbol = expr.op == ExprOp::symbol;
    if (isSymbol && (expr.value < 0 || expr.value >= int64_t(numSymbols)))
      return broken("expr {} names symbol {} of {}", i, expr.value, numSymbols);
    exprs.push_back(expr);
  }
  return exprs;
}
