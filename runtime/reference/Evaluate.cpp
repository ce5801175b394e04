/// The reference's driver: binds inputs, walks values, expands composites.
#include "runtime/graph/Builders.h"
#include "runtime/graph/Encoding.h"
#include "runtime/graph/Slice.h"
#include "runtime/reference/Primitives.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sinter::reference {

std::vector<int64_t> stridesOf(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * dims[d];
  return strides;
}

bool nextIndex(std::vector<int64_t> &index, std::span<const int64_t> dims) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++index[d] < dims[d])
      return true;
    index[d] = 0;
  }
  return false;
}

Primitive findPrimitive(graph::OpId op) {
  using Table = std::array<Primitive, size_t(graph::OpId::count)>;
  static const Table table = [] {
    Table result{};
    for (auto rows :
         {pointwisePrimitives(), viewPrimitives(), reductionPrimitives(),
          indexedPrimitives(), randomPrimitives()})
      for (const PrimitiveRow &row : rows)
        if (graph::OpId id = graph::findOp(row.name); id != graph::OpId::count)
          result[size_t(id)] = row.function;
    return result;
  }();
  return table[size_t(op)];
}

namespace {
class Evaluation {
public:
  explicit Evaluation(const graph::Graph &graph) : graph(graph) {}

  Status bind(std::span<const HostTensor> inputs);
  Status run();
  const HostValue &value(uint32_t number) const { return values[number]; }

private:
  int64_t dim(uint32_t expr) const {
    return evaluate(graph.exprs, expr, symbols);
  }
  std::vector<int64_t> dims(const graph::Value &value) const;
  std::vector<uint64_t> attrs(const graph::Value &value) const;
  Status bindSymbols(const graph::Value &leaf, const HostTensor &tensor);
  Status checkBinding(std::span<const HostTensor> inputs) const;
  Result<HostValue> apply(const graph::Value &value);

  const graph::Graph &graph;
  std::vector<int64_t> symbols;
  std::vector<HostValue> values;
};
} // namespace

static constexpr int64_t unbound = std::numeric_limits<int64_t>::min();

static ErrorInfo bindingError(std::string message) {
  return makeError(ErrorKind::invalid_argument, "reference: " + message);
}

Status Evaluation::bindSymbols(const graph::Value &leaf,
                               const HostTensor &tensor) {
  if (leaf.dtype != tensor.dtype || leaf.dims.size() != tensor.dims.size())
    return bindingError("an input has another dtype or rank");
  if (tensor.data.size() !=
      static_cast<size_t>(tensor.elements()) * byteWidth(tensor.dtype))
    return bindingError("an input's bytes do not fit its dims");
  for (size_t i = 0; i < leaf.dims.size(); ++i) {
    const Expr &expr = graph.exprs[leaf.dims[i]];
    if (expr.op == ExprOp::symbol && symbols[expr.value] == unbound)
      symbols[expr.value] = tensor.dims[i];
  }
  return {};
}

Status Evaluation::checkBinding(std::span<const HostTensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (dims(graph.values[graph.inputs[i].value]) != inputs[i].dims)
      return bindingError("input " + std::to_string(i) + " has other dims");
  for (const graph::Guard &guard : graph.guards)
    if (dim(guard.lhs) != dim(guard.rhs))
      return bindingError("the inputs' dims do not satisfy a guard");
  return {};
}

Status Evaluation::bind(std::span<const HostTensor> inputs) {
  if (inputs.size() != graph.inputs.size())
    return bindingError(std::to_string(graph.inputs.size()) + " inputs, not " +
                        std::to_string(inputs.size()));
  symbols.assign(graph.numSymbols, unbound);
  values.resize(graph.values.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    SINTER_TRY(bindSymbols(graph.values[graph.inputs[i].value], inputs[i]));
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i] == unbound && i < graph.symbolValues.size())
      symbols[i] = graph.symbolValues[i];
  SINTER_TRY(checkBinding(inputs));
  for (size_t i = 0; i < inputs.size(); ++i)
    values[graph.inputs[i].value] = decode(inputs[i]);
  return {};
}

std::vector<int64_t> Evaluation::dims(const graph::Value &value) const {
  std::vector<int64_t> result;
  for (uint32_t expr : value.dims)
    result.push_back(dim(expr));
  return result;
}

/// The attributes as a node holds them, with constant dims.
std::vector<uint64_t> Evaluation::attrs(const graph::Value &value) const {
  std::vector<uint64_t> words = value.attrs;
  size_t at = 0;
  for (const graph::AttrSpec &spec : graph::info(value.op).attrs) {
    bool isDims = spec.kind == graph::AttrKind::dims;
    size_t count = 1;
    if (isDims || spec.kind == graph::AttrKind::ints)
      count = words[at++];
    if (spec.kind == graph::AttrKind::number)
      count = 2;
    if (!isDims && spec.kind != graph::AttrKind::dim) {
      at += count;
      continue;
    }
    for (size_t i = 0; i < count; ++i, at += 2) {
      words[at] =
          static_cast<uint64_t>(dim(static_cast<uint32_t>(words[at + 1])));
      words[at + 1] = 0;
    }
  }
  return words;
}

/// A composite's value, by its decomposition over leaves of the same types.
static Result<HostValue> evaluateComposite(const Call &call) {
  std::vector<graph::NodeRef> leaves;
  for (const HostValue *operand : call.operands) {
    std::vector<Dim> dims(operand->dims.begin(), operand->dims.end());
    leaves.push_back(
        graph::NodeFactory::lazyLeaf(operand->dtype, dims, DeviceId(), false));
  }
  SINTER_TRY_ASSIGN(graph::NodeRef expansion,
                    graph::decompose(call.op, leaves, call.attrs));
  SINTER_TRY_ASSIGN(graph::Slice slice, graph::slice({&expansion, 1}));
  std::vector<HostTensor> inputs;
  for (const graph::NodeRef &input : slice.inputs) {
    auto leaf = std::find(leaves.begin(), leaves.end(), input);
    inputs.push_back(encode(call[leaf - leaves.begin()]));
  }
  SINTER_TRY_ASSIGN(std::vector<HostTensor> outputs,
                    evaluate(slice.graph, inputs));
  return decode(outputs[0]);
}

Result<HostValue> Evaluation::apply(const graph::Value &value) {
  const graph::OpInfo &op = graph::info(value.op);
  if (!isComputable(value.dtype))
    return makeError(ErrorKind::unsupported,
                     std::string(op.name) + ": the reference cannot compute " +
                         std::string(name(value.dtype)),
                     std::string(op.name));
  std::vector<const HostValue *> operands;
  for (uint32_t operand : value.operands)
    operands.push_back(&values[operand]);
  std::vector<uint64_t> words = attrs(value);
  Call call{value.op, operands, words, value.dtype, dims(value)};
  if (op.composite)
    return evaluateComposite(call);
  if (Primitive primitive = findPrimitive(value.op))
    return primitive(call);
  return makeError(ErrorKind::unsupported,
                   std::string(op.name) + ": the reference has no such op",
                   std::string(op.name));
}

Status Evaluation::run() {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].op == graph::OpId::leaf)
      continue;
    Result<HostValue> result = apply(graph.values[i]);
    if (!result) {
      ErrorInfo error = result.takeError();
      if (i < graph.sites.size() && error.site == 0)
        error.site = graph.sites[i];
      return error;
    }
    values[i] = std::move(*result);
  }
  return {};
}

Result<std::vector<HostTensor>> evaluate(const graph::Graph &graph,
                                         std::span<const HostTensor> inputs) {
  Evaluation evaluation(graph);
  SINTER_TRY(evaluation.bind(inputs));
  SINTER_TRY(evaluation.run());
  std::vector<HostTensor> outputs;
  for (uint32_t output : graph.outputs)
    outputs.push_back(encode(evaluation.value(output)));
  return outputs;
}

} // namespace sinter::reference
