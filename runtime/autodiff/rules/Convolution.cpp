/// The gradients of the convolutions: each is one of the other two.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/Builders.h"
#include "runtime/graph/Windows.h"

#include <algorithm>

namespace sinter::autodiff {

using graph::AttrReader;

using graph::NodeRef;
using graph::Windows;

namespace {

/// Records convolutions with the attributes of the node at hand.
struct Maker {
  Windows windows;
  int64_t groups = 1;

  Result<NodeRef> conv(const NodeRef &x, const NodeRef &weight) const {
    return graph::conv(x, weight, windows.sizes, windows.strides, windows.low,
                       windows.high, windows.dilations, groups, windows.layout);
  }
  Result<NodeRef> convTranspose(const NodeRef &x, const NodeRef &weight,
                                const NodeRef &like) const {
    return graph::conv_transpose(
        x, weight, windows.sizes, windows.strides, windows.low, windows.high,
        windows.dilations, groups,
        like->dims().subspan(windows.firstAxis(), windows.rank()),
        windows.layout);
  }
  Result<NodeRef> convWeight(const NodeRef &x, const NodeRef &grad) const {
    return graph::conv_weight_grad(x, grad, windows.sizes, windows.strides,
                                   windows.low, windows.high, windows.dilations,
                                   groups, windows.layout);
  }
  /// conv's result where `like` has fewer positions than there are windows.
  Result<NodeRef> convLike(const NodeRef &x, const NodeRef &weight,
                           const NodeRef &like) const {
    SINTER_TRY_ASSIGN(NodeRef result, conv(x, weight));
    return graph::takeFirst(result, like->dims());
  }
};

} // namespace

static Maker makerOf(const GradientContext &context, bool hasSpace) {
  AttrReader reader(context.attrs);
  Maker maker{Windows::read(reader), reader.integer()};
  if (hasSpace)
    reader.dims();
  maker.windows.layout = reader.choice<Layout>();
  return maker;
}

Result<OperandGradients> convGradient(const GradientContext &context) {
  Maker maker = makerOf(context, /*hasSpace=*/false);
  const NodeRef &x = context.operands[0], &weight = context.operands[1];
  OperandGradients result(2);
  if (context.needs[0]) {
    SINTER_TRY_ASSIGN(result[0], maker.convTranspose(context.grad, weight, x));
  }
  if (context.needs[1]) {
    SINTER_TRY_ASSIGN(result[1], maker.convWeight(x, context.grad));
  }
  return result;
}

Result<OperandGradients> convTransposeGradient(const GradientContext &context) {
  Maker maker = makerOf(context, /*hasSpace=*/true);
  const NodeRef &x = context.operands[0], &weight = context.operands[1];
  OperandGradients result(2);
  // The result's space may be less than one window then.
  if (hasNoElements(x))
    return zerosLike(context);
  if (context.needs[0]) {
    SINTER_TRY_ASSIGN(result[0], maker.convLike(context.grad, weight, x));
  }
  if (context.needs[1]) {
    SINTER_TRY_ASSIGN(result[1], maker.convWeight(context.grad, x));
  }
  return result;
}

Result<OperandGradients> convWeightGradient(const GradientContext &context) {
  Maker maker = makerOf(context, /*hasSpace=*/false);
  const NodeRef &x = context.operands[0], &grad = context.operands[1];
  OperandGradients result(2);
  if (context.needs[0]) {
    SINTER_TRY_ASSIGN(result[0], maker.convTranspose(grad, context.grad, x));
  }
  if (context.needs[1]) {
    SINTER_TRY_ASSIGN(result[1], maker.convLike(x, context.grad, grad));
  }
  return result;
}

} // namespace sinter::autodiff
