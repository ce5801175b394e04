/// The end of an encoding: symbolic dims, expressions and guards.
#include "runtime/graph/Encoding.h"

#include <vector>

namespace sinter::graph {

bool hasDimAttrs(OpId op) {
  static const auto &table = *[] {
    auto *result = new std::vector<char>(opCount(), false);
    for (size_t i = 1; i < result->size(); ++i)
      for (const AttrSpec &spec : info(static_cast<OpId>(i)).attrs)
        (*result)[i] |=
            spec.kind == AttrKind::dim || spec.kind == AttrKind::dims;
    return result;
  }();
  return table[static_cast<size_t>(op)];
}

void Encoder::fillIn(LocalExprs &exprs) {
  for (const Fixup &fixup : fixups) {
    LocalExprs::Resolved dim = exprs.resolve(fixup.expr);
    words[fixup.position] = dim.isConstant
                                ? static_cast<uint32_t>(dim.value) << 1
                                : dim.index << 1 | 1;
  }
  exprs.finish();
  if (exprs.exprs.empty())
    return;
  makeRoom(2 + 5 * exprs.exprs.size() + 2 * exprs.guards.size());
  word(exprs.exprs.size());
  for (const Expr &expr : exprs.exprs) {
    for (uint32_t each : {static_cast<uint32_t>(expr.op), expr.lhs, expr.rhs})
      add(each);
    word(static_cast<uint64_t>(expr.value));
  }
  for (const Guard &guard : exprs.guards) {
    add(guard.lhs);
    add(guard.rhs);
  }
}

} // namespace sinter::graph
