/// Dim: a dimension's value now, and what it is in terms of symbols.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// One dimension of a tensor. `value` is its extent in this recording; `expr`
/// is 0 for a constant, else an interned expression over symbols, so that one
/// compiled program serves every value. Comparing two Dims compares values.
struct Dim {
  int64_t value = 0;
  uint32_t expr = 0;

  Dim() = default;
  Dim(int64_t constant) : value(constant) {}
  Dim(int64_t value, uint32_t expr) : value(value), expr(expr) {}

  bool isConstant() const { return expr == 0; }
};

/// Arithmetic keeps the expression. Division is floor division; the divisor
/// must be positive. Constant operands fold.
Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim floorDiv(Dim a, Dim b);
Dim ceilDiv(Dim a, Dim b);
Dim mod(Dim a, Dim b);

using Dims = std::vector<Dim>;

/// Node of a dimension expression. The same codes stand in program files.
enum class ExprOp : uint8_t {
  constant = 0, ///< value
  symbol = 1,   ///< value = symbol number
  add = 2,
  mul = 3, ///< subtraction is add of mul by -1
  floorDiv = 4,
  ceilDiv = 5,
  mod = 6,
};
struct Expr {
  ExprOp op = ExprOp::constant;
  uint32_t lhs = 0; ///< for interned expressions an id, in a Graph an index
  uint32_t rhs = 0;
  int64_t value = 0;
  bool operator==(const Expr &) const = default;
};

/// The process-wide interner. Thread-safe; entries are never removed; one
/// entry per distinct expression. Id 0 is reserved for "constant".
namespace dim_exprs {
uint32_t intern(const Expr &expr);
const Expr &get(uint32_t id);
/// The id of the symbol for (site, axis, value): the same three give the same
/// symbol, so the table stays small over a training run.
uint32_t symbol(uint32_t site, uint32_t axis, int64_t value);
/// The value that symbol `number` (the `value` of its Expr) was made for.
int64_t symbolValue(uint32_t number);
} // namespace dim_exprs

/// Evaluates expression `index` of a post-order list (operands before users)
/// for the given symbol values. Division by zero and overflow give INT64_MIN.
int64_t evaluate(std::span<const Expr> exprs, uint32_t index,
                 std::span<const int64_t> symbols);

} // namespace sinter
