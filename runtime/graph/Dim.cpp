/// The interner of dimension expressions and arithmetic on Dims.
#include "sinter/runtime/Dim.h"

#include "runtime/graph/Polynomial.h"
#include "runtime/graph/Symbols.h"
#include "runtime/support/ChunkedTable.h"
#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"

#include <array>
#include <cassert>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>

namespace sinter {

static constexpr int64_t invalid = std::numeric_limits<int64_t>::min();

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 32);
}

//===- The interner -------------------------------------------------------===//

namespace dim_exprs {

namespace {
struct ExprHash {
  size_t operator()(const Expr &expr) const {
    uint64_t hash = mix(static_cast<uint64_t>(expr.op) + 1, expr.lhs);
    return mix(mix(hash, expr.rhs), static_cast<uint64_t>(expr.value));
  }
};

using Symbol = SymbolOrigin;

struct SymbolHash {
  size_t operator()(const Symbol &symbol) const {
    uint64_t hash = mix(symbol.site + 1, symbol.axis);
    return mix(hash, static_cast<uint64_t>(symbol.value));
  }
};

struct Interner {
  ForkMutex mutex;
  std::unordered_map<Expr, uint32_t, ExprHash> ids;
  ChunkedTable<Expr> exprs;
  std::unordered_map<Symbol, uint32_t, SymbolHash> symbolIds;
  ChunkedTable<Symbol> symbols;

  Interner() { exprs.append(Expr()); } // id 0 means "constant"

  uint32_t intern(const Expr &expr) {
    auto [entry, isNew] = ids.try_emplace(expr, 0);
    if (isNew)
      entry->second = exprs.append(expr);
    return entry->second;
  }
};

/// Builds canonical expressions in the process-wide interner.
class GlobalBuilder final : public ExprBuilder {
public:
  uint32_t make(const Expr &expr) override { return intern(expr); }
  Expr at(uint32_t id) const override { return get(id); }
  bool less(uint32_t a, uint32_t b) const override { return a < b; }
};
} // namespace

static Interner &interner() {
  static Interner *instance = new Interner; // outlives static tensors
  return *instance;
}

uint32_t intern(const Expr &expr) {
  Interner &table = interner();
  std::lock_guard lock(table.mutex);
  return table.intern(expr);
}

const Expr &get(uint32_t id) { return interner().exprs[id]; }

uint32_t symbol(uint32_t site, uint32_t axis, int64_t value) {
  Interner &table = interner();
  std::lock_guard lock(table.mutex);
  Symbol key{site, axis, value};
  auto [entry, isNew] = table.symbolIds.try_emplace(key, 0);
  if (isNew) {
    uint32_t number = table.symbols.append(key);
    entry->second = table.intern({ExprOp::symbol, 0, 0, number});
  }
  return entry->second;
}

std::optional<SymbolOrigin> originOf(uint32_t id) {
  const Expr &expr = get(id);
  if (id == 0 || expr.op != ExprOp::symbol)
    return std::nullopt;
  return interner().symbols[uint32_t(expr.value)];
}

int64_t symbolValue(uint32_t number) {
  return interner().symbols[number].value;
}

} // namespace dim_exprs

//===- Arithmetic ---------------------------------------------------------===//

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// Not by the quotient, whose product with b may overflow.
static int64_t floorRemainder(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// The value, or INT64_MIN on overflow, on division by zero, and when an
/// operand is itself invalid.
static inline int64_t apply(ExprOp op, int64_t a, int64_t b) {
  if (a == invalid || b == invalid)
    return invalid;
  int64_t result = 0;
  switch (op) {
  case ExprOp::add:
    return __builtin_add_overflow(a, b, &result) ? invalid : result;
  case ExprOp::mul:
    return __builtin_mul_overflow(a, b, &result) ? invalid : result;
  case ExprOp::floorDiv:
    return b == 0 ? invalid : floorDivide(a, b);
  case ExprOp::ceilDiv:
    return b == 0 ? invalid : -floorDivide(-a, b);
  case ExprOp::mod:
    return b == 0 ? invalid : floorRemainder(a, b);
  case ExprOp::constant:
  case ExprOp::symbol:
    break;
  }
  return invalid;
}

namespace {
/// One remembered `a op b`; constants count by value.
struct Memo {
  ExprOp op = ExprOp::constant;
  uint32_t lhs = 0;
  uint32_t rhs = 0;
  int64_t lhsValue = 0;
  int64_t rhsValue = 0;
  uint32_t result = 0;

  bool matches(const Memo &other) const {
    return std::tie(op, lhs, rhs, lhsValue, rhsValue) ==
           std::tie(other.op, other.lhs, other.rhs, other.lhsValue,
                    other.rhsValue);
  }
};
} // namespace

static uint32_t combineExprs(ExprOp op, Dim a, Dim b) {
  dim_exprs::GlobalBuilder builder;
  auto polynomialOf = [&](Dim dim) {
    return dim.isConstant() ? dim_exprs::Polynomial::constant(dim.value)
                            : builder.polynomialOf(dim.expr);
  };
  dim_exprs::Polynomial result =
      builder.combine(op, polynomialOf(a), polynomialOf(b));
  return result.asConstant() ? 0 : builder.exprOf(result);
}

static Dim combineSymbolic(ExprOp op, Dim a, Dim b) {
  Dim result(apply(op, a.value, b.value));
  if (result.value == invalid)
    return result;
  using Memos = std::array<Memo, 128>;
  static thread_local Memos *threadMemos = nullptr;
  if (!threadMemos) [[unlikely]] {
    threadMemos = new Memos;
    static thread_local ThreadOwner<Memos> owner(threadMemos);
  }
  Memos &memos = *threadMemos;
  Memo key{op, a.expr, b.expr, a.isConstant() ? a.value : 0,
           b.isConstant() ? b.value : 0};
  uint64_t hash = mix(mix(static_cast<uint64_t>(op), a.expr), b.expr);
  hash = mix(mix(hash, static_cast<uint64_t>(key.lhsValue)),
             static_cast<uint64_t>(key.rhsValue));
  Memo &memo = memos[hash % memos.size()];
  if (!memo.matches(key)) {
    key.result = combineExprs(op, a, b);
    memo = key;
  }
  result.expr = memo.result;
  return result;
}

static inline Dim combine(ExprOp op, Dim a, Dim b) {
  if (a.isConstant() && b.isConstant()) [[likely]]
    return Dim(apply(op, a.value, b.value));
  return combineSymbolic(op, a, b);
}

Dim operator+(Dim a, Dim b) { return combine(ExprOp::add, a, b); }

Dim operator-(Dim a, Dim b) {
  return combine(ExprOp::add, a, combine(ExprOp::mul, b, Dim(-1)));
}

Dim operator*(Dim a, Dim b) { return combine(ExprOp::mul, a, b); }

Dim floorDiv(Dim a, Dim b) { return combine(ExprOp::floorDiv, a, b); }

Dim ceilDiv(Dim a, Dim b) { return combine(ExprOp::ceilDiv, a, b); }

Dim mod(Dim a, Dim b) { return combine(ExprOp::mod, a, b); }

static bool isLeaf(const Expr &expr) {
  return expr.op == ExprOp::constant || expr.op == ExprOp::symbol;
}

static int64_t leafValue(const Expr &expr, std::span<const int64_t> symbols) {
  if (expr.op == ExprOp::constant)
    return expr.value;
  auto number = static_cast<uint64_t>(expr.value);
  return number < symbols.size() ? symbols[number] : invalid;
}

int64_t evaluate(std::span<const Expr> exprs, uint32_t index,
                 std::span<const int64_t> symbols) {
  if (isLeaf(exprs[index]))
    return leafValue(exprs[index], symbols);
  // What it needs, each once, from users down to operands; then back.
  std::map<uint32_t, int64_t> values{{index, invalid}};
  for (auto at = values.begin();; --at) {
    const Expr &expr = exprs[at->first];
    if (!isLeaf(expr)) {
      values.try_emplace(expr.lhs, invalid);
      values.try_emplace(expr.rhs, invalid);
    }
    if (at == values.begin())
      break;
  }
  for (auto &[number, value] : values) {
    const Expr &expr = exprs[number];
    value = isLeaf(expr)
                ? leafValue(expr, symbols)
                : apply(expr.op, values.at(expr.lhs), values.at(expr.rhs));
  }
  return values.at(index);
}

} // namespace sinter
