/// Writes graphs: what others use once, and a node of a model has inside, is
/// part of an expression; else a value is a statement.
#include "frontend/export/cpp/GraphCode.h"

#include "frontend/Raise.h"
#include "frontend/export/cpp/OpCode.h"
#include "frontend/export/cpp/Text.h"
#include "runtime/support/Sites.h"

#include <sinter/Error.h>

#include <algorithm>
#include <fmt/format.h>

namespace sinter::cpp {

static constexpr uint32_t none = UINT32_MAX;

std::string within(const Code &code, Code::Binding binding) {
  return code.binding < binding ? "(" + code.text + ")" : code.text;
}

GraphCode::GraphCode(const graph::Graph &graph, Names &names)
    : graph(graph), names(names), codes(graph.values.size()),
      areNumbers(graph.values.size()), wanted(graph.values.size()),
      symbols(graph.numSymbols), uses(graph.values.size()),
      users(graph.values.size(), none) {
  for (uint32_t i = 0; i < graph.values.size(); ++i)
    if (!isPutOff(i))
      for (uint32_t operand : graph.values[i].operands)
        countUse(operand, i);
  for (uint32_t output : graph.outputs)
    countUse(output, none);
}

void GraphCode::bind(uint32_t value, std::string name) {
  codes[value] = Code{std::move(name)};
}

void GraphCode::bindParam(uint32_t value, std::string name) {
  params.insert(name);
  bind(value, std::move(name));
}

void GraphCode::bindNumber(uint32_t value, std::string literal) {
  areNumbers[value] = true;
  bind(value, std::move(literal));
}

void GraphCode::bindSymbol(uint32_t symbol, std::string_view wantedName,
                           std::string from) {
  if (symbols[symbol].name.empty())
    symbols[symbol] = {names.unique(wantedName, "size"), std::move(from)};
}

void GraphCode::reserve(uint32_t value, std::string name) {
  if (wanted[value].empty())
    wanted[value] = std::move(name);
}

//===- Sizes --------------------------------------------------------------===//

std::optional<int64_t> GraphCode::sizeOf(uint32_t expr) const {
  const Expr &dim = graph.exprs[expr];
  return dim.op == ExprOp::constant ? std::optional(dim.value) : std::nullopt;
}

int64_t GraphCode::exampleOf(uint32_t expr) const {
  return evaluate(graph.exprs, expr, graph.symbolValues);
}

std::string GraphCode::dim(uint32_t expr) { return dimCode(expr).text; }

Code GraphCode::dimCode(uint32_t expr) {
  const Expr &dim = graph.exprs[expr];
  if (dim.op == ExprOp::constant)
    return {fmt::format("{}", dim.value),
            dim.value < 0 ? Code::negates : Code::whole};
  if (dim.op == ExprOp::symbol) {
    Symbol &symbol = symbols[size_t(dim.value)];
    if (symbol.name.empty())
      throw Error(makeError(ErrorKind::unsupported,
                            "a size that no input tells is needed"));
    symbol.isUsed = true;
    return {symbol.name};
  }
  const Expr &right = graph.exprs[dim.rhs];
  if (dim.op == ExprOp::add && right.op == ExprOp::constant && right.value < 0)
    return {fmt::format("{} - {}", dimCode(dim.lhs).text, -right.value),
            Code::adds};
  Code lhs = dimCode(dim.lhs), rhs = dimCode(dim.rhs);
  if (dim.op == ExprOp::add)
    return {lhs.text + " + " + within(rhs, Code::adds), Code::adds};
  if (dim.op == ExprOp::mul)
    return {within(lhs, Code::multiplies) + " * " + within(rhs, Code::negates),
            Code::multiplies};
  const char *function = dim.op == ExprOp::mod       ? "mod"
                         : dim.op == ExprOp::ceilDiv ? "ceilDiv"
                                                     : "floorDiv";
  return {fmt::format("sn::{}({}, {})", function, lhs.text, rhs.text)};
}

//===- Values -------------------------------------------------------------===//

/// What others can mostly do without.
bool GraphCode::isPutOff(uint32_t value) const {
  if (graph.values[value].op == graph::leafOp)
    return false;
  std::string_view op = graph::info(graph.values[value].op).name;
  return op == "broadcast" || op == "full";
}

void GraphCode::countUse(uint32_t value, uint32_t user) {
  ++uses[value];
  users[value] = user;
  if (isPutOff(value))
    for (uint32_t operand : graph.values[value].operands)
      countUse(operand, user);
}

/// A node's name, or the line that recorded the value.
std::string GraphCode::labelOf(uint32_t value) const {
  if (value >= graph.sites.size())
    return {};
  std::string label(siteOf(graph.sites[value]).file);
  // Nodes of models are `name (model.onnx)`.
  size_t file = label.ends_with(')') ? label.rfind(" (") : label.npos;
  return file == label.npos ? lineString(graph.sites[value])
                            : label.substr(0, file);
}

bool GraphCode::isInlined(uint32_t value, const Code &code) const {
  constexpr size_t longest = 100;
  if (uses[value] != 1 || users[value] == none || graph.sites.empty())
    return false;
  return graph.sites[value] == graph.sites[users[value]] &&
         code.text.size() <= longest;
}

void GraphCode::writeAll() {
  for (uint32_t i = 0; i < graph.values.size(); ++i) {
    if (codes[i] || graph.values[i].op == graph::leafOp || isPutOff(i))
      continue;
    Code code = make(i);
    if (isInlined(i, code))
      codes[i] = std::move(code);
    else
      state(i, code);
  }
}

const Code &GraphCode::codeOf(uint32_t value) {
  if (codes[value])
    return *codes[value];
  if (!isPutOff(value))
    throw Error(makeError(ErrorKind::internal, "a value has no name"));
  Code code = make(value);
  if (uses[value] > 1)
    state(value, code);
  else
    codes[value] = std::move(code);
  return *codes[value];
}

std::string GraphCode::asTensor(const Code &code) const {
  return params.contains(code.text) ? code.text + ".tensor()" : code.text;
}

std::string GraphCode::tensorOf(uint32_t value) {
  return asTensor(codeOf(value));
}

void GraphCode::state(uint32_t value, const Code &code) {
  std::string label = labelOf(value);
  if (label != lastLabel && !label.empty())
    statements += comment(label, 4);
  lastLabel = label;
  std::string name =
      wanted[value].empty() ? names.unique(label, "value") : wanted[value];
  statements +=
      lines(fmt::format("sn::Tensor {} = {};", name, asTensor(code)), 4);
  codes[value] = Code{std::move(name)};
}

std::string GraphCode::text() const {
  std::string sizes;
  for (const Symbol &symbol : symbols)
    if (symbol.isUsed)
      sizes += lines(
          fmt::format("const sn::Dim {} = {};", symbol.name, symbol.from), 4);
  return sizes + statements;
}

void GraphCode::fail(uint32_t value, ErrorInfo error) const {
  const graph::Value &at = graph.values[value];
  std::string op(graph::info(at.op).name);
  error.message = fmt::format("export_cpp: {} of {}: {}", op,
                              sinter::name(at.dtype), error.message);
  error.op = op;
  error.site = value < graph.sites.size() ? graph.sites[value] : 0;
  detail::raise(std::move(error), {});
}

void GraphCode::refuse(uint32_t value, const std::string &why) const {
  fail(value, makeError(ErrorKind::unsupported, why));
}

Code GraphCode::make(uint32_t value) try {
  OpCode op(*this, value);
  std::string_view name = graph::info(graph.values[value].op).name;
  if (CodeRule rule = findCodeRule(name))
    return rule(op);
  if (!isWritten(name))
    op.unsupported("there is no function for it");
  return op.call();
} catch (const Error &error) {
  if (error.message().starts_with("export_cpp: "))
    throw;
  fail(value, makeError(error.kind(), error.message()));
}

} // namespace sinter::cpp
