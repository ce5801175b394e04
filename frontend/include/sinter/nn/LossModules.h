/// Losses as modules, with PyTorch's names: the functions of Losses.h with
/// options that are given once.
#pragma once

#include <sinter/Arguments.h>
#include <sinter/Module.h>
#include <sinter/nn/Losses.h>

#include <cstdint>
#include <optional>
#include <source_location>

namespace sinter::nn {

/// (x - t)^2 of numbers of one shape. As `mse_loss`.
class MSELoss {
public:
  explicit MSELoss(Reduction reduction = Reduction::mean)
      : reduction(reduction) {}

  Tensor forward(const Tensor &input, const Arg &target) const {
    return mse_loss(input, target, reduction);
  }

  Reduction reduction;

  SINTER_MODULE(MSELoss, reduction)
};

/// |x - t| of numbers of one shape. As `l1_loss`.
class L1Loss {
public:
  explicit L1Loss(Reduction reduction = Reduction::mean)
      : reduction(reduction) {}

  Tensor forward(const Tensor &input, const Arg &target) const {
    return l1_loss(input, target, reduction);
  }

  Reduction reduction;

  SINTER_MODULE(L1Loss, reduction)
};

/// Scores and labels, or probabilities. As `cross_entropy`.
class CrossEntropyLoss {
public:
  using Where = std::source_location;

  explicit CrossEntropyLoss(const CrossEntropyOptions &options = {},
                            Where where = Where::current())
      : weight(options.weight), ignore_index(options.ignore_index),
        reduction(options.reduction), label_smoothing(options.label_smoothing) {
    detail::Arguments("cross_entropy", where)
        .within("label_smoothing", label_smoothing, 0, 1);
  }

  Tensor forward(const Tensor &input, const Arg &target) const {
    return cross_entropy(input, target,
                         {.weight = weight,
                          .ignore_index = ignore_index,
                          .reduction = reduction,
                          .label_smoothing = label_smoothing});
  }

  std::optional<Tensor> weight; ///< [classes]
  std::optional<int64_t> ignore_index;
  Reduction reduction;
  double label_smoothing;

  SINTER_MODULE(CrossEntropyLoss, weight, ignore_index, reduction,
                label_smoothing)
};

/// Log probabilities and labels. As `nll_loss`.
class NLLLoss {
public:
  explicit NLLLoss(const NllLossOptions &options = {})
      : weight(options.weight), ignore_index(options.ignore_index),
        reduction(options.reduction) {}

  Tensor forward(const Tensor &input, const Arg &target) const {
    return nll_loss(input, target,
                    {.weight = weight,
                     .ignore_index = ignore_index,
                     .reduction = reduction});
  }

  std::optional<Tensor> weight; ///< [classes]
  std::optional<int64_t> ignore_index;
  Reduction reduction;

  SINTER_MODULE(NLLLoss, weight, ignore_index, reduction)
};

/// Probabilities and targets from 0 to 1. As `binary_cross_entropy`.
class BCELoss {
public:
  explicit BCELoss(const WeightedOptions &options = {})
      : weight(options.weight), reduction(options.reduction) {}

  Tensor forward(const Tensor &input, const Arg &target) const {
    return binary_cross_entropy(input, target,
                                {.weight = weight, .reduction = reduction});
  }

  std::optional<Tensor> weight;
  Reduction reduction;

  SINTER_MODULE(BCELoss, weight, reduction)
};

/// Scores and targets from 0 to 1. As `binary_cross_entropy_with_logits`.
class BCEWithLogitsLoss {
public:
  explicit BCEWithLogitsLoss(const BceWithLogitsOptions &options = {})
      : weight(options.weight), pos_weight(options.pos_weight),
        reduction(options.reduction) {}

  Tensor forward(const Tensor &input, const Arg &target) const {
    return binary_cross_entropy_with_logits(
        input, target,
        {.weight = weight, .pos_weight = pos_weight, .reduction = reduction});
  }

  std::optional<Tensor> weight;
  std::optional<Tensor> pos_weight;
  Reduction reduction;

  SINTER_MODULE(BCEWithLogitsLoss, weight, pos_weight, reduction)
};

/// Log probabilities and probabilities. As `kl_div`.
class KLDivLoss {
public:
  explicit KLDivLoss(const KlDivOptions &options = {})
      : log_target(options.log_target), reduction(options.reduction) {}

  Tensor forward(const Tensor &input, const Arg &target) const {
    return kl_div(input, target,
                  {.log_target = log_target, .reduction = reduction});
  }

  bool log_target;
  Reduction reduction;

  SINTER_MODULE(KLDivLoss, log_target, reduction)
};

/// Numbers of one shape. As `smooth_l1_loss`.
class SmoothL1Loss {
public:
  using Where = std::source_location;

  explicit SmoothL1Loss(const SmoothL1Options &options = {},
                        Where where = Where::current())
      : beta(options.beta), reduction(options.reduction) {
    detail::Arguments("smooth_l1_loss", where).notNegative("beta", beta);
  }

  Tensor forward(const Tensor &input, const Arg &target) const {
    return smooth_l1_loss(input, target,
                          {.beta = beta, .reduction = reduction});
  }

  double beta;
  Reduction reduction;

  SINTER_MODULE(SmoothL1Loss, beta, reduction)
};

/// Numbers of one shape. As `huber_loss`.
class HuberLoss {
public:
  using Where = std::source_location;

  explicit HuberLoss(const HuberOptions &options = {},
                     Where where = Where::current())
      : delta(options.delta), reduction(options.reduction) {
    detail::Arguments("huber_loss", where).aboveZero("delta", delta);
  }

  Tensor forward(const Tensor &input, const Arg &target) const {
    return huber_loss(input, target, {.delta = delta, .reduction = reduction});
  }

  double delta;
  Reduction reduction;

  SINTER_MODULE(HuberLoss, delta, reduction)
};

} // namespace sinter::nn
