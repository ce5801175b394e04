/// Connectionist temporal classification, as a loop over steps.
#include "frontend/nn/LocalOps.h"

#include "frontend/Raise.h"
#include "frontend/nn/LossCall.h"

#include <sinter/Creation.h>
#include <sinter/Scan.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace sinter {

using detail::LossCall;
using detail::part;

/// The logarithm of 0: finite, so that sums and differences are no NaN.
static constexpr double never = -1e30;

namespace {

/// One call, its targets written with blanks between and around: [n, states].
class CtcCall {
public:
  CtcCall(const Tensor &x, const Tensor &target, int64_t blank);

  /// -log of the probability of each target: [n], above -never / 2 when no
  /// path gives it.
  Tensor losses(const Tensor &inputLengths, const Tensor &targetLengths) const;

private:
  Tensor logSum(std::initializer_list<Tensor> logs) const;
  Tensor moved(const Tensor &alpha, int64_t by) const;
  Tensor next(const Tensor &alpha, const Tensor &scores) const;
  Tensor alphaAt(const Tensor &alpha, const Tensor &state) const;

  Tensor x;      ///< [steps, n, classes]
  Tensor labels; ///< i64 [n, states]
  Tensor skips;  ///< where a path may come from two states before
  Tensor number; ///< the number of each state, [n, states]
};

} // namespace

CtcCall::CtcCall(const Tensor &x, const Tensor &target, int64_t blank) : x(x) {
  Dim n = target.dim(0);
  int64_t length = target.dim(1).value, states = 2 * length + 1;
  Tensor none = full({n, Dim(length), Dim(1)}, blank, {DType::i64, x.device()});
  Tensor pairs = concat({none, unsqueeze(target.to(DType::i64), 2)}, 2);
  Tensor last = full({n, Dim(1)}, blank, {DType::i64, x.device()});
  labels = concat({reshape(pairs, {n, Dim(2 * length)}), last}, 1);
  number = iota({n, Dim(states)}, 1, {DType::i64, x.device()});
  // A label follows another without a blank between unless they are equal.
  Tensor before = moved(labels, 2);
  skips = where(labels == before, false, number >= 2);
  skips = where(labels == blank, false, skips);
}

/// Each state's value of `by` states before it, `never` at the first ones.
Tensor CtcCall::moved(const Tensor &alpha, int64_t by) const {
  std::vector<int64_t> low{0, by}, interior{0, 0};
  Dims shape = alpha.shape();
  Tensor kept =
      part(alpha, 1, 0, Dim(std::max<int64_t>(shape[1].value - by, 0)));
  return pad(kept, low, shape, interior,
             isFloat(alpha.dtype()) ? Number(never) : Number(-1));
}

/// log of the sum of what these are logarithms of.
Tensor CtcCall::logSum(std::initializer_list<Tensor> logs) const {
  Tensor largest;
  for (const Tensor &log : logs)
    largest = largest.defined() ? maximum(largest, log) : log;
  largest = largest.detach();
  Tensor total;
  for (const Tensor &log : logs) {
    Tensor one = exp(log - largest);
    total = total.defined() ? total + one : one;
  }
  return log(total) + largest;
}

/// The states after a step with these scores of their labels.
Tensor CtcCall::next(const Tensor &alpha, const Tensor &scores) const {
  Tensor skipped = where(skips, moved(alpha, 2), never);
  Tensor reached = logSum({alpha, moved(alpha, 1), skipped});
  return maximum(reached + scores, never);
}

/// alpha of one state a row: [n]; `never` for state -1.
Tensor CtcCall::alphaAt(const Tensor &alpha, const Tensor &state) const {
  Tensor isThere = unsqueeze(state, 1) >= 0;
  Tensor picked = gather(alpha, maximum(unsqueeze(state, 1), 0), 1);
  return squeeze(where(isThere, picked, never), 1);
}

Tensor CtcCall::losses(const Tensor &inputLengths,
                       const Tensor &targetLengths) const {
  Dims all{x.dim(0), x.dim(1), labels.dim(1)};
  Tensor scores = gather(x, broadcast(unsqueeze(labels, 0), all), 2);
  Tensor steps = arange(x.dim(0), {DType::i64, x.device()});
  Tensor ends = unsqueeze(inputLengths, 1);
  // Before the first step a path stands at the first blank; it may begin
  // there or at the first label, which is what one step from there gives.
  Tensor first = where(number == 0, 0.0,
                       full(number.shape(), never, {x.dtype(), x.device()}));
  auto body = [&](std::span<const Tensor> carries, std::span<const Tensor> xs) {
    Tensor after = next(carries[0], xs[0]);
    Tensor alpha = where(xs[1] < ends, after, carries[0]);
    return ScanStep{{alpha}, {}};
  };
  Tensor alpha = scan(body, {first}, {scores, steps}).carries[0];
  Tensor last = targetLengths * 2;
  return -logSum({alphaAt(alpha, last), alphaAt(alpha, last - 1)});
}

static void checkShapes(const LossCall &call, const Tensor &x,
                        const Tensor &target, const Tensor &inputLengths,
                        const Tensor &targetLengths) {
  auto isRow = [&](const Tensor &lengths) {
    return lengths.rank() == 1 && lengths.dim(0).value == x.dim(1).value;
  };
  if (x.rank() != 3 || target.rank() != 2 ||
      target.dim(0).value != x.dim(1).value || !isRow(inputLengths) ||
      !isRow(targetLengths))
    call.fail("expects log probabilities [steps, n, classes], targets [n, "
              "length] and lengths [n]",
              {x, target, inputLengths, targetLengths});
}

Tensor ctc_loss(const Arg &log_probs, const Arg &target,
                const Arg &input_lengths, const Arg &target_lengths,
                const CtcLossOptions &options) try {
  LossCall call("ctc_loss", {&log_probs});
  Tensor x = call.real(log_probs), labels = call.index(target, "targets");
  Tensor inputs = call.index(input_lengths, "lengths").to(DType::i64);
  Tensor targets = call.index(target_lengths, "lengths").to(DType::i64);
  checkShapes(call, x, labels, inputs, targets);
  if (options.blank < 0 || options.blank >= x.dim(2).value)
    call.fail("the blank is no class", {x});
  // What stands after a target's end is read by nobody, whatever it is.
  Tensor place = iota(labels.shape(), 1, {DType::i64, x.device()});
  labels = where(place < unsqueeze(targets, 1), labels, options.blank);
  Tensor losses = CtcCall(x, labels, options.blank).losses(inputs, targets);
  Tensor isImpossible = losses > -never / 2;
  double instead =
      options.zero_infinity ? 0.0 : std::numeric_limits<double>::infinity();
  losses = where(isImpossible, instead, losses);
  if (options.reduction != Reduction::mean)
    return call.reduced(losses, options.reduction);
  return call.done(mean(losses / maximum(targets, 1).to(x.dtype())));
} catch (...) {
  detail::raiseExhausted(log_probs.where);
}

} // namespace sinter
