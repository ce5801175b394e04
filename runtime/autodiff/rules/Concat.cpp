/// The gradient of concat.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"

namespace sinter::autodiff {

Result<OperandGradients> concatGradient(const GradientContext &context) {
  auto axis = static_cast<size_t>(graph::AttrReader(context.attrs).integer());
  std::span<const Dim> dims = context.grad->dims();
  SmallVector<int64_t, 8> starts(dims.size(), 0);
  SmallVector<int64_t, 8> steps(dims.size(), 1);
  SmallVector<Dim, 6> limits;
  limits.append(dims);
  OperandGradients result;
  Dim end(0);
  for (size_t i = 0; i < context.operands.size(); ++i) {
    Dim start = end;
    end = end + context.operands[i]->dims()[axis];
    result.push_back({});
    if (!context.needs[i])
      continue;
    starts[axis] = start.value;
    limits[axis] = end;
    SINTER_TRY_ASSIGN(graph::NodeRef part,
                      graph::slice(context.grad, starts, limits, steps));
    // A start is a plain number: this leaves the guard that it is `start`.
    SINTER_TRY_ASSIGN(result[i],
                      graph::reshape(part, context.operands[i]->dims()));
  }
  return result;
}

} // namespace sinter::autodiff
