/// Evaluates and prints dimension expressions.
#include "runtime/program/ProgramData.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr int64_t poison = std::numeric_limits<int64_t>::min();

int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0); // b > 0
}

int64_t apply(ExprOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (a == poison || b == poison)
    return poison;
  switch (op) {
  case ExprOp::add:
    return __builtin_add_overflow(a, b, &result) ? poison : result;
  case ExprOp::mul:
    return __builtin_mul_overflow(a, b, &result) ? poison : result;
  case ExprOp::floorDiv:
    return b <= 0 ? poison : floorDivide(a, b);
  case ExprOp::ceilDiv:
    return b <= 0 ? poison : floorDivide(a, b) + (a % b != 0 ? 1 : 0);
  case ExprOp::mod:
    return b <= 0 ? poison : a - floorDivide(a, b) * b;
  case ExprOp::constant:
  case ExprOp::symbol:
    break;
  }
  return poison;
}

} // namespace

void sinter::runtime::evaluateAll(std::span<const Expr> exprs,
                                  std::span<const int64_t> symbols,
                                  std::vector<int64_t> &values) {
  values.resize(exprs.size());
  for (size_t i = 0; i < exprs.size(); ++i) {
    const Expr &expr = exprs[i];
    if (expr.op == ExprOp::constant)
      values[i] = expr.value;
    else if (expr.op == ExprOp::symbol)
      values[i] = symbols[size_t(expr.value)];
    else
      values[i] = apply(expr.op, values[expr.lhs], values[expr.rhs]);
  }
}

static std::string exprTextAt(std::span<const Expr> exprs, uint32_t index,
                              unsigned depth) {
  const Expr &expr = exprs[index];
  if (expr.op == ExprOp::constant)
    return std::to_string(expr.value);
  if (expr.op == ExprOp::symbol)
    return fmt::format("s{}", expr.value);
  if (depth == 8)
    return "...";
  static constexpr const char *formats[] = {
      "",          "", "{}+{}", "{}*{}", "floordiv({},{})", "ceildiv({},{})",
      "mod({},{})"};
  auto part = [&](uint32_t operand) {
    std::string text = exprTextAt(exprs, operand, depth + 1);
    bool sum = exprs[operand].op == ExprOp::add && expr.op == ExprOp::mul;
    return sum ? "(" + text + ")" : text;
  };
  return fmt::format(fmt::runtime(formats[unsigned(expr.op)]), part(expr.lhs),
                     part(expr.rhs));
}

std::vector<LaunchInfo>
sinter::runtime::launchesOf(const ProgramData &program) {
  std::vector<LaunchInfo> list;
  for (const StepData &step : program.steps)
    if (step.isLaunch())
      list.push_back({program.kernels[step.kernel].name,
                      program.kernels[step.kernel].kind, step.nodes});
  return list;
}

const LoopData *sinter::runtime::loopAround(const ProgramData &program,
                                            uint32_t step) {
  for (const LoopData &loop : program.loops)
    if (loop.holds(step))
      return &loop;
  return nullptr;
}

std::string sinter::runtime::exprText(std::span<const Expr> exprs,
                                      uint32_t index) {
  return exprTextAt(exprs, index, 0);
}

std::string sinter::runtime::portType(const Port &port,
                                      std::span<const Expr> exprs) {
  std::string text = std::string(name(port.dtype)) + "[";
  for (size_t i = 0; i < port.dims.size(); ++i)
    text += (i ? "," : "") + exprText(exprs, port.dims[i]);
  return text + "]";
}

std::string sinter::runtime::portName(const char *what, const Port &port,
                                      size_t number) {
  if (port.name.empty())
    return fmt::format("{} {}", what, number);
  return fmt::format("{} '{}'", what, port.name);
}
