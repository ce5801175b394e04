/// Builds the Graph of a slice.
#include "runtime/graph/Slice.h"

namespace sinter::graph {

namespace {
/// Translates nodes into values, and their dims into the graph's expressions.
class GraphBuilder {
public:
  explicit GraphBuilder(KeyedSlice &slice) : slice(slice) {
    if (LocalExprs *solved = slice.exprs())
      exprs = solved;
    else
      exprs = &own.emplace(recordedExprs());
  }

  Slice build();

private:
  uint32_t index(Dim dim) {
    return dim.isConstant() ? exprs->localizeConstant(dim.value)
                            : exprs->localize(dim.expr);
  }
  Value value(const Node &node, bool isInput);
  std::vector<uint64_t> attrs(const Node &node);
  void appendDim(std::vector<uint64_t> &words, uint64_t value, uint64_t expr) {
    Dim dim(static_cast<int64_t>(value), static_cast<uint32_t>(expr));
    words.push_back(0);
    words.push_back(index(dim));
  }

  KeyedSlice &slice;
  std::optional<LocalExprs> own;
  LocalExprs *exprs;
};
} // namespace

std::vector<uint64_t> GraphBuilder::attrs(const Node &node) {
  std::span<const uint64_t> words = node.attrs();
  if (!hasDimAttrs(node.op()))
    return {words.begin(), words.end()};
  std::vector<uint64_t> result;
  auto copy = [&](size_t count) {
    result.insert(result.end(), words.begin(), words.begin() + count);
    words = words.subspan(count);
  };
  for (const AttrSpec &spec : info(node.op()).attrs) {
    size_t count = isList(spec.kind) ? words[0] : 1;
    if (isList(spec.kind))
      copy(1);
    if (spec.kind == AttrKind::dim || spec.kind == AttrKind::dims) {
      for (size_t i = 0; i < count; ++i)
        appendDim(result, words[2 * i], words[2 * i + 1]);
      words = words.subspan(2 * count);
    } else {
      copy(spec.kind == AttrKind::number ? 2 : count);
    }
  }
  return result;
}

Value GraphBuilder::value(const Node &node, bool isInput) {
  Value result;
  result.op = isInput ? leafOp : node.op();
  result.dtype = node.dtype();
  if (!isInput) {
    result.attrs = attrs(node);
    for (const NodeRef &operand : node.operands())
      result.operands.push_back(slice.numberOf(operand.get()));
  }
  for (Dim dim : node.dims())
    result.dims.push_back(index(dim));
  return result;
}

Slice GraphBuilder::build() {
  Slice result;
  Graph &graph = result.graph;
  for (Node *node : slice.nodes()) {
    auto number = static_cast<uint32_t>(graph.values.size());
    bool isInput = slice.isInput(number);
    graph.values.push_back(value(*node, isInput));
    graph.sites.push_back(node->site());
    result.nodes.emplace_back(node);
    if (!isInput)
      continue;
    InputKind kind = node->isLeaf() ? node->leafKind() : InputKind::data;
    graph.inputs.push_back({number, kind, {}});
    result.inputs.emplace_back(node);
  }
  graph.outputs.assign(slice.outputs().begin(), slice.outputs().end());
  graph.exprs = exprs->exprs;
  graph.guards = exprs->guards;
  graph.symbolValues = exprs->symbolValues;
  graph.numSymbols = static_cast<uint32_t>(exprs->symbolValues.size());
  return result;
}

Slice toGraph(KeyedSlice &slice) { return GraphBuilder(slice).build(); }

Result<Slice> slice(std::span<const NodeRef> outputs,
                    std::span<const NodeRef> given) {
  KeyedSlice keyed;
  SINTER_TRY(keyed.compute(outputs, {}, given));
  return toGraph(keyed);
}

} // namespace sinter::graph
