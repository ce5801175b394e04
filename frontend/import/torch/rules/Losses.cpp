/// Losses.
#include "frontend/import/torch/rules/Rules.h"

#include <sinter/nn/Losses.h>

namespace sinter::torch {

static Reduction reductionOf(Call &call) {
  int64_t code = call.integer("reduction", 1);
  if (code < 0 || code > 2)
    call.invalid("reduction " + std::to_string(code));
  return code == 0   ? Reduction::none
         : code == 1 ? Reduction::mean
                     : Reduction::sum;
}

//===- Classes ------------------------------------------------------------===//

static NllLossOptions nllOptions(Call &call) {
  NllLossOptions options;
  options.weight = call.optionalTensor("weight");
  options.ignore_index = call.integer("ignore_index", -100);
  options.reduction = reductionOf(call);
  return options;
}

static void nllRule(Call &call) {
  call.give(
      nll_loss(call.tensor("self"), call.tensor("target"), nllOptions(call)));
}

/// Besides, how much the labels weigh that took part.
static void nllForwardRule(Call &call) {
  Tensor x = call.tensor("self"), target = call.tensor("target");
  NllLossOptions options = nllOptions(call);
  call.give(nll_loss(x, target, options));
  options.reduction = Reduction::sum;
  call.give(nll_loss(-ones_like(x), target, options));
}

static void crossEntropyRule(Call &call) {
  Tensor target = call.tensor("target");
  CrossEntropyOptions options;
  options.weight = call.optionalTensor("weight");
  int64_t ignored = call.integer("ignore_index", -100);
  if (!isFloat(target.dtype()))
    options.ignore_index = ignored;
  options.reduction = reductionOf(call);
  options.label_smoothing = call.real("label_smoothing", 0);
  call.give(cross_entropy(call.tensor("self"), target, options));
}

static void multiMarginRule(Call &call) {
  MultiMarginOptions options;
  options.p = call.integer("p", 1);
  options.margin = call.real("margin", 1);
  options.weight = call.optionalTensor("weight");
  options.reduction = reductionOf(call);
  call.give(
      multi_margin_loss(call.tensor("self"), call.tensor("target"), options));
}

/// Labels [n, classes] end with -1: max(0, 1 - (x[label] - x[c])) for each
/// label and each class that is none, by the number of classes.
static void multiLabelMarginRule(Call &call) {
  Tensor x = call.tensor("self"), target = call.tensor("target");
  Reduction reduction = reductionOf(call);
  bool isSingle = x.rank() < 2;
  if (isSingle) {
    x = reshape(x, {1, -1});
    target = reshape(target, {1, -1});
  }
  Dim count = x.dim(1);
  Tensor ended = cumsum((target < 0).to(DType::i64), 1) > 0;
  Tensor counts = where(ended, zeros_like(x), ones_like(x));
  Tensor label = where(ended, zeros_like(target), target);
  Tensor own = scatter_add(zeros_like(x), label, counts, 1);
  Tensor others = where(own > 0, zeros_like(x), ones_like(x));
  Tensor distance = unsqueeze(gather(x, label, 1), 2) - unsqueeze(x, 1);
  Tensor hinge =
      relu(1 - distance) * unsqueeze(counts, 2) * unsqueeze(others, 1);
  Tensor loss = sum(hinge, {1, 2}) / double(fixed(count));
  Tensor result = reduction == Reduction::mean  ? mean(loss)
                  : reduction == Reduction::sum ? sum(loss)
                  : isSingle                    ? reshape(loss, {})
                                                : loss;
  call.give(result);
  if (call.numOutputs() > 1)
    call.give(Value());
}

static void ctcRule(Call &call) {
  Tensor logs = call.tensor("log_probs");
  auto lengths = [&](const char *name) {
    if (call.value(name).isTensor())
      return call.tensor(name);
    std::vector<int64_t> numbers = call.integers(name);
    return tensor(numbers, {int64_t(numbers.size())},
                  {DType::i64, logs.device()});
  };
  CtcLossOptions options;
  options.blank = call.integer("blank", 0);
  options.reduction = reductionOf(call);
  options.zero_infinity = call.flag("zero_infinity");
  call.give(ctc_loss(logs, call.tensor("targets"), lengths("input_lengths"),
                     lengths("target_lengths"), options));
}

//===- Numbers ------------------------------------------------------------===//

template <Tensor (*function)(const Arg &, const Arg &, Reduction)>
static void plainRule(Call &call) {
  call.give(
      function(call.tensor("self"), call.tensor("target"), reductionOf(call)));
}

static void smoothL1Rule(Call &call) {
  SmoothL1Options options{call.real("beta", 1), reductionOf(call)};
  call.give(
      smooth_l1_loss(call.tensor("self"), call.tensor("target"), options));
}
static void huberRule(Call &call) {
  HuberOptions options{call.real("delta", 1), reductionOf(call)};
  call.give(huber_loss(call.tensor("self"), call.tensor("target"), options));
}

static void crossEntropyOfTwoRule(Call &call) {
  WeightedOptions options{call.optionalTensor("weight"), reductionOf(call)};
  call.give(binary_cross_entropy(call.tensor("self"), call.tensor("target"),
                                 options));
}
static void crossEntropyOfLogitsRule(Call &call) {
  BceWithLogitsOptions options{call.optionalTensor("weight"),
                               call.optionalTensor("pos_weight"),
                               reductionOf(call)};
  call.give(binary_cross_entropy_with_logits(call.tensor("self"),
                                             call.tensor("target"), options));
}

static void divergenceRule(Call &call) {
  KlDivOptions options{call.flag("log_target"), reductionOf(call)};
  call.give(kl_div(call.tensor("self"), call.tensor("target"), options));
}

static void poissonRule(Call &call) {
  PoissonNllOptions options{call.flag("log_input", true), call.flag("full"),
                            call.real("eps", 1e-8), reductionOf(call)};
  call.give(
      poisson_nll_loss(call.tensor("input"), call.tensor("target"), options));
}

//===- Margins ------------------------------------------------------------===//

static MarginOptions marginOf(Call &call, double otherwise) {
  return {call.real("margin", otherwise), reductionOf(call)};
}

static void hingeRule(Call &call) {
  call.give(hinge_embedding_loss(call.tensor("self"), call.tensor("target"),
                                 marginOf(call, 1)));
}
static void cosineRule(Call &call) {
  call.give(cosine_embedding_loss(call.tensor("input1"), call.tensor("input2"),
                                  call.tensor("target"), marginOf(call, 0)));
}
static void rankingRule(Call &call) {
  call.give(margin_ranking_loss(call.tensor("input1"), call.tensor("input2"),
                                call.tensor("target"), marginOf(call, 0)));
}

static void tripletRule(Call &call) {
  TripletMarginOptions options{call.real("margin", 1), call.real("p", 2),
                               call.real("eps", 1e-6), call.flag("swap"),
                               reductionOf(call)};
  call.give(triplet_margin_loss(call.tensor("anchor"), call.tensor("positive"),
                                call.tensor("negative"), options));
}

static constexpr Operator rows[] = {
    {"aten.nll_loss.default", nllRule},
    {"aten.nll_loss_nd.default", nllRule},
    {"aten.nll_loss2d.default", nllRule},
    {"aten.nll_loss_forward.default", nllForwardRule},
    {"aten.nll_loss2d_forward.default", nllForwardRule},
    {"aten.cross_entropy_loss.default", crossEntropyRule},
    {"aten.multi_margin_loss.default", multiMarginRule},
    {"aten.multilabel_margin_loss.default", multiLabelMarginRule},
    {"aten.multilabel_margin_loss_forward.default", multiLabelMarginRule},
    {"aten.ctc_loss.IntList", ctcRule},
    {"aten.ctc_loss.Tensor", ctcRule},
    {"aten.mse_loss.default", plainRule<mse_loss>},
    {"aten.l1_loss.default", plainRule<l1_loss>},
    {"aten.soft_margin_loss.default", plainRule<soft_margin_loss>},
    {"aten.smooth_l1_loss.default", smoothL1Rule},
    {"aten.huber_loss.default", huberRule},
    {"aten.binary_cross_entropy.default", crossEntropyOfTwoRule},
    {"aten.binary_cross_entropy_with_logits.default", crossEntropyOfLogitsRule},
    {"aten.kl_div.default", divergenceRule},
    {"aten.poisson_nll_loss.default", poissonRule},
    {"aten.hinge_embedding_loss.default", hingeRule},
    {"aten.cosine_embedding_loss.default", cosineRule},
    {"aten.margin_ranking_loss.default", rankingRule},
    {"aten.triplet_margin_loss.default", tripletRule},
};

std::span<const Operator> lossRows() { return rows; }

} // namespace sinter::torch
