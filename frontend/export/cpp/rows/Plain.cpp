/// Operators, and ops whose functions have other arguments.
#include "frontend/export/cpp/Text.h"
#include "frontend/export/cpp/rows/Rows.h"

#include <fmt/format.h>

namespace sinter::cpp {

//===- Operators ----------------------------------------------------------===//

static Code addRule(OpCode &op) { return op.infix("+", Code::adds); }
static Code subRule(OpCode &op) { return op.infix("-", Code::adds); }
static Code mulRule(OpCode &op) { return op.infix("*", Code::multiplies); }

static Code divRule(OpCode &op) {
  if (isFloat(op.dtype()))
    return op.infix("/", Code::multiplies);
  std::vector<Code> codes = op.elementwise();
  return callOf("div", {codes[0].text, codes[1].text, "sn::Rounding::trunc"});
}

static Code negRule(OpCode &op) {
  return {"-" + within(op.in(0), Code::whole), Code::negates};
}

static Code compareRule(OpCode &op) {
  static constexpr const char *symbols[] = {"==", "!=", "<", "<=", ">", ">="};
  enum Predicate : uint8_t {};
  auto predicate = op.attrs().choice<Predicate>();
  return op.infix(symbols[predicate], Code::compares);
}

/// A plain number as exponent would be a root or products.
static Code powRule(OpCode &op) {
  return callOf("pow", {op.in(0).text, op.in(1).text});
}

/// A value that is another one.
static Code sameRule(OpCode &op) { return op.in(0); }

//===- Views --------------------------------------------------------------===//

/// The only axis of which not all elements are taken, one after the other.
static std::optional<size_t> cutAxis(OpCode &op,
                                     const std::vector<int64_t> &starts,
                                     const std::vector<uint32_t> &limits,
                                     const std::vector<int64_t> &steps) {
  std::optional<size_t> axis;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] != 1)
      return std::nullopt;
    if (starts[i] == 0 && limits[i] == op.operand(0).dims[i])
      continue;
    if (axis)
      return std::nullopt;
    axis = i;
  }
  return axis;
}

static Code sliceRule(OpCode &op) {
  if (op.rank() == 0)
    return op.in(0);
  std::vector<int64_t> starts = op.ints();
  std::vector<uint32_t> limits = op.dims();
  std::vector<int64_t> steps = op.ints();
  std::string x = op.in(0).text;
  if (auto axis = cutAxis(op, starts, limits, steps))
    return callOf("narrow", {x, fmt::format("{}", *axis),
                             fmt::format("{}", starts[*axis]),
                             op.dim(op.value().dims[*axis])});
  return callOf("slice", {x, list(starts), op.dimList(limits), list(steps)});
}

static Code dynamicSliceRule(OpCode &op) {
  int64_t axis = op.attrs().integer();
  std::string size = op.dim(op.attrs().dim().expr);
  return callOf("narrow",
                {op.in(0).text, fmt::format("{}", axis), op.in(1).text, size});
}

/// How much stands behind x, where that is a number.
static std::optional<int64_t> afterOf(OpCode &op, uint32_t own, uint32_t shape,
                                      int64_t low) {
  auto from = op.sizeOf(own), to = op.sizeOf(shape);
  if (from && to)
    return *to - *from - low;
  return own == shape && low == 0 ? std::optional<int64_t>(0) : std::nullopt;
}

/// By axes where these are numbers, and the value is one that a double holds;
/// else by the result's shape.
static Code padRule(OpCode &op) {
  std::vector<int64_t> low = op.ints();
  std::vector<uint32_t> shape = op.dims();
  std::vector<int64_t> interior = op.ints();
  Number value = op.attrs().number();
  constexpr int64_t most = int64_t(1) << 53;
  bool isWide =
      !value.isReal && (value.integer > most || value.integer < -most);
  std::string paddings;
  for (size_t i = 0; i < low.size(); ++i) {
    auto after = afterOf(op, op.operand(0).dims[i], shape[i], low[i]);
    if (!after || interior[i] != 0 || isWide)
      return callOf("pad", {op.in(0).text, list(low), op.dimList(shape),
                            list(interior), literal(op.dtype(), value)});
    if (low[i] != 0 || *after != 0)
      paddings += fmt::format("{}{{{}, {}, {}}}", paddings.empty() ? "" : ", ",
                              i, low[i], *after);
  }
  if (paddings.empty())
    return op.in(0);
  std::vector<std::string> arguments{op.in(0).text, "{" + paddings + "}"};
  if (value.asReal() != 0) {
    arguments.emplace_back("sn::PadMode::constant");
    arguments.push_back(literal(op.dtype(), value));
  }
  return callOf("pad", arguments);
}

//===- Made of sizes and numbers ------------------------------------------===//

static Code fullRule(OpCode &op) {
  std::string shape = op.dimList(op.dims());
  return callOf(
      "full", {shape, literal(op.dtype(), op.attrs().number()), op.options()});
}

static Code iotaRule(OpCode &op) {
  std::string shape = op.dimList(op.dims());
  return callOf("iota",
                {shape, fmt::format("{}", op.attrs().integer()), op.options()});
}

//===- Orders -------------------------------------------------------------===//

/// The first elements in order, or their places.
static Code ordered(OpCode &op, const char *part) {
  int64_t axis = op.attrs().integer();
  bool isDescending = op.attrs().boolean();
  uint32_t count = op.attrs().dim().expr;
  const char *order = isDescending ? "true" : "false";
  std::string x = op.in(0).text;
  Code code;
  if (count == op.operand(0).dims[size_t(axis)])
    code = callOf("sort", {x, fmt::format("{}", axis), order});
  else if (auto size = op.sizeOf(count))
    code = callOf(
        "topk", {x, fmt::format("{}", *size), fmt::format("{}", axis), order});
  else
    op.unsupported("a number of elements that varies");
  code.text += part;
  return code;
}
static Code sortRule(OpCode &op) { return ordered(op, ".values"); }
static Code argsortRule(OpCode &op) { return ordered(op, ".indices"); }

static Code extremum(OpCode &op, const char *name) {
  int64_t axis = op.attrs().integer();
  if (op.attrs().boolean())
    op.unsupported("from the end");
  Code code = callOf(name, {op.in(0).text, fmt::format("{}", axis)});
  code.text += ".values";
  return code;
}
static Code cummaxRule(OpCode &op) { return extremum(op, "cummax"); }
static Code cumminRule(OpCode &op) { return extremum(op, "cummin"); }

//===- Attention ----------------------------------------------------------===//

/// Whether an operand is 0 everywhere: no mask.
static bool isZero(OpCode &op, size_t i) {
  const graph::Value &mask = op.operand(i);
  if (mask.op == graph::leafOp || graph::info(mask.op).name != "full")
    return false;
  graph::AttrReader attrs(mask.attrs);
  attrs.dims();
  return attrs.number().asReal() == 0;
}

static Code attentionRule(OpCode &op) {
  enum Span : uint8_t { all, causal };
  auto span = op.attrs().choice<Span>();
  std::string options;
  if (!isZero(op, 3))
    options += fmt::format(".mask = {}, ", op.tensor(3));
  if (span == causal)
    options += ".causal = true, ";
  options += fmt::format(".scale = {}", real(op.attrs().real()));
  return callOf(
      "scaled_dot_product_attention",
      {op.in(0).text, op.in(1).text, op.in(2).text, "{" + options + "}"});
}

//===- What has no statement ----------------------------------------------===//

static Code dynamicPadRule(OpCode &op) {
  op.unsupported("padding whose place varies");
}
static Code dropoutRule(OpCode &op) {
  op.unsupported("it draws random numbers");
}
static Code extentRule(OpCode &op) {
  if (auto size = op.sizeOf(op.attrs().dim().expr))
    return callOf("full", {"{}", literal(op.dtype(), *size), op.options()});
  op.unsupported("a size that varies, as an element");
}
static Code innerRule(OpCode &op) {
  op.unsupported("it is no user's function");
}

static constexpr CodeRow rows[] = {
    {"add", addRule},
    {"sub", subRule},
    {"mul", mulRule},
    {"div", divRule},
    {"neg", negRule},
    {"compare", compareRule},
    {"pow", powRule},
    {"custom_gradient", sameRule},
    {"after", sameRule},
    {"slice", sliceRule},
    {"dynamic_slice", dynamicSliceRule},
    {"pad", padRule},
    {"full", fullRule},
    {"iota", iotaRule},
    {"extent", extentRule},
    {"sort", sortRule},
    {"argsort", argsortRule},
    {"cummax", cummaxRule},
    {"cummin", cumminRule},
    {"scaled_dot_product_attention", attentionRule},
    {"dynamic_pad", dynamicPadRule},
    {"dropout", dropoutRule},
    {"axpby", innerRule},
    {"adaptive_step", innerRule},
};

std::span<const CodeRow> plainRows() { return rows; }

} // namespace sinter::cpp
