/// Polynomial: the canonical form of a dimension expression.
#pragma once

#include "sinter/runtime/Dim.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sinter::dim_exprs {

/// A coefficient times a product of atoms. An atom is the id of a symbol or of
/// a division or remainder that does not simplify.
struct Term {
  int64_t coefficient = 0;
  std::vector<uint32_t> atoms; ///< sorted
};

/// A sum of terms, sorted by atoms (the constant term last), no two with equal
/// atoms, none with coefficient 0. Equal expressions have equal polynomials.
struct Polynomial {
  std::vector<Term> terms;

  static Polynomial constant(int64_t value);
  static Polynomial atom(uint32_t id);
  /// The value when there is no atom.
  std::optional<int64_t> asConstant() const;
};

/// How atoms are ordered: `less(a, b)`.
using AtomLess = std::function<bool(uint32_t, uint32_t)>;

Polynomial add(const Polynomial &a, const Polynomial &b, const AtomLess &less);
Polynomial multiply(const Polynomial &a, const Polynomial &b,
                    const AtomLess &less);
/// a == divisor * quotient + remainder, coefficient by coefficient, with the
/// remainder's coefficients in [0, divisor).
void divide(const Polynomial &a, int64_t divisor, Polynomial &quotient,
            Polynomial &remainder);

/// Makes expressions from polynomials and back, over any store of Exprs.
class ExprBuilder {
public:
  virtual ~ExprBuilder() = default;
  virtual uint32_t make(const Expr &expr) = 0;
  virtual Expr at(uint32_t id) const = 0;
  virtual bool less(uint32_t a, uint32_t b) const = 0;

  Polynomial polynomialOf(uint32_t id) const;
  uint32_t exprOf(const Polynomial &polynomial);
  /// The canonical polynomial of `a op b`.
  Polynomial combine(ExprOp op, const Polynomial &a, const Polynomial &b);
};

} // namespace sinter::dim_exprs
