/// What rules need of the op that they write.
#include "frontend/export/cpp/OpCode.h"

#include "frontend/Raise.h"
#include "frontend/export/cpp/Text.h"

#include <sinter/Error.h>

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinter::cpp {

using graph::AttrKind;
using graph::PatternKind;

Code callOf(std::string_view name, const std::vector<std::string> &arguments) {
  return {fmt::format("sn::{}({})", name, fmt::join(arguments, ", "))};
}

std::vector<int64_t> OpCode::ints() {
  std::span<const int64_t> numbers = reader.ints();
  return {numbers.begin(), numbers.end()};
}

std::vector<uint32_t> OpCode::dims() {
  std::vector<uint32_t> exprs;
  for (const Dim &dim : reader.dims())
    exprs.push_back(dim.expr);
  return exprs;
}

std::string OpCode::dimList(const std::vector<uint32_t> &exprs) {
  std::string text;
  for (uint32_t expr : exprs)
    text += (text.empty() ? "" : ", ") + dim(expr);
  return "{" + text + "}";
}

std::string OpCode::options() const {
  return fmt::format("{{{}, {}}}", dtypeName(dtype()), writer.device);
}

void OpCode::unsupported(const std::string &why) const {
  throw Error(makeError(ErrorKind::unsupported, why));
}

//===- Operands -----------------------------------------------------------===//

bool OpCode::isLiteral(uint32_t value) const {
  const graph::Value &at = writer.graph.values[value];
  return writer.areNumbers[value] ||
         (at.op != graph::leafOp && graph::info(at.op).name == "full");
}

std::string OpCode::literalOf(uint32_t value) const {
  if (writer.areNumbers[value])
    return writer.codes[value]->text;
  const graph::Value &at = writer.graph.values[value];
  graph::AttrReader attrs(at.attrs);
  attrs.dims();
  return literal(at.dtype, attrs.number());
}

Code OpCode::in(size_t i) {
  uint32_t value = this->value().operands[i];
  if (!writer.areNumbers[value])
    return writer.codeOf(value);
  return callOf("full", {"{}", literalOf(value),
                         fmt::format("{{{}, {}}}", dtypeName(operand(i).dtype),
                                     writer.device)});
}

/// What was broadcast, where that has no name yet.
uint32_t OpCode::narrow(uint32_t value) const {
  while (!writer.codes[value] && writer.isPutOff(value) &&
         !writer.graph.values[value].operands.empty())
    value = writer.graph.values[value].operands[0];
  return value;
}

std::vector<Code> OpCode::elementwise() {
  const std::vector<uint32_t> &operands = value().operands;
  bool isWhole = std::ranges::any_of(operands, [&](uint32_t each) {
    return !writer.isPutOff(each) && !writer.areNumbers[each];
  });
  std::vector<Code> codes;
  for (size_t i = 0; i < operands.size(); ++i) {
    uint32_t from = isWhole ? narrow(operands[i]) : operands[i];
    // A number takes the dtype of the tensor that it meets. The first of three
    // operands is a condition.
    bool isTyped = false;
    for (size_t j = operands.size() > 2 ? 1 : 0; j < operands.size(); ++j)
      isTyped |= j != i && operand(j).dtype == operand(i).dtype &&
                 !isLiteral(narrow(operands[j]));
    if (!isLiteral(from))
      codes.push_back(writer.codeOf(from));
    else if (isWhole && isTyped)
      codes.push_back({literalOf(from), literalOf(from).starts_with('-')
                                            ? Code::negates
                                            : Code::whole});
    else
      codes.push_back(in(i));
  }
  return codes;
}

//===- Calls --------------------------------------------------------------===//

std::string OpCode::attribute(const graph::AttrSpec &spec) {
  switch (spec.kind) {
  case AttrKind::boolean:
    return reader.boolean() ? "true" : "false";
  case AttrKind::integer:
    return fmt::format("{}", reader.integer());
  case AttrKind::real:
    return real(reader.real());
  case AttrKind::number: {
    Number number = reader.number();
    // Of an integer's clamp a bound that is missing is infinite.
    DType as = !number.isReal     ? DType::i64
               : isFloat(dtype()) ? dtype()
                                  : DType::f64;
    return literal(as, number);
  }
  case AttrKind::dtype:
    return dtypeName(reader.dtype());
  case AttrKind::ints: {
    std::vector<int64_t> numbers = ints();
    if (numbers.empty() && !operand(0).dims.empty())
      unsupported(fmt::format("no {}", spec.name));
    return list(numbers);
  }
  case AttrKind::dim:
    return dim(reader.dim().expr);
  case AttrKind::dims:
    return dimList(dims());
  case AttrKind::choice:
    break;
  case AttrKind::text:
    unsupported("a text");
  }
  auto chosen = size_t(reader.integer());
  std::string_view names = spec.choices;
  for (; chosen > 0; --chosen)
    names.remove_prefix(names.find(',') + 1);
  names = names.substr(0, names.find(','));
  std::string_view type = spec.name == "approximate" ? "GeluForm"
                          : spec.name == "layout"    ? "Layout"
                          : spec.name == "span"      ? "AttentionSpan"
                                                     : "";
  if (type.empty())
    unsupported(fmt::format("a choice of {}", spec.name));
  return fmt::format("sn::{}::{}", type, names);
}

Code OpCode::call() {
  const graph::OpInfo &info = graph::info(value().op);
  std::vector<std::string> arguments;
  bool isPointwise = info.kind == PatternKind::pointwise && numOperands() > 1;
  if (isPointwise)
    for (const Code &code : elementwise())
      arguments.push_back(code.text);
  else
    for (size_t i = 0; i < numOperands(); ++i)
      arguments.push_back(in(i).text);
  if (info.arity == graph::variadic)
    arguments = {fmt::format("{{{}}}", fmt::join(arguments, ", "))};
  for (const graph::AttrSpec &spec : info.attrs)
    arguments.push_back(attribute(spec));
  bool hasDefault =
      !info.attrs.empty() && (info.attrs.back().name == "keepdims" ||
                              info.attrs.back().name == "reverse");
  if (hasDefault && arguments.back() == "false")
    arguments.pop_back();
  return callOf(info.name, arguments);
}

Code OpCode::infix(const char *symbol, Code::Binding binding) {
  std::vector<Code> codes = elementwise();
  auto tighter = Code::Binding(binding + 1);
  // Comparisons of comparisons are read wrongly.
  auto left = binding == Code::compares ? tighter : binding;
  return {fmt::format("{} {} {}", within(codes[0], left), symbol,
                      within(codes[1], tighter)),
          binding};
}

} // namespace sinter::cpp
