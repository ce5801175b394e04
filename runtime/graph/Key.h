/// Key: what a slice of pending nodes is looked up by, computed in one pass.
#pragma once

#include "runtime/graph/Encoding.h"
#include "runtime/graph/NodeNumbers.h"
#include "runtime/support/Key.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sinter::graph {

/// The process-wide expressions, as nodes hold them.
const ExprSource &recordedExprs();

/// A numbered slice and its key. Keep one per thread and reuse it: a repeat
/// allocates nothing. Nodes are borrowed; the outputs keep them alive.
class KeyedSlice {
public:
  /// Numbers the pending nodes below `outputs` in post-order (operands first,
  /// left to right) and makes the key. Leaves and evaluated nodes become
  /// inputs and are not looked behind. `environment` stands for everything
  /// outside the graph that a program depends on. Fails with the error of a
  /// failed node. Nodes must not be evaluated meanwhile. What is `given` is the
  /// first inputs, whether it is used or not, and not looked behind either.
  Status compute(std::span<const NodeRef> outputs,
                 const runtime::Key &environment = {},
                 std::span<const NodeRef> given = {});

  const runtime::Key &key() const { return digest; }
  /// What the key is a hash of: equal words are equal programs.
  std::span<const uint32_t> encoding() const { return encoder.view(); }
  /// By post-order number.
  std::span<Node *const> nodes() const { return order; }
  bool isInput(uint32_t number) const { return inputFlags[number]; }
  /// From ops to their operands, by the users' numbers, operands left to right.
  struct Edge {
    uint32_t user;
    uint32_t operand;
  };
  std::span<const Edge> edges() const { return operandEdges; }
  /// Post-order numbers of the inputs, ascending: the order of Graph::inputs.
  std::span<const uint32_t> inputs() const { return inputNumbers; }
  std::span<const uint32_t> outputs() const { return outputNumbers; }
  uint32_t numberOf(const Node *node) const { return *numbers.find(node); }
  bool contains(const Node *node) const { return numbers.find(node); }
  /// The solved expressions; absent when nothing in the slice is symbolic.
  LocalExprs *exprs() { return local ? &*local : nullptr; }

private:
  struct Frame {
    Node *node;
    uint32_t nextOperand;
  };
  Status visit(Node *root);
  Status push(Node *node);
  void finishLeaf(Node *node);
  void finishOp(Node *node);
  void solve();
  void addGuardsOf(Node *node);

  NodeNumbers numbers;
  Encoder encoder;
  std::optional<LocalExprs> local;
  std::vector<Frame> stack;
  std::vector<Node *> order;
  std::vector<uint8_t> inputFlags;
  std::vector<Edge> operandEdges;
  std::vector<uint32_t> inputNumbers;
  std::vector<uint32_t> outputNumbers;
  std::vector<Node *> guarded;
  runtime::Key digest;
};

/// The key of a Graph: that of the slice it was made from.
runtime::Key keyOf(const Graph &graph, const runtime::Key &environment = {});

} // namespace sinter::graph
