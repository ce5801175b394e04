/// Writes graphs: values in order, sizes where they are needed.
#include "frontend/export/onnx/GraphWriter.h"

#include "frontend/Raise.h"
#include "frontend/export/onnx/LoopWriter.h"
#include "frontend/export/onnx/OpCall.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"

#include <sinter/Error.h>

#include <algorithm>
#include <fmt/format.h>

namespace sinter::onnx {

using graph::AttrKind;
using graph::NodeRef;

//===- Sizes --------------------------------------------------------------===//

std::optional<int64_t> GraphWriter::sizeOf(uint32_t expr) const {
  const Expr &dim = graph.exprs[expr];
  return dim.op == ExprOp::constant ? std::optional(dim.value) : std::nullopt;
}

int64_t GraphWriter::exampleOf(uint32_t expr) const {
  return evaluate(graph.exprs, expr, graph.symbolValues);
}

static const char *operatorOf(ExprOp op) {
  switch (op) {
  case ExprOp::add:
    return "Add";
  case ExprOp::mul:
    return "Mul";
  case ExprOp::mod:
    return "Mod";
  default: // sizes are not negative
    return "Div";
  }
}

std::string GraphWriter::dimName(uint32_t expr) {
  const Expr &dim = graph.exprs[expr];
  if (dim.op == ExprOp::constant)
    return file.integers({dim.value});
  if (dim.op == ExprOp::symbol) {
    if (symbols[size_t(dim.value)].empty())
      throw Error(makeError(ErrorKind::unsupported,
                            "a size that no input tells is needed"));
    return symbols[size_t(dim.value)];
  }
  if (auto found = written.find(expr); found != written.end())
    return found->second;
  auto node = [&](const char *op, const std::string &a, const std::string &b) {
    std::string result = file.uniqueName("size");
    std::string operands[] = {a, b};
    file.node(op, operands, {&result, 1}, {});
    return result;
  };
  std::string lhs = dimName(dim.lhs), rhs = dimName(dim.rhs);
  if (dim.op == ExprOp::ceilDiv)
    lhs = node("Add", lhs, node("Sub", rhs, file.integers({1})));
  return written[expr] = node(operatorOf(dim.op), lhs, rhs);
}

std::string GraphWriter::dimsName(const std::vector<uint32_t> &exprs) {
  std::vector<int64_t> sizes;
  for (uint32_t expr : exprs)
    if (std::optional<int64_t> size = sizeOf(expr))
      sizes.push_back(*size);
  if (sizes.size() == exprs.size())
    return file.integers(sizes);
  std::vector<std::string> parts;
  for (uint32_t expr : exprs)
    parts.push_back(dimName(expr));
  if (parts.size() == 1)
    return parts[0];
  std::string result = file.uniqueName("shape");
  file.node("Concat", parts, {&result, 1}, {{"axis", int64_t(0)}});
  return result;
}

//===- Values -------------------------------------------------------------===//

/// What others can mostly do without: operators broadcast by themselves, and a
/// loop knows its index.
bool GraphWriter::isPutOff(const graph::Value &value) const {
  std::string_view op = graph::info(value.op).name;
  return op == "broadcast" || op == "full" || op == "scan_index";
}

void GraphWriter::writeAll() {
  loops = detail::unwrap(graph::loopsOf(graph), {});
  size_t next = 0; // of the loops, which are in the order of their ends
  for (uint32_t i = 0; i < graph.values.size(); ++i) {
    if (next < loops.all.size() && i == loops.all[next].end)
      writeLoop(*this, loops.all[next++]);
    else if (names[i].empty() && graph.values[i].op != graph::leafOp &&
             loops.owner[i] == graph::Loops::none && !isPutOff(graph.values[i]))
      write(i);
  }
}

const std::string &GraphWriter::nameOf(uint32_t value) {
  if (names[value].empty())
    write(value);
  return names[value];
}

const std::string &GraphWriter::narrowOf(uint32_t value) {
  const graph::Value *at = &graph.values[value];
  while (names[value].empty() && graph::info(at->op).name == "broadcast") {
    value = at->operands[0];
    at = &graph.values[value];
    if (at->op == graph::leafOp)
      break;
  }
  if (!names[value].empty() || graph::info(at->op).name != "full")
    return nameOf(value);
  graph::AttrReader attrs(at->attrs);
  attrs.dims();
  Number number = attrs.number();
  return narrow[value] = OpCall(*this, value).number(at->dtype, number);
}

void GraphWriter::fail(uint32_t value, ErrorInfo error) const {
  const graph::Value &at = graph.values[value];
  std::string op(graph::info(at.op).name);
  error.message =
      fmt::format("export_onnx: {} of {} (opset {}): {}", op,
                  sinter::name(at.dtype), file.opset(), error.message);
  error.op = op;
  error.site = value < graph.sites.size() ? graph.sites[value] : 0;
  detail::raise(std::move(error), {});
}

void GraphWriter::write(uint32_t value) try {
  const graph::OpInfo &op = graph::info(graph.values[value].op);
  const WrittenOp *row = findWrittenOp(op.name);
  if (row && row->since > file.opset())
    row = nullptr;
  OpCall call(*this, value);
  if (row && row->rule)
    row->rule(call);
  else if (row)
    call.give(row->same, call.elementwise());
  else if (op.composite)
    writeParts(value);
  else
    call.unsupported("no operator of ONNX does this");
} catch (const Error &error) {
  if (error.message().starts_with("export_onnx: "))
    throw;
  fail(value, makeError(error.kind(), error.message()));
}

//===- Parts of composites ------------------------------------------------===//

/// Sizes of a composite become symbols of the parts, each its own: how they
/// hang together was found when the composite was recorded.
Dim GraphWriter::wholeDim(uint32_t expr) {
  if (std::optional<int64_t> size = sizeOf(expr))
    return *size;
  auto [found, isNew] = whole.try_emplace(expr);
  if (isNew)
    found->second = Dim(exampleOf(expr), dim_exprs::symbol(0, (1u << 17) + expr,
                                                           exampleOf(expr)));
  return found->second;
}

std::vector<uint64_t> GraphWriter::wholeAttrs(uint32_t value) {
  const graph::Value &at = graph.values[value];
  std::vector<uint64_t> words = at.attrs;
  size_t place = 0;
  auto dim = [&] {
    Dim dim = wholeDim(uint32_t(words[place + 1]));
    words[place++] = uint64_t(dim.value);
    words[place++] = dim.expr;
  };
  for (const graph::AttrSpec &spec : graph::info(at.op).attrs) {
    if (spec.kind == AttrKind::dim)
      dim();
    else if (spec.kind == AttrKind::dims)
      for (uint64_t count = words[place++]; count > 0; --count)
        dim();
    else if (graph::isList(spec.kind))
      place += 1 + words[place];
    else
      place += spec.kind == AttrKind::number ? 2 : 1;
  }
  return words;
}

void GraphWriter::writeParts(uint32_t value) {
  const graph::Value &at = graph.values[value];
  std::vector<NodeRef> leaves;
  for (uint32_t operand : at.operands) {
    std::vector<Dim> dims;
    for (uint32_t expr : graph.values[operand].dims)
      dims.push_back(wholeDim(expr));
    leaves.push_back(graph::NodeFactory::lazyLeaf(graph.values[operand].dtype,
                                                  dims, DeviceId(), false));
  }
  NodeRef parts =
      detail::unwrap(graph::decompose(at.op, leaves, wholeAttrs(value)), {});
  graph::Slice slice = detail::unwrap(graph::slice({&parts, 1}), {});
  GraphWriter inner(file, slice.graph);
  std::map<uint32_t, uint32_t> exprOf; // by interned symbol
  for (const auto &[expr, dim] : whole)
    exprOf[dim.expr] = expr;
  for (uint32_t i = 0; i < slice.nodes.size(); ++i)
    for (size_t axis = 0; axis < slice.graph.values[i].dims.size(); ++axis) {
      const Expr &own = slice.graph.exprs[slice.graph.values[i].dims[axis]];
      auto found = exprOf.find(slice.nodes[i]->dims()[axis].expr);
      if (own.op == ExprOp::symbol && found != exprOf.end() &&
          inner.symbols[size_t(own.value)].empty())
        inner.bindSymbol(uint32_t(own.value), dimName(found->second));
    }
  for (size_t i = 0; i < slice.inputs.size(); ++i) {
    auto place = std::ranges::find(leaves, slice.inputs[i]) - leaves.begin();
    inner.bind(slice.graph.inputs[i].value, nameOf(at.operands[size_t(place)]));
  }
  uint32_t output = slice.graph.outputs[0];
  if (slice.graph.values[output].op == graph::leafOp) {
    OpCall(*this, value).give("Identity", {inner.nameOf(output)});
    return;
  }
  if (auto found = wanted.find(value); found != wanted.end())
    inner.reserve(output, found->second);
  inner.writeAll();
  bind(value, inner.nameOf(output));
}

} // namespace sinter::onnx
