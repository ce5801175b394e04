/// Solves the dims of inputs for the symbols.
#include "runtime/program/Bind.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr int64_t dimLimit = int64_t(1) << 31;
constexpr int64_t poison = std::numeric_limits<int64_t>::min();

bool isLeaf(const Expr &expr) {
  return expr.op == ExprOp::constant || expr.op == ExprOp::symbol;
}

/// For every expr its one unknown symbol, given which symbols are known: `none`
/// where there is none, and `many` when it cannot be solved for one. It becomes
/// `none` in two changes at most, so all changes together take linear time.
class Unknowns {
public:
  enum : uint32_t { none = ~0u, many = ~0u - 1 };

  explicit Unknowns(const ProgramData &program)
      : exprs(program.exprs), known(program.numSymbols) {
    for (uint32_t i = 0; i < exprs.size(); ++i) {
      states.push_back(stateOf(exprs[i]));
      if (exprs[i].op == ExprOp::symbol)
        leaves.push_back(i);
    }
    std::ranges::stable_sort(leaves, {},
                             [&](uint32_t leaf) { return exprs[leaf].value; });
    listUsers();
  }

  uint32_t operator[](uint32_t expr) const { return states[expr]; }
  bool isKnown(uint32_t symbol) const { return known[symbol]; }
  void define(uint32_t symbol) { known[symbol] = true; }

  /// Takes over what was defined; gives the exprs that changed.
  std::vector<uint32_t> update(std::span<const uint32_t> symbols) {
    std::vector<uint32_t> changed;
    for (uint32_t symbol : symbols) {
      auto value = [&](uint32_t leaf) { return exprs[leaf].value; };
      for (uint32_t leaf :
           std::ranges::equal_range(leaves, int64_t(symbol), {}, value))
        look(leaf, changed);
    }
    for (size_t i = 0; i < changed.size(); ++i)
      for (uint32_t at = firstUser[changed[i]]; at < firstUser[changed[i] + 1];
           ++at)
        look(users[at], changed);
    return changed;
  }

private:
  void look(uint32_t expr, std::vector<uint32_t> &changed) {
    uint32_t state = stateOf(exprs[expr]);
    if (state == states[expr])
      return;
    states[expr] = state;
    changed.push_back(expr);
  }

  uint32_t stateOf(const Expr &expr) const {
    if (expr.op == ExprOp::constant)
      return none;
    if (expr.op == ExprOp::symbol)
      return known[size_t(expr.value)] ? none : uint32_t(expr.value);
    uint32_t lhs = states[expr.lhs], rhs = states[expr.rhs];
    if (lhs == none && rhs == none)
      return none;
    bool invertible = expr.op == ExprOp::add || expr.op == ExprOp::mul;
    if (!invertible || (lhs != none && rhs != none))
      return many;
    return lhs == none ? rhs : lhs;
  }

  void listUsers() {
    firstUser.assign(exprs.size() + 1, 0);
    auto each = [&](auto visit) {
      for (uint32_t i = 0; i < exprs.size(); ++i)
        if (!isLeaf(exprs[i])) {
          visit(exprs[i].lhs, i);
          visit(exprs[i].rhs, i);
        }
    };
    each([&](uint32_t operand, uint32_t) { ++firstUser[operand]; });
    uint32_t end = 0;
    for (uint32_t &first : firstUser)
      first = end += first;
    users.resize(end);
    each([&](uint32_t operand, uint32_t user) {
      users[--firstUser[operand]] = user;
    });
  }

  std::span<const Expr> exprs;
  std::vector<bool> known;
  std::vector<uint32_t> states;
  std::vector<uint32_t> leaves; ///< that are symbols, by their numbers
  /// Of expr i: users[firstUser[i]] to users[firstUser[i + 1]], that excluded.
  std::vector<uint32_t> firstUser, users;
};

/// Undoes one op with a known operand.
bool undo(ExprOp op, int64_t operand, int64_t &target) {
  if (operand == poison)
    return false;
  if (op == ExprOp::add)
    return !__builtin_sub_overflow(target, operand, &target);
  // The remainder of the least number by -1 is a fault of the processor.
  if (operand == -1)
    return !__builtin_sub_overflow(0, target, &target);
  if (operand == 0 || target % operand != 0)
    return false;
  target /= operand;
  return true;
}

} // namespace

/// Finds the definitions in passes over the inputs' dims: in each, what the
/// symbols of those before are enough for.
class DimBinder::Maker {
public:
  Maker(const ProgramData &program, DimBinder &binder)
      : program(program), binder(binder), unknowns(program),
        isListed(program.exprs.size()) {}

  Status run();

private:
  /// One dim of an input.
  struct Place {
    uint32_t input, axis;
    auto operator<=>(const Place &) const = default;
  };
  uint32_t exprAt(Place place) const {
    return program.inputs[place.input].dims[place.axis];
  }
  void listPlaces();
  std::vector<Place> solvable(std::span<const uint32_t> exprs) const;
  void define(Place place, uint32_t symbol);
  void listNeeds(uint32_t expr);

  const ProgramData &program;
  DimBinder &binder;
  Unknowns unknowns;
  std::vector<Place> places; ///< that hold symbols, by their exprs
  std::vector<bool> isListed;
};

void DimBinder::Maker::listPlaces() {
  for (uint32_t i = 0; i < program.inputs.size(); ++i)
    for (uint32_t axis = 0; axis < program.inputs[i].dims.size(); ++axis)
      if (unknowns[exprAt({i, axis})] != Unknowns::none)
        places.push_back({i, axis});
}

/// The places of exprs that have one unknown, in the order of the inputs.
std::vector<DimBinder::Maker::Place>
DimBinder::Maker::solvable(std::span<const uint32_t> exprs) const {
  std::vector<Place> found;
  auto exprOf = [&](Place place) { return exprAt(place); };
  for (uint32_t expr : exprs)
    if (unknowns[expr] < Unknowns::many)
      std::ranges::copy(std::ranges::equal_range(places, expr, {}, exprOf),
                        std::back_inserter(found));
  std::ranges::sort(found);
  auto again = std::ranges::unique(found);
  found.erase(again.begin(), again.end());
  return found;
}

/// Appends what `expr` is computed from and no definition before needs.
void DimBinder::Maker::listNeeds(uint32_t expr) {
  std::vector<uint32_t> &list = binder.needed;
  auto add = [&](uint32_t index) {
    if (!isListed[index])
      list.push_back(index);
    isListed[index] = true;
  };
  size_t first = list.size();
  add(expr);
  for (size_t i = first; i < list.size(); ++i)
    if (const Expr &each = program.exprs[list[i]]; !isLeaf(each)) {
      add(each.lhs);
      add(each.rhs);
    }
}

void DimBinder::Maker::define(Place place, uint32_t symbol) {
  Definition definition{symbol, place.input, place.axis};
  definition.firstNeed = uint32_t(binder.needed.size());
  definition.firstUndo = uint32_t(binder.undone.size());
  uint32_t index = exprAt(place);
  while (!isLeaf(program.exprs[index])) {
    const Expr &expr = program.exprs[index];
    bool isLeft = unknowns[expr.lhs] != Unknowns::none;
    uint32_t other = isLeft ? expr.rhs : expr.lhs;
    binder.undone.push_back({expr.op, other});
    listNeeds(other);
    index = isLeft ? expr.lhs : expr.rhs;
  }
  // Operands come before users.
  std::sort(binder.needed.begin() + definition.firstNeed, binder.needed.end());
  definition.lastNeed = uint32_t(binder.needed.size());
  definition.lastUndo = uint32_t(binder.undone.size());
  binder.definitions.push_back(definition);
}

Status DimBinder::Maker::run() {
  listPlaces();
  std::vector<Place> open;
  for (Place place : places)
    if (unknowns[exprAt(place)] < Unknowns::many)
      open.push_back(place);
  std::ranges::stable_sort(places, {},
                           [&](Place place) { return exprAt(place); });
  while (!open.empty()) {
    std::vector<uint32_t> defined;
    for (Place place : open) {
      uint32_t symbol = unknowns[exprAt(place)];
      if (unknowns.isKnown(symbol))
        continue;
      define(place, symbol);
      unknowns.define(symbol);
      defined.push_back(symbol);
    }
    open = solvable(unknowns.update(defined));
  }
  for (uint32_t symbol = 0; symbol < program.numSymbols; ++symbol)
    if (!unknowns.isKnown(symbol))
      return makeError(ErrorKind::io,
                       fmt::format("model file: symbol s{} does not follow "
                                   "from the inputs' dims",
                                   symbol));
  return {};
}

Result<DimBinder> DimBinder::make(const ProgramData &program) {
  DimBinder binder;
  SINTER_TRY(Maker(program, binder).run());
  return binder;
}

Status DimBinder::bind(const ProgramData &program,
                       std::span<const Binding> inputs,
                       std::vector<int64_t> &symbols) const {
  if (inputs.size() != program.inputs.size())
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("the program takes {} inputs, got {}",
                                 program.inputs.size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dims.size() != program.inputs[i].dims.size())
      return bindError(program, i, inputs[i].dims);
  symbols.assign(program.numSymbols, poison);
  std::vector<int64_t> values(needed.empty() ? 0 : program.exprs.size());
  for (const Definition &definition : definitions) {
    for (uint32_t i = definition.firstNeed; i < definition.lastNeed; ++i)
      values[needed[i]] =
          evaluateOne(program.exprs[needed[i]], symbols, values);
    int64_t value = inputs[definition.input].dims[definition.axis];
    bool isSolved = true;
    for (uint32_t i = definition.firstUndo; i < definition.lastUndo; ++i)
      isSolved =
          isSolved && undo(undone[i].op, values[undone[i].operand], value);
    if (!isSolved || value < 0 || value >= dimLimit)
      return bindError(program, definition.input,
                       inputs[definition.input].dims);
    symbols[definition.symbol] = value;
  }
  return {};
}

ErrorInfo sinter::runtime::bindError(const ProgramData &program, size_t input,
                                     std::span<const int64_t> dims) {
  const Port &port = program.inputs[input];
  std::string got = fmt::format("{}[{}]", name(port.dtype),
                                fmt::join(dims.begin(), dims.end(), ","));
  std::string expected = portType(port, program.exprs);
  ErrorInfo error =
      makeError(ErrorKind::invalid_argument,
                fmt::format("{}: expected {}, got {}",
                            portName("input", port, input), expected, got));
  error.shapes = {expected, got};
  return error;
}
