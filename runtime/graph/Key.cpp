/// Walks a slice once: numbers, inputs, encoding, guards, hash.
#include "runtime/graph/Key.h"

#include "runtime/graph/Builders.h"
#include "runtime/graph/ShapeChecks.h"

#include <cstring>
#include <xxhash.h>

namespace sinter::graph {

namespace {
class RecordedExprs final : public ExprSource {
public:
  Expr at(uint32_t id) const override { return dim_exprs::get(id); }
  int64_t symbolValue(int64_t number) const override {
    return dim_exprs::symbolValue(static_cast<uint32_t>(number));
  }
};
} // namespace

const ExprSource &recordedExprs() {
  static const auto &source = *new RecordedExprs; // outlives threads
  return source;
}

static runtime::Key hash(std::span<const uint32_t> words,
                         const runtime::Key &environment) {
  XXH128_hash_t inner = XXH3_128bits(words.data(), words.size_bytes());
  const uint64_t all[] = {inner.high64, inner.low64, environment.high,
                          environment.low};
  XXH128_hash_t outer = XXH3_128bits(all, sizeof(all));
  return {outer.high64, outer.low64};
}

Status KeyedSlice::compute(std::span<const NodeRef> outputs,
                           const runtime::Key &environment,
                           std::span<const NodeRef> given) {
  numbers.clear();
  encoder.begin();
  local.reset();
  stack.clear();
  order.clear();
  inputFlags.clear();
  operandEdges.clear();
  inputNumbers.clear();
  outputNumbers.clear();
  guarded.clear();
  for (const NodeRef &input : given)
    finishLeaf(input.get());
  for (const NodeRef &output : outputs) {
    SINTER_TRY(visit(output.get()));
    outputNumbers.push_back(numberOf(output.get()));
  }
  encoder.outputs(outputNumbers);
  if (encoder.isSymbolic() || !guarded.empty())
    solve();
  digest = hash(encoder.view(), environment);
  return {};
}

/// Depth first, without recursion.
Status KeyedSlice::visit(Node *root) {
  if (!numbers.find(root))
    SINTER_TRY(push(root));
  while (!stack.empty()) {
    Frame &top = stack.back();
    std::span<const NodeRef> operands = top.node->operands();
    if (top.nextOperand == operands.size()) {
      Node *node = top.node;
      stack.pop_back();
      finishOp(node);
      continue;
    }
    Node *operand = operands[top.nextOperand++].get();
    if (!numbers.find(operand))
      SINTER_TRY(push(operand));
  }
  return {};
}

Status KeyedSlice::push(Node *node) {
  NodeState state = node->state();
  if (state == NodeState::failed) [[unlikely]]
    return node->failure();
  if (state == NodeState::ready || node->isLeaf())
    finishLeaf(node);
  else
    stack.push_back({node, 0});
  return {};
}

void KeyedSlice::finishLeaf(Node *node) {
  auto number = static_cast<uint32_t>(order.size());
  numbers.insert(node, number);
  order.push_back(node);
  inputFlags.push_back(1);
  inputNumbers.push_back(number);
  InputKind kind = node->isLeaf() ? node->leafKind() : InputKind::data;
  encoder.leaf(kind, node->dtype(), node->rank());
  for (Dim dim : node->dims())
    encoder.dim(dim);
}

void KeyedSlice::finishOp(Node *node) {
  auto own = static_cast<uint32_t>(order.size());
  numbers.insert(node, own);
  order.push_back(node);
  inputFlags.push_back(0);
  std::span<const NodeRef> operands = node->operands();
  std::span<const uint64_t> attrs = node->attrs();
  encoder.op(node->op(), node->dtype(), operands.size(), attrs.size());
  for (const NodeRef &operand : operands) {
    uint32_t number = *numbers.find(operand.get());
    operandEdges.push_back({own, number});
    encoder.number(number);
  }
  if (!attrs.empty())
    encoder.attrs(node->op(), attrs, [](uint64_t value, uint64_t expr) {
      return Dim(static_cast<int64_t>(value), static_cast<uint32_t>(expr));
    });
  if (node->hasGuards()) [[unlikely]]
    guarded.push_back(node);
}

/// Records the op once more, to hear what its shape rule relied on.
void KeyedSlice::addGuardsOf(Node *node) {
  GuardSink sink;
  {
    GuardScope scope(sink);
    if (!buildOp(node->op(), node->operands(), node->attrs(), node->device()))
      return;
  }
  auto idOf = [this](Dim dim) {
    return dim.isConstant() ? local->constantId(dim.value) : dim.expr;
  };
  for (const auto &[lhs, rhs] : sink.equalities)
    local->addGuard(idOf(lhs), idOf(rhs));
}

void KeyedSlice::solve() {
  local.emplace(recordedExprs());
  for (uint32_t number : inputNumbers)
    for (Dim dim : order[number]->dims())
      if (!dim.isConstant())
        local->addBindable(dim.expr);
  for (Node *node : guarded)
    addGuardsOf(node);
  local->solve();
  encoder.fillIn(*local);
}

//===- The key of a Graph -------------------------------------------------===//

namespace {
/// A Graph's expressions; ids are indices plus 1, as 0 means constant.
class GraphExprs final : public ExprSource {
public:
  explicit GraphExprs(const Graph &graph) : graph(graph) {}
  Expr at(uint32_t id) const override {
    Expr expr = graph.exprs[id - 1];
    if (expr.op != ExprOp::constant && expr.op != ExprOp::symbol) {
      ++expr.lhs;
      ++expr.rhs;
    }
    return expr;
  }
  int64_t symbolValue(int64_t number) const override {
    auto index = static_cast<size_t>(number);
    return index < graph.symbolValues.size() ? graph.symbolValues[index] : 0;
  }
  Dim dim(uint32_t index) const {
    const Expr &expr = graph.exprs[index];
    return expr.op == ExprOp::constant ? Dim(expr.value) : Dim(0, index + 1);
  }

private:
  const Graph &graph;
};
} // namespace

static void encodeValue(const Value &value, InputKind kind,
                        const GraphExprs &source, LocalExprs &local,
                        Encoder &encoder) {
  if (value.op != leafOp) {
    encoder.op(value.op, value.dtype, value.operands.size(),
               value.attrs.size());
    for (uint32_t operand : value.operands)
      encoder.number(operand);
    encoder.attrs(value.op, value.attrs, [&](uint64_t, uint64_t expr) {
      return source.dim(static_cast<uint32_t>(expr));
    });
    return;
  }
  encoder.leaf(kind, value.dtype, value.dims.size());
  for (uint32_t index : value.dims) {
    Dim dim = source.dim(index);
    encoder.dim(dim);
    if (!dim.isConstant())
      local.addBindable(dim.expr);
  }
}

runtime::Key keyOf(const Graph &graph, const runtime::Key &environment) {
  GraphExprs source(graph);
  LocalExprs local(source);
  Encoder encoder;
  std::vector<InputKind> kinds(graph.values.size(), InputKind::data);
  for (const Input &input : graph.inputs)
    kinds[input.value] = input.kind;
  for (size_t i = 0; i < graph.values.size(); ++i)
    encodeValue(graph.values[i], kinds[i], source, local, encoder);
  encoder.outputs(graph.outputs);
  for (const Guard &guard : graph.guards)
    local.addGuard(guard.lhs + 1, guard.rhs + 1);
  if (encoder.isSymbolic() || !graph.guards.empty()) {
    local.solve();
    encoder.fillIn(local);
  }
  return hash(encoder.view(), environment);
}

} // namespace sinter::graph
