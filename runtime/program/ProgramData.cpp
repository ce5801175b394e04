/// Evaluates and prints dimension expressions.
#include "runtime/program/ProgramData.h"

#include "runtime/support/Printable.h"

#include <algorithm>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr int64_t poison = std::numeric_limits<int64_t>::min();

int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0); // b > 0
}

/// Not by the quotient, whose product with b may overflow.
int64_t remainder(int64_t a, int64_t b) {
  int64_t rest = a % b; // b > 0
  return rest < 0 ? rest + b : rest;
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
    return b <= 0 ? poison : remainder(a, b);
  case ExprOp::constant:
  case ExprOp::symbol:
    break;
  }
  return poison;
}

} // namespace

int64_t sinter::runtime::evaluateOne(const Expr &expr,
                                     std::span<const int64_t> symbols,
                                     std::span<const int64_t> values) {
  if (expr.op == ExprOp::constant)
    return expr.value;
  if (expr.op == ExprOp::symbol)
    return symbols[size_t(expr.value)];
  return apply(expr.op, values[expr.lhs], values[expr.rhs]);
}

void sinter::runtime::evaluateAll(std::span<const Expr> exprs,
                                  std::span<const int64_t> symbols,
                                  std::vector<int64_t> &values) {
  values.resize(exprs.size());
  for (size_t i = 0; i < exprs.size(); ++i)
    values[i] = evaluateOne(exprs[i], symbols, values);
}

namespace {

/// Writes one expression. Operands are shared, so a short list of expressions
/// may be a text without end: of many parts only the first ones are written.
class ExprWriter {
public:
  explicit ExprWriter(std::span<const Expr> exprs) : exprs(exprs) {}

  std::string write(uint32_t index, unsigned depth = 0) {
    const Expr &expr = exprs[index];
    if (expr.op == ExprOp::constant)
      return std::to_string(expr.value);
    if (expr.op == ExprOp::symbol)
      return fmt::format("s{}", expr.value);
    if (depth == 8 || parts == 0)
      return "...";
    --parts;
    static constexpr const char *formats[] = {
        "",          "", "{}+{}", "{}*{}", "floordiv({},{})", "ceildiv({},{})",
        "mod({},{})"};
    std::string lhs = writePart(expr, expr.lhs, depth + 1);
    return fmt::format(fmt::runtime(formats[unsigned(expr.op)]), lhs,
                       writePart(expr, expr.rhs, depth + 1));
  }

private:
  std::string writePart(const Expr &of, uint32_t operand, unsigned depth) {
    std::string text = write(operand, depth);
    bool sum = exprs[operand].op == ExprOp::add && of.op == ExprOp::mul;
    return sum ? "(" + text + ")" : text;
  }

  std::span<const Expr> exprs;
  unsigned parts = 32;
};

} // namespace

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
  auto after =
      std::ranges::upper_bound(program.loops, step, {}, &LoopData::step);
  if (after == program.loops.begin())
    return nullptr;
  // The last one that begins before the step, or one around that.
  const LoopData *loop = &*std::prev(after);
  while (!loop->holds(step)) {
    const LoopData *parent = &program.loops[loop->parent];
    if (parent == loop)
      return nullptr;
    loop = parent;
  }
  return loop;
}

std::vector<uint32_t> sinter::runtime::writtenInBody(const ProgramData &program,
                                                     const LoopData &loop) {
  std::vector<uint32_t> written;
  for (uint32_t i = loop.first(); i <= loop.last(); ++i) {
    const StepData &step = program.steps[i];
    if (step.isLoop())
      continue;
    uint32_t inputs = step.isCopy ? 1 : program.kernels[step.kernel].numInputs;
    written.insert(written.end(), step.buffers.begin() + inputs,
                   step.buffers.end());
  }
  auto sort = [&] {
    std::ranges::sort(written);
    auto [first, last] = std::ranges::unique(written);
    written.erase(first, last);
  };
  sort();
  // Innermost first: what they write may be a part of what others move.
  for (uint32_t i = loop.last() + 1; i-- > loop.first();) {
    if (!program.steps[i].isLoop())
      continue;
    const LoopData &inner = program.loops[program.steps[i].loop];
    std::vector<uint32_t> more;
    for (const LoopData::Carry &each : inner.carries)
      more.insert(more.end(), {each.result, each.spare});
    for (const LoopData::Slice &each : inner.slices)
      if (std::ranges::binary_search(written, each.slice))
        more.push_back(each.whole);
    written.insert(written.end(), more.begin(), more.end());
    sort();
  }
  return written;
}

std::string sinter::runtime::exprText(std::span<const Expr> exprs,
                                      uint32_t index) {
  return ExprWriter(exprs).write(index);
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
  return fmt::format("{} '{}'", what, printableName(port.name));
}
