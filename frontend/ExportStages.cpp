/// Cuts a function where sizes are counted.
#include "frontend/ExportStages.h"

#include "sinter/runtime/Node.h"

#include <algorithm>
#include <unordered_map>

namespace sinter::detail {

using graph::Node;
using graph::NodeRef;

namespace {

class Stages {
public:
  explicit Stages(std::span<const CountedRows> counted) {
    for (const CountedRows &each : counted) {
      rows.emplace(each.placeholder.get(), &each);
      if (firstOf.try_emplace(each.placeholder->dims()[0].expr, &each).second)
        symbols.push_back(&each);
    }
  }

  std::vector<ExportStage> cut(std::span<const NodeRef> outputs) {
    for (const NodeRef &output : outputs)
      visit(output);
    uint32_t last = 0;
    for (const NodeRef &output : outputs)
      last = std::max(last, levels.at(output.get()));
    stages.resize(last + 1);
    if (last > 0)
      pass(outputs);
    stages[last].outputs.assign(outputs.begin(), outputs.end());
    return std::move(stages);
  }

private:
  const CountedRows *rowsOf(const NodeRef &node) const {
    auto found = rows.find(node.get());
    return found == rows.end() ? nullptr : found->second;
  }
  static bool isComputed(const NodeRef &node) {
    return !node->isLeaf() && node->state() == graph::NodeState::pending;
  }
  /// What any stage makes for itself: numbers, positions, but of no counts.
  bool isFree(const NodeRef &node) const {
    return isComputed(node) && node->operands().empty();
  }
  std::vector<NodeRef> needsOf(const NodeRef &node) const;
  void addSymbols(uint32_t expr, std::vector<NodeRef> &needs) const;
  uint32_t levelOf(const NodeRef &node) const;
  void visit(const NodeRef &root);
  void pass(std::span<const NodeRef> outputs);
  void take(uint32_t stage, const NodeRef &node);
  void give(const NodeRef &node);
  void number();

  std::unordered_map<const Node *, const CountedRows *> rows;
  std::unordered_map<uint32_t, const CountedRows *> firstOf; ///< by symbol
  std::vector<const CountedRows *> symbols; ///< the same, in order
  std::unordered_map<const Node *, uint32_t> levels;
  std::vector<NodeRef> order; ///< needs before users
  std::vector<ExportStage> stages;
  std::unordered_map<const Node *, uint32_t> numbers; ///< of what is given
};

} // namespace

/// Rows whose symbols stand in the expression.
void Stages::addSymbols(uint32_t expr, std::vector<NodeRef> &needs) const {
  if (expr == 0)
    return;
  Expr here = dim_exprs::get(expr);
  if (here.op == ExprOp::symbol) {
    if (auto found = firstOf.find(expr); found != firstOf.end())
      needs.push_back(found->second->placeholder);
  } else if (here.op != ExprOp::constant) {
    addSymbols(here.lhs, needs);
    addSymbols(here.rhs, needs);
  }
}

std::vector<NodeRef> Stages::needsOf(const NodeRef &node) const {
  if (const CountedRows *own = rowsOf(node))
    return {own->value, own->count};
  std::vector<NodeRef> needs;
  if (!isComputed(node))
    return needs;
  needs.assign(node->operands().begin(), node->operands().end());
  for (Dim dim : node->dims())
    addSymbols(dim.expr, needs);
  return needs;
}

uint32_t Stages::levelOf(const NodeRef &node) const {
  uint32_t level = 0;
  for (const NodeRef &need : needsOf(node))
    level = std::max(level, levels.at(need.get()));
  return level + (rowsOf(node) ? 1 : 0);
}

/// Depth first, without recursion.
void Stages::visit(const NodeRef &root) {
  std::vector<NodeRef> stack{root};
  while (!stack.empty()) {
    NodeRef node = stack.back();
    bool waits = false;
    if (!levels.contains(node.get()))
      for (const NodeRef &need : needsOf(node))
        if (!levels.contains(need.get())) {
          stack.push_back(need);
          waits = true;
        }
    if (waits)
      continue;
    stack.pop_back();
    if (levels.try_emplace(node.get(), levelOf(node)).second)
      order.push_back(node);
  }
}

void Stages::give(const NodeRef &node) {
  std::vector<NodeRef> &outputs = stages[levels.at(node.get())].outputs;
  if (std::ranges::find(outputs, node) == outputs.end())
    outputs.push_back(node);
}

/// The stage reads a value that another one computes.
void Stages::take(uint32_t stage, const NodeRef &node) {
  const CountedRows *counted = rowsOf(node);
  bool isOthers = isComputed(node) && levels.at(node.get()) < stage;
  if (!counted && (!isOthers || isFree(node)))
    return;
  std::vector<StageInput> &inputs = stages[stage].inputs;
  if (std::ranges::find(inputs, node, &StageInput::node) != inputs.end())
    return;
  inputs.push_back({node});
  if (counted) {
    give(counted->value);
    give(counted->count);
  } else {
    give(node);
  }
}

void Stages::pass(std::span<const NodeRef> outputs) {
  for (const NodeRef &node : order)
    if (isComputed(node))
      for (const NodeRef &need : needsOf(node))
        take(levels.at(node.get()), need);
  auto last = uint32_t(stages.size() - 1);
  for (const NodeRef &output : outputs)
    take(last, output);
  // An axis of every program has each symbol that may stand in it.
  for (const CountedRows *counted : symbols)
    if (auto level = levels.find(counted->placeholder.get());
        level != levels.end())
      for (uint32_t stage = level->second; stage <= last; ++stage)
        take(stage, counted->placeholder);
  number();
}

void Stages::number() {
  for (const ExportStage &stage : stages)
    for (const NodeRef &output : stage.outputs)
      numbers.emplace(output.get(), uint32_t(numbers.size()));
  for (ExportStage &stage : stages)
    for (StageInput &input : stage.inputs) {
      const CountedRows *counted = rowsOf(input.node);
      input.number =
          numbers.at(counted ? counted->value.get() : input.node.get());
      if (counted)
        input.count = int32_t(numbers.at(counted->count.get()));
    }
}

std::vector<ExportStage> stagesOf(std::span<const NodeRef> outputs,
                                  std::span<const CountedRows> counted) {
  return Stages(counted).cut(outputs);
}

} // namespace sinter::detail
