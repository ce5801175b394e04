/// SINTER_CHECK_NAN: finds the first op that makes a NaN or an infinity.
#include "frontend/Initialize.h"

#include "frontend/HostBytes.h"
#include "runtime/graph/Loops.h"
#include "runtime/graph/OpIds.h"
#include "runtime/support/Flags.h"
#include "sinter/runtime/Complex.h"

#include <sinter/Error.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace sinter::detail {

using graph::Node;
using graph::NodeRef;
using graph::NodeState;

bool checksNan() { return flags().checkNan; }

/// Pending ops below the roots, operands first.
static std::vector<NodeRef> pendingBelow(std::span<const NodeRef> roots) {
  std::vector<NodeRef> order;
  std::unordered_set<const Node *> seen;
  std::vector<std::pair<NodeRef, size_t>> stack;
  auto push = [&](const NodeRef &node) {
    if (node->state() == NodeState::pending && !node->isLeaf() &&
        seen.insert(node.get()).second)
      stack.push_back({node, 0});
  };
  for (const NodeRef &root : roots) {
    push(root);
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      if (next < node->operands().size()) {
        push(node->operands()[next++]);
        continue;
      }
      order.push_back(std::move(node));
      stack.pop_back();
    }
  }
  return order;
}

static bool isAllFinite(const NodeRef &node) {
  if (isComplex(node->dtype())) {
    std::vector<std::complex<double>> numbers(node->elements());
    return !readValues<std::complex<double>>(*node, numbers) ||
           std::ranges::all_of(numbers, [](std::complex<double> number) {
             return std::isfinite(number.real()) &&
                    std::isfinite(number.imag());
           });
  }
  if (!isFloat(node->dtype()))
    return true;
  std::vector<double> values(node->elements());
  if (!readValues<double>(*node, values))
    return true;
  for (double value : values)
    if (!std::isfinite(value))
      return false;
  return true;
}

/// Takes out what has a value in each step of a loop, and tokens.
static void keepOutside(std::vector<NodeRef> &order) {
  graph::OpenLoops loops;
  std::erase_if(order, [&](const NodeRef &node) {
    return loops.add(*node) || node->op() == graph::OpId::scan_end ||
           node->op() == graph::OpId::scan_index;
  });
}

void checkNan(std::span<const NodeRef> nodes, const EvaluationNote &note) {
  std::vector<NodeRef> order = pendingBelow(nodes);
  keepOutside(order);
  for (const NodeRef &node : order) {
    if (Status status = flushAlone({&node, 1}, note); !status)
      throw Error(status.takeError());
    if (isAllFinite(node))
      continue;
    ErrorInfo error;
    error.kind = ErrorKind::invalid_argument;
    error.op = graph::info(node->op()).name;
    error.shapes = {graph::typeString(*node)};
    error.message =
        error.op + ": result holds a NaN or an infinity: " + error.shapes[0];
    error.site = node->site();
    throw Error(std::move(error));
  }
  // Lazy leaves that were asked for themselves.
  for (const NodeRef &node : nodes)
    if (node->state() == NodeState::pending)
      if (Status status = flushAlone({&node, 1}, note); !status)
        throw Error(status.takeError());
}

} // namespace sinter::detail
