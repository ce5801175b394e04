/// The gradients of cummax and cummin.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"

namespace sinter::autodiff {

using graph::NodeRef;

// Of equal elements so far the last one is meant: the largest position of those
// that are their own result. From the end, the same on flipped tensors.
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

} // namespace sinter::autodiff
