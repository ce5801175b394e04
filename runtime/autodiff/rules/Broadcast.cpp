/// The gradient of broadcast.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/Builders.h"

namespace sinter::autodiff {

Result<OperandGradients> broadcastGradient(const GradientContext &context) {
  std::span<const Dim> from = context.operands[0]->dims();
  std::span<const Dim> to = context.result->dims();
  size_t missing = to.size() - from.size();
  SmallVector<int64_t, 8> axes;
  for (size_t i = 0; i < to.size(); ++i) {
    bool isNew = i < missing;
    if (isNew || (from[i - missing].value == 1 && to[i].value != 1))
      axes.push_back(static_cast<int64_t>(i));
  }
  graph::NodeRef grad = context.grad;
  if (!axes.empty()) {
    SINTER_TRY_ASSIGN(grad, graph::sum(grad, axes, /*keepdims=*/false));
  }
  SINTER_TRY_ASSIGN(grad, graph::reshape(grad, from));
  return OperandGradients{grad};
}

} // namespace sinter::autodiff
