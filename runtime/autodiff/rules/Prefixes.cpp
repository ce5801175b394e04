/// The gradients of cummax, cummin and logcumsumexp.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "sinter/generated/builders/Math.h"

#include <limits>
#include <vector>

namespace sinter::autodiff {

using graph::NodeRef;

// Of equal elements so far the last one is meant: the largest position of those
// that are their own result, as every NaN is. From the end, the same on flipped
// tensors.
Result<OperandGradients>
prefixExtremumGradient(const GradientContext &context) {
  graph::AttrReader reader(context.attrs);
  int64_t axis = reader.integer();
  bool reverse = reader.boolean();
  auto turned = [&](const NodeRef &node) -> Result<NodeRef> {
    if (!reverse)
      return node;
    return graph::flip(node, std::span(&axis, 1));
  };
  SINTER_TRY_ASSIGN(NodeRef x, turned(context.operands[0]));
  SINTER_TRY_ASSIGN(NodeRef result, turned(context.result));
  SINTER_TRY_ASSIGN(NodeRef grad, turned(context.grad));
  SINTER_TRY_ASSIGN(NodeRef isNew, graph::compare(x, result, Comparison::eq));
  SINTER_TRY_ASSIGN(NodeRef isNan, graph::compare(x, x, Comparison::ne));
  SINTER_TRY_ASSIGN(isNew, graph::add(isNew, isNan));
  SINTER_TRY_ASSIGN(NodeRef position,
                    graph::iota(x->dims(), axis, DType::i64, x->device()));
  SINTER_TRY_ASSIGN(NodeRef first,
                    graph::full(x->dims(), Number(0), DType::i64, x->device()));
  SINTER_TRY_ASSIGN(NodeRef from, graph::where(isNew, position, first));
  SINTER_TRY_ASSIGN(from, graph::cummax(from, axis, /*reverse=*/false));
  SINTER_TRY_ASSIGN(NodeRef zero,
                    graph::full(x->dims(), Number(0), x->dtype(), x->device()));
  SINTER_TRY_ASSIGN(NodeRef sum, graph::scatter_add(zero, from, grad, axis));
  SINTER_TRY_ASSIGN(sum, turned(sum));
  return OperandGradients{sum};
}

namespace {

/// e^(x[i] + log of the sum over j >= i of amount[j] e^-result[j]), of those
/// amounts that are positive. x and result are less `shift`.
struct LogcumsumexpPart {
  NodeRef x, result, isReached, zero, one, nothing;
  int64_t axis;
  bool reverse;

  Result<NodeRef> of(const NodeRef &amount) const {
    SINTER_TRY_ASSIGN(NodeRef counts,
                      graph::compare(amount, zero, Comparison::gt));
    SINTER_TRY_ASSIGN(counts, graph::logical_and(counts, isReached));
    SINTER_TRY_ASSIGN(NodeRef taken, graph::where(counts, amount, one));
    SINTER_TRY_ASSIGN(taken, graph::log(taken));
    SINTER_TRY_ASSIGN(NodeRef from, graph::where(counts, result, zero));
    SINTER_TRY_ASSIGN(taken, graph::sub(taken, from));
    SINTER_TRY_ASSIGN(taken, graph::where(counts, taken, nothing));
    SINTER_TRY_ASSIGN(taken, graph::logcumsumexp(taken, axis, !reverse));
    SINTER_TRY_ASSIGN(taken, graph::add(taken, x));
    return graph::exp(taken);
  }
};

} // namespace

// The largest x of each row; -inf of an empty one, which a symbolic axis may
// turn out to have: an element more is there for that.
static Result<NodeRef> largestOf(const NodeRef &x, int64_t axis) {
  std::vector<int64_t> none(x->dims().size(), 0);
  std::vector<Dim> dims(x->dims().begin(), x->dims().end());
  dims[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)] + Dim(1);
  SINTER_TRY_ASSIGN(
      NodeRef longer,
      graph::pad(x, none, dims, none,
                 Number(-std::numeric_limits<double>::infinity())));
  SINTER_TRY_ASSIGN(NodeRef largest, graph::amax(longer, std::span(&axis, 1),
                                                 /*keepdims=*/true));
  return graph::broadcast(largest, x->dims());
}

// x[i] gets the sum over j >= i of grad[j] e^(x[i] - result[j]): of positive
// and of negative gradients apart, each by its logarithm, so that nothing
// overflows. Where all so far are -inf nothing flows. Less the largest x of the
// row, large numbers that are near each other lose no bits.
Result<OperandGradients> logcumsumexpGradient(const GradientContext &context) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const NodeRef &x = context.operands[0], &grad = context.grad;
  graph::AttrReader reader(context.attrs);
  int64_t axis = reader.integer();
  LogcumsumexpPart part{x,    context.result,  {}, {}, {}, {},
                        axis, reader.boolean()};
  auto number = [&](double value) {
    return graph::full(x->dims(), Number(value), x->dtype(), x->device());
  };
  SINTER_TRY_ASSIGN(part.zero, number(0));
  SINTER_TRY_ASSIGN(part.one, number(1));
  SINTER_TRY_ASSIGN(part.nothing, number(-infinity));
  SINTER_TRY_ASSIGN(NodeRef most, number(infinity));
  SINTER_TRY_ASSIGN(part.isReached, graph::compare(context.result, part.nothing,
                                                   Comparison::gt));
  SINTER_TRY_ASSIGN(NodeRef shift, largestOf(x, axis));
  SINTER_TRY_ASSIGN(NodeRef size, graph::abs(shift));
  SINTER_TRY_ASSIGN(NodeRef isFinite,
                    graph::compare(size, most, Comparison::lt));
  SINTER_TRY_ASSIGN(shift, graph::where(isFinite, shift, part.zero));
  SINTER_TRY_ASSIGN(part.x, graph::sub(x, shift));
  SINTER_TRY_ASSIGN(part.result, graph::sub(context.result, shift));
  SINTER_TRY_ASSIGN(NodeRef rise, part.of(grad));
  SINTER_TRY_ASSIGN(NodeRef negative, graph::neg(grad));
  SINTER_TRY_ASSIGN(NodeRef fall, part.of(negative));
  SINTER_TRY_ASSIGN(NodeRef sum, graph::sub(rise, fall));
  return OperandGradients{sum};
}

} // namespace sinter::autodiff
