/// Edits keep the order of the values and number what is left anew.
#include "tools/sinter/EditGraph.h"

#include "runtime/graph/Builders.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

namespace sinter::cli {

using graph::Graph;
using graph::leafOp;
using graph::Value;
using reference::HostTensor;

std::vector<uint32_t> computedValues(const Graph &graph) {
  std::vector<uint32_t> numbers;
  for (uint32_t number = 0; number < graph.values.size(); ++number)
    if (graph.values[number].op != leafOp)
      numbers.push_back(number);
  return numbers;
}

//===- Dropping -----------------------------------------------------------===//

/// By number: what the outputs need.
static std::vector<char> neededOf(const Graph &graph) {
  std::vector<char> needed(graph.values.size());
  for (uint32_t output : graph.outputs)
    needed[output] = 1;
  for (size_t number = graph.values.size(); number-- > 0;)
    if (needed[number])
      for (uint32_t operand : graph.values[number].operands)
        needed[operand] = 1;
  return needed;
}

/// Without the values that no output needs.
static BoundGraph pruned(const BoundGraph &from) {
  const Graph &graph = from.graph;
  std::vector<char> needed = neededOf(graph);
  std::vector<uint32_t> numbers(graph.values.size());
  BoundGraph result;
  result.graph = graph;
  result.graph.values.clear();
  result.graph.sites.clear();
  result.graph.inputs.clear();
  for (uint32_t number = 0; number < graph.values.size(); ++number) {
    if (!needed[number])
      continue;
    numbers[number] = static_cast<uint32_t>(result.graph.values.size());
    Value value = graph.values[number];
    for (uint32_t &operand : value.operands)
      operand = numbers[operand];
    result.graph.values.push_back(std::move(value));
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!needed[graph.inputs[i].value])
      continue;
    result.graph.inputs.push_back(graph.inputs[i]);
    uint32_t &number = result.graph.inputs.back().value;
    number = numbers[number];
    result.inputs.push_back(from.inputs[i]);
  }
  for (uint32_t &output : result.graph.outputs)
    output = numbers[output];
  return result;
}

BoundGraph withOutputs(const BoundGraph &from, std::vector<uint32_t> outputs) {
  BoundGraph result = from;
  result.graph.outputs = std::move(outputs);
  result.graph.outputNames.clear();
  return pruned(result);
}

BoundGraph withCuts(const BoundGraph &from, const std::set<uint32_t> &cut,
                    const std::vector<HostTensor> &values) {
  BoundGraph result = from;
  for (uint32_t number : cut) {
    Value &value = result.graph.values[number];
    value.op = leafOp;
    value.operands.clear();
    value.attrs.clear();
    result.graph.inputs.push_back({number, graph::InputKind::data, {}});
    result.inputs.push_back(values[number]);
  }
  return pruned(result);
}

std::optional<std::vector<HostTensor>> allValues(const BoundGraph &from) {
  Graph graph = from.graph;
  graph.outputs.clear();
  graph.outputNames.clear();
  for (uint32_t number = 0; number < graph.values.size(); ++number)
    graph.outputs.push_back(number);
  auto values = reference::evaluate(graph, from.inputs);
  if (!values)
    return std::nullopt;
  return std::move(*values);
}

//===- Dims ---------------------------------------------------------------===//

namespace {

/// Writes a graph anew over constant dims. `extent` says what becomes of each
/// extent that the graph's inputs and attributes have.
class DimWriter {
public:
  DimWriter(const Graph &from, std::vector<int64_t> symbols,
            std::function<int64_t(int64_t)> extent)
      : from(from), symbols(std::move(symbols)), extent(std::move(extent)) {}

  std::optional<Graph> run();

private:
  int64_t newExtent(uint32_t expr) const {
    return extent(evaluate(from.exprs, expr, symbols));
  }
  uint32_t indexOf(int64_t value);
  bool writeOp(const Value &value);
  void readAttrs(const Value &value);

  const Graph &from;
  std::vector<int64_t> symbols;
  std::function<int64_t(int64_t)> extent;
  Graph graph;
  std::map<int64_t, uint32_t> known;
  std::vector<uint64_t> recorded; ///< of the op: dims by value
  std::vector<uint64_t> numbered; ///< of the op: dims by index
};

} // namespace

uint32_t DimWriter::indexOf(int64_t value) {
  auto [entry, isNew] =
      known.try_emplace(value, static_cast<uint32_t>(graph.exprs.size()));
  if (isNew)
    graph.exprs.push_back({ExprOp::constant, 0, 0, value});
  return entry->second;
}

void DimWriter::readAttrs(const Value &value) {
  recorded = numbered = value.attrs;
  size_t at = 0;
  for (const graph::AttrSpec &spec : graph::info(value.op).attrs) {
    bool isDims = spec.kind == graph::AttrKind::dims;
    size_t count = 1;
    if (graph::isList(spec.kind))
      count = value.attrs[at++];
    if (!isDims && spec.kind != graph::AttrKind::dim) {
      at += spec.kind == graph::AttrKind::number ? 2 : count;
      continue;
    }
    for (size_t i = 0; i < count; ++i, at += 2) {
      int64_t dim = newExtent(static_cast<uint32_t>(value.attrs[at + 1]));
      recorded[at] = static_cast<uint64_t>(dim);
      recorded[at + 1] = 0;
      numbered[at] = 0;
      numbered[at + 1] = indexOf(dim);
    }
  }
}

bool DimWriter::writeOp(const Value &value) {
  readAttrs(value);
  std::vector<std::vector<Dim>> dims;
  std::vector<graph::TensorType> types;
  for (uint32_t operand : value.operands) {
    std::vector<Dim> &own = dims.emplace_back();
    for (uint32_t dim : graph.values[operand].dims)
      own.emplace_back(graph.exprs[dim].value);
  }
  for (size_t i = 0; i < dims.size(); ++i)
    types.push_back({graph.values[value.operands[i]].dtype, dims[i]});
  auto type = graph::inferType({value.op, types}, recorded);
  if (!type || type->dtype != value.dtype)
    return false;
  Value own = value;
  own.attrs = numbered;
  own.dims.clear();
  for (Dim dim : type->dims)
    own.dims.push_back(indexOf(dim.value));
  graph.values.push_back(std::move(own));
  return true;
}

std::optional<Graph> DimWriter::run() {
  graph.inputs = from.inputs;
  graph.outputs = from.outputs;
  for (const Value &value : from.values) {
    if (value.op != leafOp) {
      if (!writeOp(value))
        return std::nullopt;
      continue;
    }
    Value own = value;
    for (uint32_t &dim : own.dims)
      dim = indexOf(newExtent(dim));
    graph.values.push_back(std::move(own));
  }
  return std::move(graph);
}

/// The values that the inputs give the symbols; nothing for one that is no
/// input's dim.
static std::optional<std::vector<int64_t>> symbolsOf(const BoundGraph &bound) {
  const Graph &graph = bound.graph;
  constexpr int64_t unknown = -1;
  std::vector<int64_t> symbols(graph.numSymbols, unknown);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::vector<uint32_t> &dims =
        graph.values[graph.inputs[i].value].dims;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (const Expr &expr = graph.exprs[dims[axis]]; expr.op == ExprOp::symbol)
        symbols[expr.value] = bound.inputs[i].dims[axis];
  }
  if (std::ranges::find(symbols, unknown) != symbols.end())
    return std::nullopt;
  return symbols;
}

bool bindsSymbols(const BoundGraph &from) {
  return symbolsOf(from).has_value();
}

std::optional<BoundGraph> withConstantDims(const BoundGraph &from) {
  auto symbols = symbolsOf(from);
  if (!symbols)
    return std::nullopt;
  auto same = [](int64_t extent) { return extent; };
  auto graph = DimWriter(from.graph, *symbols, same).run();
  if (!graph)
    return std::nullopt;
  return BoundGraph{std::move(*graph), from.inputs};
}

std::vector<int64_t> extentsOf(const Graph &graph) {
  std::set<int64_t, std::greater<>> extents;
  for (const Value &value : graph.values)
    for (uint32_t dim : value.dims)
      if (graph.exprs[dim].value > 1)
        extents.insert(graph.exprs[dim].value);
  return {extents.begin(), extents.end()};
}

/// The leading elements along every axis.
static HostTensor leading(const HostTensor &tensor,
                          const std::vector<int64_t> &dims) {
  HostTensor result{tensor.dtype, dims, {}};
  size_t width = byteWidth(tensor.dtype);
  size_t count = static_cast<size_t>(result.elements());
  result.data.resize(count * width);
  for (size_t to = 0; to < count; ++to) {
    size_t rest = to, from = 0, stride = 1;
    for (size_t axis = dims.size(); axis-- > 0;) {
      from += rest % static_cast<size_t>(dims[axis]) * stride;
      rest /= static_cast<size_t>(dims[axis]);
      stride *= static_cast<size_t>(tensor.dims[axis]);
    }
    std::memcpy(result.data.data() + to * width,
                tensor.data.data() + from * width, width);
  }
  return result;
}

std::optional<BoundGraph> withExtent(const BoundGraph &bound, int64_t from,
                                     int64_t to) {
  auto change = [&](int64_t extent) { return extent == from ? to : extent; };
  auto graph = DimWriter(bound.graph, {}, change).run();
  if (!graph)
    return std::nullopt;
  BoundGraph result{std::move(*graph), {}};
  for (size_t i = 0; i < bound.inputs.size(); ++i) {
    std::vector<int64_t> dims = bound.inputs[i].dims;
    for (int64_t &dim : dims)
      dim = change(dim);
    result.inputs.push_back(leading(bound.inputs[i], dims));
  }
  return result;
}

} // namespace sinter::cli
