/// Arithmetic on canonical dimension expressions.
#include "runtime/graph/Polynomial.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace sinter::dim_exprs {

static int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

static int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

Polynomial Polynomial::constant(int64_t value) {
  Polynomial result;
  if (value != 0)
    result.terms.push_back({value, {}});
  return result;
}

Polynomial Polynomial::atom(uint32_t id) {
  Polynomial result;
  result.terms.push_back({1, {id}});
  return result;
}

std::optional<int64_t> Polynomial::asConstant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms[0].atoms.empty())
    return terms[0].coefficient;
  return std::nullopt;
}

/// Terms with more atoms first, so that the constant comes last.
static bool termLess(const Term &a, const Term &b, const AtomLess &less) {
  if (a.atoms.size() != b.atoms.size())
    return a.atoms.size() > b.atoms.size();
  return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(),
                                      b.atoms.begin(), b.atoms.end(), less);
}

/// Sorts, merges equal atoms and drops zeros.
static void normalize(Polynomial &polynomial, const AtomLess &less) {
  std::vector<Term> &terms = polynomial.terms;
  std::sort(terms.begin(), terms.end(),
            [&](const Term &a, const Term &b) { return termLess(a, b, less); });
  std::vector<Term> merged;
  for (Term &term : terms) {
    if (!merged.empty() && merged.back().atoms == term.atoms)
      merged.back().coefficient =
          wrapAdd(merged.back().coefficient, term.coefficient);
    else
      merged.push_back(std::move(term));
  }
  std::erase_if(merged, [](const Term &term) { return term.coefficient == 0; });
  terms = std::move(merged);
}

Polynomial add(const Polynomial &a, const Polynomial &b, const AtomLess &less) {
  Polynomial result = a;
  result.terms.insert(result.terms.end(), b.terms.begin(), b.terms.end());
  normalize(result, less);
  return result;
}

Polynomial multiply(const Polynomial &a, const Polynomial &b,
                    const AtomLess &less) {
  Polynomial result;
  for (const Term &x : a.terms)
    for (const Term &y : b.terms) {
      Term term;
      term.coefficient = wrapMul(x.coefficient, y.coefficient);
      term.atoms.resize(x.atoms.size() + y.atoms.size());
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                 term.atoms.begin(), less);
      result.terms.push_back(std::move(term));
    }
  normalize(result, less);
  return result;
}

void divide(const Polynomial &a, int64_t divisor, Polynomial &quotient,
            Polynomial &remainder) {
  assert(divisor > 0 && "division by a non-positive constant");
  for (const Term &term : a.terms) {
    int64_t rest = term.coefficient % divisor;
    if (rest < 0)
      rest += divisor;
    int64_t whole = (term.coefficient - rest) / divisor;
    if (whole != 0)
      quotient.terms.push_back({whole, term.atoms});
    if (rest != 0)
      remainder.terms.push_back({rest, term.atoms});
  }
}

Polynomial ExprBuilder::polynomialOf(uint32_t id) const {
  Expr expr = at(id);
  auto less = [this](uint32_t a, uint32_t b) { return this->less(a, b); };
  switch (expr.op) {
  case ExprOp::constant:
    return Polynomial::constant(expr.value);
  case ExprOp::add:
    return add(polynomialOf(expr.lhs), polynomialOf(expr.rhs), less);
  case ExprOp::mul:
    return multiply(polynomialOf(expr.lhs), polynomialOf(expr.rhs), less);
  case ExprOp::symbol:
  case ExprOp::floorDiv:
  case ExprOp::ceilDiv:
  case ExprOp::mod:
    break;
  }
  return Polynomial::atom(id);
}

uint32_t ExprBuilder::exprOf(const Polynomial &polynomial) {
  if (std::optional<int64_t> value = polynomial.asConstant())
    return make({ExprOp::constant, 0, 0, *value});
  std::optional<uint32_t> sum;
  for (const Term &term : polynomial.terms) {
    std::optional<uint32_t> product;
    for (uint32_t atom : term.atoms)
      product = product ? make({ExprOp::mul, *product, atom, 0}) : atom;
    if (!product || term.coefficient != 1) {
      uint32_t factor = make({ExprOp::constant, 0, 0, term.coefficient});
      product = product ? make({ExprOp::mul, *product, factor, 0}) : factor;
    }
    sum = sum ? make({ExprOp::add, *sum, *product, 0}) : *product;
  }
  return *sum;
}

/// floorDiv and mod by a constant keep only what does not divide evenly;
/// ceilDiv(a, c) is floorDiv(a + c - 1, c).
static Polynomial divideByConstant(ExprBuilder &builder, ExprOp op,
                                   Polynomial a, int64_t divisor,
                                   const AtomLess &less) {
  if (op == ExprOp::ceilDiv)
    a = add(a, Polynomial::constant(divisor - 1), less);
  Polynomial quotient, rest;
  divide(a, divisor, quotient, rest);
  if (rest.asConstant())
    return op == ExprOp::mod ? rest : quotient;
  ExprOp kind = op == ExprOp::mod ? ExprOp::mod : ExprOp::floorDiv;
  uint32_t numerator = builder.exprOf(rest);
  uint32_t denominator = builder.make({ExprOp::constant, 0, 0, divisor});
  Polynomial atom =
      Polynomial::atom(builder.make({kind, numerator, denominator, 0}));
  return op == ExprOp::mod ? atom : add(quotient, atom, less);
}

/// a / b when b is one term that divides every term of a (b is not zero where
/// the division is legal at all).
static std::optional<Polynomial>
divideExactly(const Polynomial &a, const Polynomial &b, const AtomLess &less) {
  if (b.terms.size() != 1)
    return std::nullopt;
  const Term &divisor = b.terms[0];
  Polynomial result;
  for (const Term &term : a.terms) {
    bool divides =
        term.coefficient % divisor.coefficient == 0 &&
        std::includes(term.atoms.begin(), term.atoms.end(),
                      divisor.atoms.begin(), divisor.atoms.end(), less);
    if (!divides)
      return std::nullopt;
    Term quotient{term.coefficient / divisor.coefficient, {}};
    std::set_difference(term.atoms.begin(), term.atoms.end(),
                        divisor.atoms.begin(), divisor.atoms.end(),
                        std::back_inserter(quotient.atoms), less);
    result.terms.push_back(std::move(quotient));
  }
  return result;
}

Polynomial ExprBuilder::combine(ExprOp op, const Polynomial &a,
                                const Polynomial &b) {
  auto less = [this](uint32_t x, uint32_t y) { return this->less(x, y); };
  if (op == ExprOp::add)
    return add(a, b, less);
  if (op == ExprOp::mul)
    return multiply(a, b, less);
  std::optional<int64_t> divisor = b.asConstant();
  if (divisor && *divisor > 0)
    return divideByConstant(*this, op, a, *divisor, less);
  if (std::optional<Polynomial> exact = divideExactly(a, b, less))
    return op == ExprOp::mod ? Polynomial() : *exact;
  return Polynomial::atom(make({op, exprOf(a), exprOf(b), 0}));
}

} // namespace sinter::dim_exprs
