/// Losses of margins and distances.
#include "frontend/Recording.h"

#include "frontend/Raise.h"
#include "frontend/nn/LocalOps.h"
#include "frontend/nn/LossCall.h"

#include <sinter/generated/functions/Activations.h>

namespace sinter {

using detail::LossCall;

Tensor soft_margin_loss(const Arg &input, const Arg &target,
                        Reduction reduction) try {
  LossCall call("soft_margin_loss", {&input, &target});
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  return call.reduced(softplus(-(t * x)), reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor hinge_embedding_loss(const Arg &input, const Arg &target,
                            const MarginOptions &options) try {
  LossCall call("hinge_embedding_loss", {&input, &target});
  Tensor x = call.real(input), t = call.real(target);
  call.sameShapes({x, t});
  return call.reduced(where(t == 1.0, x, relu(options.margin - x)),
                      options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

Tensor margin_ranking_loss(const Arg &input1, const Arg &input2,
                           const Arg &target,
                           const MarginOptions &options) try {
  LossCall call("margin_ranking_loss", {&input1, &input2, &target});
  Tensor x1 = call.real(input1), x2 = call.real(input2);
  Tensor t = call.real(target);
  call.sameShapes({x1, x2, t});
  return call.reduced(relu(options.margin - t * (x1 - x2)), options.reduction);
} catch (...) {
  detail::raiseExhausted(input1.where);
}

/// The p-norm of a - b + eps along the last axis.
static Tensor distance(const LossCall &call, const Tensor &a, const Tensor &b,
                       double p, double eps, bool keepdims = false) {
  Tensor apart = a - b + eps;
  if (apart.rank() == 0)
    call.fail("the operands have no axis", {a, b});
  return detail::vectorNorm(apart, p, -1, keepdims);
}

Tensor pairwise_distance(const Arg &x1, const Arg &x2,
                         const PairwiseDistanceOptions &options) try {
  LossCall call("pairwise_distance", {&x1, &x2});
  return call.done(distance(call, call.real(x1), call.real(x2), options.p,
                            options.eps, options.keepdims));
} catch (...) {
  detail::raiseExhausted(x1.where);
}

Tensor triplet_margin_loss(const Arg &anchor, const Arg &positive,
                           const Arg &negative,
                           const TripletMarginOptions &options) try {
  LossCall call("triplet_margin_loss", {&anchor, &positive, &negative});
  Tensor a = call.real(anchor), p = call.real(positive),
         n = call.real(negative);
  call.sameShapes({a, p, n});
  Tensor near = distance(call, a, p, options.p, options.eps);
  Tensor far = distance(call, a, n, options.p, options.eps);
  if (options.swap)
    far = minimum(far, distance(call, p, n, options.p, options.eps));
  return call.reduced(relu(near - far + options.margin), options.reduction);
} catch (...) {
  detail::raiseExhausted(anchor.where);
}

Tensor cosine_similarity(const Arg &x1, const Arg &x2, int64_t axis,
                         double eps) try {
  LossCall call("cosine_similarity", {&x1, &x2});
  Tensor a = call.real(x1), b = call.real(x2);
  // Lengths are those of the vectors that meet, which one operand may have as
  // several equal elements.
  auto shape = detail::broadcastShape(a.shape(), b.shape());
  if (!shape)
    call.fail("shapes do not broadcast", {a, b});
  Dims common(shape->begin(), shape->end());
  a = broadcast(a, common);
  b = broadcast(b, common);
  auto length = [&](const Tensor &x) {
    return maximum(detail::vectorNorm(x, 2, axis, true), eps);
  };
  return call.done(sum((a / length(a)) * (b / length(b)), axis));
} catch (...) {
  detail::raiseExhausted(x1.where);
}

Tensor cosine_embedding_loss(const Arg &input1, const Arg &input2,
                             const Arg &target,
                             const MarginOptions &options) try {
  LossCall call("cosine_embedding_loss", {&input1, &input2, &target});
  Tensor a = call.real(input1), b = call.real(input2), t = call.real(target);
  call.sameShapes({a, b});
  if (a.rank() != t.rank() + 1 || a.rank() > 2)
    call.fail("expects [n, size] and [n]", {a, b, t});
  constexpr double eps = 1e-12; // PyTorch's; keeps rows of 0 finite
  Tensor product = sum(a * b, -1);
  Tensor sizes = (sum(square(a), -1) + eps) * (sum(square(b), -1) + eps);
  Tensor cosine = product * rsqrt(sizes);
  return call.reduced(
      where(t == 1.0, 1.0 - cosine, relu(cosine - options.margin)),
      options.reduction);
} catch (...) {
  detail::raiseExhausted(input1.where);
}

} // namespace sinter
