/// matmul for vectors and broadcasting leading axes, over the graph's matmul.
#include "frontend/FixedDims.h"

#include "frontend/ComplexOps.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/adapt/LowRank.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Symbols.h"
#include "runtime/support/Fork.h"

#include <sinter/BasicOps.h>

#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace sinter {

using graph::NodeRef;
using Shape = SmallVector<Dim, 6>;

/// A vector as a matrix: a row when on the left, a column when on the right.
static Result<NodeRef> asMatrix(const NodeRef &node, bool onLeft) {
  if (node->rank() != 1)
    return node;
  Dim size = node->dims()[0];
  Dim shape[2] = {onLeft ? Dim(1) : size, onLeft ? size : Dim(1)};
  return graph::reshape(node, shape);
}

static Result<NodeRef> withBatch(const NodeRef &node,
                                 std::span<const Dim> batch) {
  Shape shape(batch);
  std::span<const Dim> dims = node->dims();
  shape.append(dims.last(2));
  return detail::broadcastTo(node, shape);
}

/// The product without the axes that vectors were given.
static Result<NodeRef> product(const NodeRef &lhs, const NodeRef &rhs,
                               bool leftIsVector, bool rightIsVector) {
  SINTER_TRY_ASSIGN(NodeRef matrix, graph::matmul(lhs, rhs));
  if (!leftIsVector && !rightIsVector)
    return matrix;
  std::span<const Dim> dims = matrix->dims();
  Shape shape(dims.first(dims.size() - 2));
  if (!leftIsVector)
    shape.push_back(dims[dims.size() - 2]);
  if (!rightIsVector)
    shape.push_back(dims[dims.size() - 1]);
  return graph::reshape(matrix, shape);
}

/// Whether the products with a matrix of this many columns are to know that: it
/// is data, whose line recording has seen several numbers of columns at, such
/// as a function that makes weights. Products are slower where they do not
/// know. After a few numbers one program serves all others.
static bool fixesColumns(const NodeRef &lhs, const NodeRef &matrix) {
  Dim columns = matrix->dims()[1];
  auto origin = dim_exprs::originOf(columns.expr);
  bool isSquare = lhs->dims()[0].expr == columns.expr;
  if (!matrix->isLeaf() || !origin || !origin->isNoticed() || isSquare)
    return false;
  constexpr size_t most = 8;
  static ForkMutex *mutex = new ForkMutex;
  static auto *seen =
      new std::map<std::pair<uint32_t, uint32_t>, std::set<int64_t>>;
  std::lock_guard lock(*mutex);
  std::set<int64_t> &values = (*seen)[{origin->site, origin->axis}];
  if (values.size() < most)
    values.insert(columns.value);
  return values.contains(columns.value);
}

Tensor matmul(const Arg &lhs, const Arg &rhs) try {
  if (detail::anyComplex(lhs, rhs)) [[unlikely]]
    return detail::complexMatmul(lhs, rhs);
  if (const graph::LowRankSum *sum = detail::lowRankOf(rhs)) [[unlikely]]
    return detail::multiplyLowRank(lhs, rhs, *sum);
  detail::Recorder recorder(graph::OpId::matmul, lhs);
  auto operands =
      recorder.operands(detail::Promotion::match, 0b11, false, lhs, rhs);
  if (operands[0]->rank() == 2 && operands[1]->rank() == 2) [[likely]] {
    bool isKnown = operands[1]->dims()[1].isConstant() ||
                   !fixesColumns(operands[0], operands[1]);
    if (isKnown) [[likely]]
      return recorder.result(graph::matmul(operands[0], operands[1]));
    auto matrix = detail::withNumbers(operands[1], 1);
    if (!matrix)
      recorder.fail(matrix.takeError());
    return recorder.result(graph::matmul(operands[0], *matrix));
  }
  auto nodes = operands.copies();
  auto &[left, right] = nodes;
  bool leftIsVector = left->rank() == 1;
  bool rightIsVector = right->rank() == 1;
  if (left->rank() == 0 || right->rank() == 0)
    recorder.fail("operands must have at least one axis", nodes);
  auto leftMatrix = asMatrix(left, true);
  auto rightMatrix = asMatrix(right, false);
  if (!leftMatrix)
    recorder.fail(leftMatrix.takeError());
  if (!rightMatrix)
    recorder.fail(rightMatrix.takeError());
  left = std::move(*leftMatrix);
  right = std::move(*rightMatrix);

  if (left->rank() > 2 || right->rank() > 2) {
    auto batch = detail::broadcastShape(left->dims().first(left->rank() - 2),
                                        right->dims().first(right->rank() - 2));
    if (!batch)
      recorder.fail("leading axes do not broadcast", nodes);
    auto leftBatch = withBatch(left, *batch);
    auto rightBatch = withBatch(right, *batch);
    if (!leftBatch)
      recorder.fail(leftBatch.takeError());
    if (!rightBatch)
      recorder.fail(rightBatch.takeError());
    left = std::move(*leftBatch);
    right = std::move(*rightBatch);
  }
  return recorder.result(product(left, right, leftIsVector, rightIsVector));
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

} // namespace sinter
