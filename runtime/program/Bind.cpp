/// Solves the dims of inputs for the symbols.
#include "runtime/program/Bind.h"

#include <fmt/format.h>
#include <optional>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr int64_t dimLimit = int64_t(1) << 31;

/// For every expr its one unknown symbol, given which symbols are known.
class Unknowns {
public:
  enum : uint32_t { none = ~0u, many = ~0u - 1 };

  explicit Unknowns(const ProgramData &program)
      : program(program), known(program.numSymbols) {}

  void define(uint32_t symbol) { known[symbol] = true; }
  bool isKnown(uint32_t symbol) const { return known[symbol]; }

  /// The symbol of each expr, `none`, or `many` when it cannot be solved for
  /// one.
  std::vector<uint32_t> all() const {
    std::vector<uint32_t> found;
    for (const Expr &expr : program.exprs)
      found.push_back(unknownOf(expr, found));
    return found;
  }

private:
  uint32_t unknownOf(const Expr &expr,
                     const std::vector<uint32_t> &found) const {
    if (expr.op == ExprOp::constant)
      return none;
    if (expr.op == ExprOp::symbol)
      return known[size_t(expr.value)] ? none : uint32_t(expr.value);
    uint32_t lhs = found[expr.lhs], rhs = found[expr.rhs];
    if (lhs == none && rhs == none)
      return none;
    bool invertible = expr.op == ExprOp::add || expr.op == ExprOp::mul;
    if (!invertible || (lhs != none && rhs != none))
      return many;
    return lhs == none ? rhs : lhs;
  }

  const ProgramData &program;
  std::vector<bool> known;
};

constexpr int64_t poison = std::numeric_limits<int64_t>::min();

/// Solves expr = target for the one symbol whose value is still unknown
/// (poison in `symbols`).
std::optional<int64_t> solve(const ProgramData &program, uint32_t index,
                             int64_t target, std::span<const int64_t> values) {
  while (true) {
    const Expr &expr = program.exprs[index];
    if (expr.op == ExprOp::symbol)
      return target;
    bool lhsKnown = values[expr.lhs] != poison;
    int64_t other = values[lhsKnown ? expr.lhs : expr.rhs];
    index = lhsKnown ? expr.rhs : expr.lhs;
    if (other == poison)
      return std::nullopt;
    if (expr.op == ExprOp::add) {
      if (__builtin_sub_overflow(target, other, &target))
        return std::nullopt;
      continue;
    }
    if (other == 0 || target % other != 0)
      return std::nullopt;
    target /= other;
  }
}

} // namespace

Result<DimBinder> DimBinder::make(const ProgramData &program) {
  DimBinder binder;
  Unknowns unknowns(program);
  // Dims that are a bare symbol first, then those that one step solves.
  for (bool progress = true; progress;) {
    progress = false;
    std::vector<uint32_t> unknown = unknowns.all();
    for (uint32_t i = 0; i < program.inputs.size(); ++i) {
      const Port &port = program.inputs[i];
      for (uint32_t axis = 0; axis < port.dims.size(); ++axis) {
        uint32_t symbol = unknown[port.dims[axis]];
        if (symbol >= Unknowns::many || unknowns.isKnown(symbol))
          continue;
        unknowns.define(symbol);
        binder.definitions.push_back({symbol, i, axis});
        progress = true;
      }
    }
  }
  for (uint32_t symbol = 0; symbol < program.numSymbols; ++symbol)
    if (!unknowns.isKnown(symbol))
      return makeError(ErrorKind::io,
                       fmt::format("model file: symbol s{} does not follow "
                                   "from the inputs' dims",
                                   symbol));
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
  std::vector<int64_t> values;
  for (const Definition &definition : definitions) {
    int64_t dim = inputs[definition.input].dims[definition.axis];
    uint32_t index = program.inputs[definition.input].dims[definition.axis];
    std::optional<int64_t> solved = dim;
    if (program.exprs[index].op != ExprOp::symbol) {
      evaluateAll(program.exprs, symbols, values);
      solved = solve(program, index, dim, values);
    }
    if (!solved || *solved < 0 || *solved >= dimLimit)
      return bindError(program, definition.input,
                       inputs[definition.input].dims);
    symbols[definition.symbol] = *solved;
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
