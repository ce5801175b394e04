/// The gradient of layer_norm.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Terms.h"

namespace sinter::autodiff {

using graph::NodeRef;

namespace {

/// Rows of one type, and what is computed of each: all as wide as the rows.
struct Rows {
  std::span<const Dim> shape;
  int64_t last;

  Result<NodeRef> mean(const NodeRef &x) const {
    SINTER_TRY_ASSIGN(NodeRef mean, graph::mean(x, {&last, 1}, true));
    return mean;
  }
  Result<NodeRef> spread(const NodeRef &x) const {
    return graph::broadcast(x, shape);
  }
  /// x less its rows' means, as the decomposition computes it.
  Result<NodeRef> centered(const NodeRef &x) const {
    SINTER_TRY_ASSIGN(NodeRef center, mean(x));
    SINTER_TRY_ASSIGN(NodeRef wide, spread(center));
    SINTER_TRY_ASSIGN(NodeRef left, graph::sub(x, wide));
    SINTER_TRY_ASSIGN(NodeRef missing, mean(left));
    SINTER_TRY_ASSIGN(center, graph::add(center, missing));
    SINTER_TRY_ASSIGN(wide, spread(center));
    return graph::sub(x, wide);
  }
  /// 1 / sqrt(variance + eps), of each row.
  Result<NodeRef> scale(const NodeRef &centered, double eps) const {
    SINTER_TRY_ASSIGN(NodeRef variance, graph::mul(centered, centered));
    SINTER_TRY_ASSIGN(variance, mean(variance));
    SINTER_TRY_ASSIGN(NodeRef added,
                      graph::full(variance->dims(), Number(eps),
                                  variance->dtype(), variance->device()));
    SINTER_TRY_ASSIGN(variance, graph::add(variance, added));
    SINTER_TRY_ASSIGN(variance, graph::rsqrt(variance));
    return spread(variance);
  }
  /// Over all rows.
  Result<NodeRef> sum(const NodeRef &x) const {
    graph::term::IntList axes;
    for (int64_t axis = 0; axis < last; ++axis)
      axes.push_back(axis);
    return graph::sum(x, axes, /*keepdims=*/false);
  }
};

} // namespace

// Of y = n w + b with rows n of mean 0 and size 1: x gets what of grad w is
// neither a mean nor along n, times the rows' scale.
Result<OperandGradients> layerNormGradient(const GradientContext &context) {
  const NodeRef &x = context.operands[0];
  double eps = graph::AttrReader(context.attrs).real();
  Rows rows{x->dims(), graph::term::lastAxis(x)};
  DType type = graph::term::computeDType(x);
  SINTER_TRY_ASSIGN(NodeRef wide, graph::cast(x, type));
  SINTER_TRY_ASSIGN(NodeRef grad, graph::cast(context.grad, type));
  SINTER_TRY_ASSIGN(NodeRef weight, graph::cast(context.operands[1], type));
  SINTER_TRY_ASSIGN(weight, rows.spread(weight));
  SINTER_TRY_ASSIGN(NodeRef centered, rows.centered(wide));
  SINTER_TRY_ASSIGN(NodeRef scale, rows.scale(centered, eps));
  SINTER_TRY_ASSIGN(NodeRef normal, graph::mul(centered, scale));
  SINTER_TRY_ASSIGN(NodeRef change, graph::mul(grad, weight));
  SINTER_TRY_ASSIGN(NodeRef level, rows.mean(change));
  SINTER_TRY_ASSIGN(NodeRef along, graph::mul(change, normal));
  SINTER_TRY_ASSIGN(along, rows.mean(along));
  SINTER_TRY_ASSIGN(level, rows.spread(level));
  SINTER_TRY_ASSIGN(along, rows.spread(along));
  SINTER_TRY_ASSIGN(along, graph::mul(along, normal));
  SINTER_TRY_ASSIGN(change, graph::sub(change, level));
  SINTER_TRY_ASSIGN(change, graph::sub(change, along));
  SINTER_TRY_ASSIGN(change, graph::mul(change, scale));
  SINTER_TRY_ASSIGN(normal, graph::mul(normal, grad));
  OperandGradients gradients{change};
  SINTER_TRY_ASSIGN(NodeRef ofWeight, rows.sum(normal));
  SINTER_TRY_ASSIGN(NodeRef ofBias, rows.sum(grad));
  gradients.push_back(ofWeight);
  gradients.push_back(ofBias);
  for (NodeRef &gradient : gradients) {
    SINTER_TRY_ASSIGN(gradient, graph::cast(gradient, x->dtype()));
  }
  return gradients;
}

} // namespace sinter::autodiff
