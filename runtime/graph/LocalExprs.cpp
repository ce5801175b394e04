/// Canonical expressions of one graph: guards solved, symbols renumbered.
#include "runtime/graph/LocalExprs.h"

#include <algorithm>
#include <numeric>

namespace sinter::graph {

//===- Scratch ------------------------------------------------------------===//

uint32_t LocalExprs::Scratch::make(const Expr &expr) {
  auto found = std::find(exprs.begin(), exprs.end(), expr);
  if (found == exprs.end())
    found = exprs.insert(exprs.end(), expr);
  return static_cast<uint32_t>(found - exprs.begin());
}

int LocalExprs::Scratch::compare(uint32_t a, uint32_t b) const {
  if (a == b)
    return 0;
  const Expr &x = exprs[a], &y = exprs[b];
  if (x.op != y.op)
    return x.op < y.op ? -1 : 1;
  if (x.op == ExprOp::constant || x.op == ExprOp::symbol)
    return x.value < y.value ? -1 : 1;
  int order = compare(x.lhs, y.lhs);
  return order ? order : compare(x.rhs, y.rhs);
}

//===- Reading the source -------------------------------------------------===//

uint32_t LocalExprs::constantId(int64_t value) {
  constants.push_back(value);
  return static_cast<uint32_t>(constants.size() - 1) | constantBit;
}

void LocalExprs::addBindable(uint32_t id) {
  Expr expr = source.at(id);
  if (expr.op == ExprOp::symbol)
    bindable.insert(expr.value);
}

int64_t LocalExprs::representative(int64_t symbol) const {
  for (auto next = merged.find(symbol); next != merged.end();
       next = merged.find(symbol))
    symbol = next->second;
  return symbol;
}

LocalExprs::Polynomial LocalExprs::symbolPolynomial(int64_t number) {
  number = representative(number);
  if (auto entry = fixed.find(number); entry != fixed.end())
    return Polynomial::constant(entry->second);
  if (phase != Phase::merging && !bindable.contains(number))
    return Polynomial::constant(source.symbolValue(number));
  if (phase == Phase::numbering) {
    auto next = static_cast<int64_t>(numbers.size());
    auto [entry, isNew] = numbers.try_emplace(number, next);
    if (isNew)
      symbolValues.push_back(source.symbolValue(number));
    number = entry->second;
  }
  return Polynomial::atom(scratch.make({ExprOp::symbol, 0, 0, number}));
}

LocalExprs::Polynomial LocalExprs::polynomialOf(uint32_t id) {
  if (id & constantBit)
    return Polynomial::constant(constants[id & ~constantBit]);
  Expr expr = source.at(id);
  if (expr.op == ExprOp::constant)
    return Polynomial::constant(expr.value);
  if (expr.op == ExprOp::symbol)
    return symbolPolynomial(expr.value);
  Polynomial lhs = polynomialOf(expr.lhs);
  Polynomial rhs = polynomialOf(expr.rhs);
  return scratch.combine(expr.op, lhs, rhs);
}

//===- Guards -------------------------------------------------------------===//

/// lhs - rhs without a common factor; the first coefficient is positive.
LocalExprs::Polynomial
LocalExprs::difference(const std::pair<uint32_t, uint32_t> &guard) {
  Polynomial rhs = scratch.combine(ExprOp::mul, polynomialOf(guard.second),
                                   Polynomial::constant(-1));
  Polynomial result =
      scratch.combine(ExprOp::add, polynomialOf(guard.first), rhs);
  if (result.asConstant())
    return result;
  int64_t factor = 0;
  for (const dim_exprs::Term &term : result.terms)
    factor = std::gcd(factor, term.coefficient);
  if (result.terms[0].coefficient < 0)
    factor = -factor;
  for (dim_exprs::Term &term : result.terms)
    term.coefficient /= factor;
  return result;
}

/// Uses `s == t` and `s == constant`; what it cannot use, it leaves.
bool LocalExprs::applyGuard(const Polynomial &difference) {
  if (difference.asConstant())
    return true;
  const std::vector<dim_exprs::Term> &terms = difference.terms;
  auto symbolOf = [&](const dim_exprs::Term &term) -> std::optional<int64_t> {
    if (term.atoms.size() != 1)
      return std::nullopt;
    Expr expr = scratch.at(term.atoms[0]);
    if (expr.op != ExprOp::symbol)
      return std::nullopt;
    return expr.value;
  };
  std::optional<int64_t> symbol = symbolOf(terms[0]);
  if (terms.size() > 2 || terms[0].coefficient != 1 || !symbol)
    return false;
  if (terms.size() == 1 || terms[1].atoms.empty()) {
    fixed[*symbol] = terms.size() == 1 ? 0 : -terms[1].coefficient;
    return true;
  }
  std::optional<int64_t> other = symbolOf(terms[1]);
  if (!other || terms[1].coefficient != -1)
    return false;
  merged[*other] = *symbol;
  return true;
}

void LocalExprs::applyGuards() {
  size_t before = 0;
  do {
    before = pending.size();
    std::erase_if(pending, [this](const auto &guard) {
      return applyGuard(difference(guard));
    });
  } while (pending.size() < before);
}

void LocalExprs::solve() {
  if (!pending.empty())
    applyGuards();
  std::set<int64_t> representatives;
  for (int64_t symbol : bindable)
    representatives.insert(representative(symbol));
  bindable = std::move(representatives);
  phase = Phase::fixing;
  if (!pending.empty())
    applyGuards();
  // The last round may have merged more.
  representatives.clear();
  for (int64_t symbol : bindable)
    representatives.insert(representative(symbol));
  bindable = std::move(representatives);
  phase = Phase::numbering;
  scratch = Scratch();
}

void LocalExprs::emitGuard(Polynomial difference) {
  if (difference.asConstant())
    return;
  Polynomial sides[2];
  for (dim_exprs::Term &term : difference.terms) {
    bool isLeft = term.coefficient > 0;
    term.coefficient = std::abs(term.coefficient);
    sides[isLeft ? 0 : 1].terms.push_back(term);
  }
  Guard guard;
  guard.lhs = emit(scratch.exprOf(sides[0]));
  guard.rhs = emit(scratch.exprOf(sides[1]));
  if (std::find(guards.begin(), guards.end(), guard) == guards.end())
    guards.push_back(guard);
}

void LocalExprs::finish() {
  for (const auto &guard : pending)
    emitGuard(difference(guard));
}

//===- Emission -----------------------------------------------------------===//

uint32_t LocalExprs::emitExpr(const Expr &expr) {
  auto found = std::find(exprs.begin(), exprs.end(), expr);
  if (found == exprs.end())
    found = exprs.insert(exprs.end(), expr);
  return static_cast<uint32_t>(found - exprs.begin());
}

uint32_t LocalExprs::emit(uint32_t scratchId) {
  Expr expr = scratch.at(scratchId);
  if (expr.op == ExprOp::constant)
    return localizeConstant(expr.value);
  if (expr.op != ExprOp::symbol) {
    expr.lhs = emit(expr.lhs);
    expr.rhs = emit(expr.rhs);
  }
  return emitExpr(expr);
}

uint32_t LocalExprs::localizeConstant(int64_t value) {
  auto [entry, isNew] = knownConstants.try_emplace(value, 0);
  if (isNew)
    entry->second = emitExpr({ExprOp::constant, 0, 0, value});
  return entry->second;
}

LocalExprs::Resolved LocalExprs::resolve(uint32_t id) {
  if (auto entry = known.find(id); entry != known.end())
    return entry->second;
  Polynomial polynomial = polynomialOf(id);
  Resolved result;
  if (std::optional<int64_t> value = polynomial.asConstant())
    result = {true, *value, 0};
  else
    result.index = emit(scratch.exprOf(polynomial));
  known.emplace(id, result);
  return result;
}

uint32_t LocalExprs::localize(uint32_t id) {
  Resolved result = resolve(id);
  return result.isConstant ? localizeConstant(result.value) : result.index;
}

} // namespace sinter::graph
