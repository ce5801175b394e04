/// Activations with a part, a weight or positions of their own.
#include <sinter/Gates.h>

#include "frontend/Raise.h"
#include "frontend/nn/ComposedCall.h"
#include "frontend/nn/LocalOps.h"

namespace sinter {

using detail::ComposedCall;
using detail::part;

namespace {
struct Halves {
  Tensor first, second;
};
} // namespace

static Halves halvesOf(const ComposedCall &call, const Tensor &x,
                       int64_t axis) {
  int64_t at = axis < 0 ? axis + x.rank() : axis;
  if (at < 0 || at >= x.rank())
    call.fail("there is no axis " + std::to_string(axis), {x});
  Dim size = x.dim(at);
  if (size.value % 2 != 0)
    call.fail("the size of axis " + std::to_string(axis) + " is odd", {x});
  return {part(x, at, 0, Dim(size.value / 2)),
          part(x, at, size.value / 2, size)};
}

Tensor glu(const Arg &x, int64_t axis) try {
  ComposedCall call("glu", {&x});
  auto [first, second] = halvesOf(call, call.real(x), axis);
  return call.done(first * sigmoid(second));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor swiglu(const Arg &x, int64_t axis) try {
  ComposedCall call("swiglu", {&x});
  auto [first, second] = halvesOf(call, call.real(x), axis);
  return call.done(silu(first) * second);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor prelu(const Arg &x, const Arg &weight) try {
  ComposedCall call("prelu", {&x});
  Tensor wide = call.real(x), slope = call.real(weight);
  bool isOne = slope.numel() == 1;
  if (slope.rank() > 1 ||
      (!isOne && (wide.rank() < 2 || slope.dim(0).value != wide.dim(1).value)))
    call.fail("the weight is neither one nor one for each channel",
              {wide, slope});
  Dims shape(wide.rank(), Dim(1));
  if (!isOne)
    shape[1] = slope.dim(0);
  return call.done(where(wide > 0.0, wide, wide * reshape(slope, shape)));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor softmin(const Arg &x, int64_t axis) { return softmax(neg(x), axis); }

/// Every second element of the last axis, from `first` on.
static Tensor everySecond(const Tensor &pairs, int64_t which) {
  return squeeze(part(pairs, -1, which, Dim(which + 1)), -1);
}

Tensor rotary_embedding(const Arg &x, const Arg &cos, const Arg &sin,
                        RotaryPairs pairs) try {
  ComposedCall call("rotary_embedding", {&x});
  Tensor wide = call.real(x), c = call.real(cos), s = call.real(sin);
  if (wide.rank() < 2)
    call.fail("expects [..., t, size]", {wide});
  Halves parts = halvesOf(call, wide, -1);
  bool isInterleaved = pairs == RotaryPairs::interleaved;
  if (isInterleaved) {
    Dims apart = wide.shape();
    apart.back() = Dim(apart.back().value / 2);
    apart.emplace_back(2);
    Tensor both = reshape(wide, apart);
    parts = {everySecond(both, 0), everySecond(both, 1)};
  }
  Tensor first = parts.first * c - parts.second * s;
  Tensor second = parts.first * s + parts.second * c;
  if (!isInterleaved)
    return call.done(concat({first, second}, -1));
  Tensor turned = concat({unsqueeze(first, -1), unsqueeze(second, -1)}, -1);
  return call.done(reshape(turned, wide.shape()));
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
