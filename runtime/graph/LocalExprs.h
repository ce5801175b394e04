/// LocalExprs: the dimension expressions of one graph, in canonical numbering.
#pragma once

#include "runtime/graph/Polynomial.h"
#include "sinter/runtime/Graph.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sinter::graph {

/// Where expressions come from: the process-wide interner, or a Graph.
class ExprSource {
public:
  virtual ~ExprSource() = default;
  virtual Expr at(uint32_t id) const = 0;
  /// The value that symbol `number` has in this recording.
  virtual int64_t symbolValue(int64_t number) const = 0;
};

/// Brings expressions of a source into a list of its own: symbols that guards
/// make equal become one, symbols that a guard fixes and symbols that no input
/// has as a dim become constants, and the rest are numbered by first
/// appearance. The list depends on the calls and on nothing else.
class LocalExprs {
public:
  explicit LocalExprs(const ExprSource &source) : source(source) {}

  /// A dim of an input: if it is a plain symbol, that symbol can be bound.
  void addBindable(uint32_t id);
  /// A condition; `solve` uses it or keeps it.
  void addGuard(uint32_t lhs, uint32_t rhs) { pending.push_back({lhs, rhs}); }
  /// A constant as an id for addGuard: not an id of the source.
  uint32_t constantId(int64_t value);
  /// To be called after the last addGuard and addBindable.
  void solve();

  /// A source expression: its value when it is constant here, else (0, its
  /// local index).
  struct Resolved {
    bool isConstant = false;
    int64_t value = 0;
    uint32_t index = 0;
  };
  Resolved resolve(uint32_t id);
  /// The local index of a source expression.
  uint32_t localize(uint32_t id);
  uint32_t localizeConstant(int64_t value);
  /// Adds the guards that are left; to be called after the last localize.
  void finish();

  std::vector<Expr> exprs;
  std::vector<Guard> guards;
  std::vector<int64_t> symbolValues; ///< one per local symbol

private:
  /// A store whose atoms are ordered by structure, not by age.
  class Scratch final : public dim_exprs::ExprBuilder {
  public:
    uint32_t make(const Expr &expr) override;
    Expr at(uint32_t id) const override { return exprs[id]; }
    bool less(uint32_t a, uint32_t b) const override {
      return compare(a, b) < 0;
    }

  private:
    int compare(uint32_t a, uint32_t b) const;
    std::vector<Expr> exprs;
  };
  using Polynomial = dim_exprs::Polynomial;

  /// Guards merge and fix symbols; then those that no input binds are fixed;
  /// then symbols get local numbers.
  enum class Phase : uint8_t { merging, fixing, numbering };

  Polynomial polynomialOf(uint32_t id);
  Polynomial symbolPolynomial(int64_t number);
  int64_t representative(int64_t symbol) const;
  Polynomial difference(const std::pair<uint32_t, uint32_t> &guard);
  void applyGuards();
  bool applyGuard(const Polynomial &difference);
  void emitGuard(Polynomial difference);
  uint32_t emit(uint32_t scratchId);
  uint32_t emitExpr(const Expr &expr);

  static constexpr uint32_t constantBit = 0x80000000;
  const ExprSource &source;
  Scratch scratch;
  Phase phase = Phase::merging;
  std::vector<int64_t> constants;
  std::vector<std::pair<uint32_t, uint32_t>> pending; ///< guards
  std::set<int64_t> bindable;
  std::map<int64_t, int64_t> fixed;   ///< symbol -> its only value
  std::map<int64_t, int64_t> merged;  ///< symbol -> an equal one
  std::map<int64_t, int64_t> numbers; ///< symbol -> local number
  std::map<uint32_t, Resolved> known; ///< by source id
  std::map<int64_t, uint32_t> knownConstants;
};

} // namespace sinter::graph
