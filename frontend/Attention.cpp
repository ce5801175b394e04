/// scaled_dot_product_attention: masks, shared heads and broadcasting leading
/// axes, over the graph's op.
#include "frontend/FixedDims.h"

#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Terms.h"

#include <sinter/BasicOps.h>

#include <cmath>
#include <limits>

namespace sinter {

using graph::NodeRef;
using Shape = SmallVector<Dim, 6>;

namespace {

/// One call.
class AttentionCall {
public:
  AttentionCall(const detail::Recorder &recorder,
                const AttentionOptions &options)
      : recorder(recorder), options(options) {}

  Result<NodeRef> record(NodeRef query, NodeRef key, NodeRef value);

private:
  double scale(const NodeRef &query) const;
  Result<NodeRef> shared(const NodeRef &node, const NodeRef &query) const;
  Result<NodeRef> mask(const NodeRef &query, const NodeRef &key) const;

  const detail::Recorder &recorder;
  const AttentionOptions &options;
};

} // namespace

double AttentionCall::scale(const NodeRef &query) const {
  if (options.scale)
    return *options.scale;
  int64_t depth = query->dims().back().value;
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(depth, 1)));
}

/// Each head as many times as the query has heads for it.
Result<NodeRef> AttentionCall::shared(const NodeRef &node,
                                      const NodeRef &query) const {
  if (node->rank() < 3 || query->rank() < 3)
    recorder.fail("enable_gqa needs an axis of heads", {&node, 1});
  size_t axis = node->rank() - 3;
  Dim own = node->dims()[axis], all = query->dims()[query->rank() - 3];
  if (own.value == all.value)
    return node;
  if (own.value == 0 || all.value % own.value != 0)
    recorder.fail("the query's heads are no multiple of the key's", {&node, 1});
  Shape apart(node->dims().first(axis + 1));
  apart.push_back(Dim(1));
  apart.append(node->dims().last(2));
  SINTER_TRY_ASSIGN(NodeRef single, graph::reshape(node, apart));
  apart[axis + 1] = Dim(all.value / own.value);
  SINTER_TRY_ASSIGN(NodeRef several, detail::broadcastTo(single, apart));
  Shape together(node->dims());
  together[axis] = all;
  return graph::reshape(several, together);
}

/// What is added to the scores: of their shape, or the number 0.
Result<NodeRef> AttentionCall::mask(const NodeRef &query,
                                    const NodeRef &key) const {
  DType dtype = query->dtype();
  DeviceId device = query->device();
  if (!options.mask)
    return graph::full({}, 0, dtype, device);
  NodeRef mask = options.mask->node();
  if (mask->dtype() == DType::boolean) {
    double infinity = std::numeric_limits<double>::infinity();
    SINTER_TRY_ASSIGN(NodeRef seen,
                      graph::full(mask->dims(), 0, dtype, device));
    SINTER_TRY_ASSIGN(NodeRef hidden,
                      graph::full(mask->dims(), -infinity, dtype, device));
    SINTER_TRY_ASSIGN(mask, graph::where(mask, seen, hidden));
  } else if (mask->dtype() != dtype) {
    SINTER_TRY_ASSIGN(mask, graph::cast(mask, dtype));
  }
  return detail::broadcastTo(mask, graph::term::scoresShape(query, key));
}

Result<NodeRef> AttentionCall::record(NodeRef query, NodeRef key,
                                      NodeRef value) {
  for (const NodeRef *node : {&query, &key, &value})
    if ((*node)->rank() < 2)
      recorder.fail("operands must have at least two axes", {node, 1});
  if (options.enable_gqa) {
    SINTER_TRY_ASSIGN(key, shared(key, query));
    SINTER_TRY_ASSIGN(value, shared(value, query));
  }
  Shape batch;
  for (const NodeRef *node : {&query, &key, &value}) {
    auto both = detail::broadcastShape(
        batch, (*node)->dims().first((*node)->rank() - 2));
    if (!both)
      recorder.fail("leading axes do not broadcast", {node, 1});
    batch = *both;
  }
  for (NodeRef *node : {&query, &key, &value}) {
    Shape shape(batch);
    shape.append((*node)->dims().last(2));
    SINTER_TRY_ASSIGN(*node, detail::broadcastTo(*node, shape));
    // Kernels know how long the rows of heads are.
    SINTER_TRY_ASSIGN(*node, detail::withNumbers(*node, shape.size() - 1));
  }
  // Queries that see no key at all have rows of 0: sums of none.
  Dim keys = key->dims()[key->rank() - 2];
  if (keys.isConstant() && keys.value == 0) {
    SINTER_TRY_ASSIGN(NodeRef weights,
                      graph::full(graph::term::scoresShape(query, key), 0,
                                  query->dtype(), query->device()));
    return graph::matmul(weights, value);
  }
  SINTER_TRY_ASSIGN(NodeRef added, mask(query, key));
  auto span = options.causal ? AttentionSpan::causal : AttentionSpan::all;
  return graph::scaled_dot_product_attention(query, key, value, added, span,
                                             scale(query));
}

Tensor scaled_dot_product_attention(const Arg &query, const Arg &key,
                                    const Arg &value,
                                    const AttentionOptions &options) try {
  detail::Recorder recorder(graph::OpId::scaled_dot_product_attention, query);
  auto nodes = recorder
                   .operands(detail::Promotion::floating, 0b111, false, query,
                             key, value)
                   .copies();
  return recorder.result(
      AttentionCall(recorder, options).record(nodes[0], nodes[1], nodes[2]));
} catch (...) {
  detail::raiseExhausted(query.where);
}

} // namespace sinter
