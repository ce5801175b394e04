/// The gradients where there is nothing to differentiate.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/Builders.h"

#include <algorithm>

namespace sinter::autodiff {

using graph::NodeRef;

bool hasNoElements(const NodeRef &x) {
  return std::ranges::any_of(
      x->dims(), [](Dim dim) { return dim.isConstant() && dim.value == 0; });
}

Result<OperandGradients> zerosLike(const GradientContext &context) {
  OperandGradients result(context.operands.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const NodeRef &operand = context.operands[i];
    if (context.needs[i]) {
      SINTER_TRY_ASSIGN(
          result[i],
          graph::zeros(operand->dims(), operand->dtype(), operand->device()));
    }
  }
  return result;
}

Result<OperandGradients> loopPart(const GradientContext &context) {
  std::string op(graph::info(context.result->op()).name);
  return makeError(ErrorKind::internal, op + ": has no gradient by itself", op);
}

} // namespace sinter::autodiff
