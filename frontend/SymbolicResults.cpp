/// Gives evaluated values symbolic dims.
#include "frontend/SymbolicResults.h"

#include "frontend/Raise.h"
#include "frontend/SiteMemory.h"
#include "runtime/graph/AttrWords.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Symbols.h"
#include "runtime/support/SmallVector.h"

#include <sinter/Handle.h>

#include <algorithm>
#include <utility>

namespace sinter::detail {

using graph::Node;
using graph::NodeFactory;
using graph::NodeRef;

const NodeRef &symbolicFormOf(const NodeRef &result) try {
  const graph::NodeNotes *notes = result->notes();
  const NodeRef *form = notes ? notes->symbolicForm() : nullptr;
  return form ? *form : result;
} catch (...) {
  detail::raiseExhausted({});
}

/// The axis along which the op made a longer tensor of one that was there: its
/// line has shown two extents of it.
static AxisSet grownAxis(const Node &node) {
  if (node.op() != graph::OpId::concat)
    return 0;
  auto isInput = [](const NodeRef &operand) {
    return operand->isLeaf() || operand->isReady();
  };
  if (!std::ranges::any_of(node.operands(), isInput))
    return 0;
  return AxisSet(1) << graph::AttrReader(node.attrs()).integer();
}

namespace {
/// While it lives, nodes of this thread are recorded at another one's line.
class AtLineOf {
public:
  explicit AtLineOf(const Node &node)
      : saved(std::exchange(graph::recordScope().site, node.site())) {}
  ~AtLineOf() { graph::recordScope().site = saved; }
  AtLineOf(const AtLineOf &) = delete;

private:
  SiteId saved;
};
} // namespace

/// A leaf of the result's value that is symbolic where its line's dims vary;
/// null where they do not. `grown` varies whatever was seen.
static NodeRef symbolicLeaf(const Node &node, AxisSet grown) {
  AxisSet symbolic =
      symbolicAxes(node.site(), node.op(), node.dtype(), node.dims(), grown);
  SmallVector<Dim, 6> dims(node.dims());
  bool isSymbolic = false;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].isConstant() && !(symbolic >> axis & 1))
      continue;
    isSymbolic = true;
    bool isNoticed = dims[axis].isConstant() && !(grown >> axis & 1);
    uint32_t origin = uint32_t(axis) + (isNoticed ? dim_exprs::noticedAxis : 0);
    dims[axis].expr = dim_exprs::symbol(node.site(), origin, dims[axis].value);
  }
  if (!isSymbolic)
    return {};
  AtLineOf line(node);
  return NodeFactory::leaf(graph::InputKind::data, node.dtype(), dims,
                           node.value());
}

void noteResult(const NodeRef &result) {
  const Node &node = *result;
  if (node.isLeaf() || node.rank() == 0 || node.requiresGrad())
    return;
  if (NodeRef leaf = symbolicLeaf(node, grownAxis(node)))
    result->addNotes().setSymbolicForm(std::move(leaf));
}

NodeRef detachedResult(const NodeRef &result) {
  NodeRef leaf;
  if (!result->isLeaf() && result->rank() > 0)
    leaf = symbolicLeaf(*result, 0);
  return leaf ? leaf : NodeFactory::detached(result, false);
}

} // namespace sinter::detail
