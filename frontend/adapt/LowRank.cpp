/// LowRank: products with a matrix that is the sum of one and a product of low
/// rank.
#include "frontend/adapt/LowRank.h"

#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"

#include <sinter/BasicOps.h>
#include <sinter/Random.h>
#include <sinter/SourceScope.h>

#include <memory>

namespace sinter::detail {

namespace {

Tensor turned(const graph::NodeRef &node) {
  return transpose(Tensor(node), {1, 0});
}

/// Whether the node swaps the axes of a matrix.
bool isTranspose(const graph::Node &node) {
  return node.op() == graph::OpId::transpose && node.rank() == 2 &&
         node.operands().size() == 1;
}

const graph::LowRankSum *noteOf(const graph::Node &node) {
  const graph::NodeNotes *notes = node.notes();
  return notes ? notes->lowRank.get() : nullptr;
}

} // namespace

Tensor lowRankSum(const graph::LowRankSum &sum, const SourceLine &where) {
  SourceScope scope(where);
  Tensor product = matmul(Tensor(sum.up), Tensor(sum.down));
  if (sum.isTransposed)
    product = transpose(product, {1, 0});
  Tensor whole =
      Tensor(sum.own) + (product * scalar(sum.scale)).to(sum.own->dtype());
  whole.node()->addNotes().lowRank =
      std::make_unique<const graph::LowRankSum>(sum);
  return whole;
}

const graph::LowRankSum *lowRankOf(const Arg &rhs) {
  if (!rhs.isTensor() || rhs.isEmpty())
    return nullptr;
  const graph::Node &node = *rhs.node();
  if (node.isLeaf()) [[likely]]
    return nullptr;
  // The product's own columns are those of `own`: by x, `up` of a sum that is
  // read transposed, `down` of one that is not, comes last.
  const graph::LowRankSum *own = noteOf(node);
  if (own || !isTranspose(node))
    return own;
  return noteOf(*node.operands()[0]);
}

Tensor multiplyLowRank(const Arg &lhs, const Arg &rhs,
                       const graph::LowRankSum &sum) {
  SourceScope scope(lhs.where);
  bool isTurned = noteOf(*rhs.node()) != &sum;
  Tensor whole = isTurned ? turned(sum.own) : Tensor(sum.own);
  // own, or its transpose, plus scale * first second.
  bool isPlain = isTurned == sum.isTransposed;
  Tensor first = isPlain ? Tensor(sum.up) : turned(sum.down);
  Tensor second = isPlain ? Tensor(sum.down) : turned(sum.up);
  Tensor y = matmul(lhs, whole);
  Tensor narrow = sum.dropout > 0 ? matmul(dropout(lhs, sum.dropout), first)
                                  : matmul(lhs, first);
  Tensor added = matmul(narrow, second) * scalar(sum.scale);
  return y + added.to(y.dtype());
}

} // namespace sinter::detail
