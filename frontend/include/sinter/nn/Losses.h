/// Losses: how far predictions are from what they should be, with PyTorch's
/// names and meanings. All are made of recorded ops and fuse with what is
/// around them.
#pragma once

#include <sinter/BasicOps.h>

#include <cstdint>
#include <optional>

namespace sinter {

/// What becomes of the losses of single elements.
enum class Reduction : uint8_t {
  none, ///< they are the result
  mean, ///< their mean; where there are weights, the weighted one
  sum,
  batchmean, ///< their sum by the size of axis 0; kl_div only
};

//===- Classes ------------------------------------------------------------===//

struct NllLossOptions {
  std::optional<Tensor> weight = {}; ///< [classes]: how much each class counts
  /// Labels of this number take no part. PyTorch's default is -100; here none
  /// is ignored unless it is named, and a label out of range is an error.
  std::optional<int64_t> ignore_index = {};
  Reduction reduction = Reduction::mean;
};

/// -input at the labels. Input: log probabilities [n, classes, space...] or
/// [classes]; target: integers [n, space...] or a scalar. The mean is by the
/// weights of the labels that take part.
Tensor nll_loss(const Arg &input, const Arg &target,
                const NllLossOptions &options = {});

struct CrossEntropyOptions {
  std::optional<Tensor> weight = {};        ///< [classes]
  std::optional<int64_t> ignore_index = {}; ///< as that of NllLossOptions
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0; ///< how much of 1 all classes share
};

/// -log(softmax(input)) at the target. Input: scores [n, classes, space...] or
/// [classes]; target: integers [n, space...], or probabilities of the input's
/// shape. Without options (in sinter/Ops.h) it is for [n, classes] alone.
Tensor cross_entropy(const Arg &input, const Arg &target,
                     const CrossEntropyOptions &options);

struct MultiMarginOptions {
  int64_t p = 1; ///< 1 or 2
  double margin = 1;
  std::optional<Tensor> weight = {}; ///< [classes]
  Reduction reduction = Reduction::mean;
};
/// The mean over all classes c but the label y of max(0, margin - x[y] +
/// x[c])^p. Input [n, classes] or [classes]; target [n] or a scalar.
Tensor multi_margin_loss(const Arg &input, const Arg &target,
                         const MultiMarginOptions &options = {});

struct WeightedOptions {
  std::optional<Tensor> weight = {}; ///< broadcasts to the losses
  Reduction reduction = Reduction::mean;
};
/// Binary cross entropy of each class's score, averaged over the last axis.
/// Input and target [..., classes], target of 0 and 1.
Tensor multilabel_soft_margin_loss(const Arg &input, const Arg &target,
                                   const WeightedOptions &options = {});

struct CtcLossOptions {
  int64_t blank = 0;
  Reduction reduction = Reduction::mean;
  bool zero_infinity = false; ///< 0 in place of infinity, without gradient
};
/// Connectionist temporal classification. Input: log probabilities [steps, n,
/// classes]; target: labels [n, length], of which the first target_lengths[i]
/// count; lengths: integers [n]. The mean is over losses divided by the lengths
/// of their targets. One program whatever the number of steps.
Tensor ctc_loss(const Arg &log_probs, const Arg &target,
                const Arg &input_lengths, const Arg &target_lengths,
                const CtcLossOptions &options = {});

//===- Probabilities ------------------------------------------------------===//

/// -(t log(x) + (1 - t) log(1 - x)) of probabilities x; a logarithm is at least
/// -100. Both have one shape.
Tensor binary_cross_entropy(const Arg &input, const Arg &target,
                            const WeightedOptions &options = {});

struct BceWithLogitsOptions {
  std::optional<Tensor> weight = {};     ///< broadcasts to the losses
  std::optional<Tensor> pos_weight = {}; ///< of positive targets; broadcasts
  Reduction reduction = Reduction::mean;
};
/// binary_cross_entropy of sigmoid(input), without overflow.
Tensor
binary_cross_entropy_with_logits(const Arg &input, const Arg &target,
                                 const BceWithLogitsOptions &options = {});

struct KlDivOptions {
  bool log_target = false; ///< the target is given as logarithms
  Reduction reduction = Reduction::mean;
};
/// t (log(t) - x) of log probabilities x. Both have one shape.
Tensor kl_div(const Arg &input, const Arg &target,
              const KlDivOptions &options = {});

struct PoissonNllOptions {
  bool log_input = true; ///< the input is the logarithm of the rate
  bool full = false;     ///< with Stirling's approximation of log(t!)
  double eps = 1e-8;     ///< added to the rate before its logarithm
  Reduction reduction = Reduction::mean;
};
/// -log of the Poisson distribution. Both have one shape.
Tensor poisson_nll_loss(const Arg &input, const Arg &target,
                        const PoissonNllOptions &options = {});

struct GaussianNllOptions {
  bool full = false; ///< with the constant log(2 pi) / 2
  double eps = 1e-6; ///< the least variance
  Reduction reduction = Reduction::mean;
};
/// -log of the normal distribution of mean `input` and variance `var`, which
/// has the input's shape, or that without or with 1 in place of the last axis.
Tensor gaussian_nll_loss(const Arg &input, const Arg &target, const Arg &var,
                         const GaussianNllOptions &options = {});

//===- Numbers ------------------------------------------------------------===//

/// (x - t)^2. Both have one shape.
Tensor mse_loss(const Arg &input, const Arg &target,
                Reduction reduction = Reduction::mean);
/// |x - t|. Both have one shape.
Tensor l1_loss(const Arg &input, const Arg &target,
               Reduction reduction = Reduction::mean);

struct SmoothL1Options {
  double beta = 1; ///< where the square ends; 0 makes it l1_loss
  Reduction reduction = Reduction::mean;
};
/// |x - t| - beta / 2, and below beta (x - t)^2 / (2 beta).
Tensor smooth_l1_loss(const Arg &input, const Arg &target,
                      const SmoothL1Options &options = {});

struct HuberOptions {
  double delta = 1; ///< where the square ends
  Reduction reduction = Reduction::mean;
};
/// delta (|x - t| - delta / 2), and below delta (x - t)^2 / 2.
Tensor huber_loss(const Arg &input, const Arg &target,
                  const HuberOptions &options = {});

//===- Margins and distances; targets are 1 and -1
//-------------------------===//

struct MarginOptions {
  double margin = 0;
  Reduction reduction = Reduction::mean;
};
/// log(1 + e^(-t x)). Both have one shape.
Tensor soft_margin_loss(const Arg &input, const Arg &target,
                        Reduction reduction = Reduction::mean);
/// x where t is 1, max(0, margin - x) where it is -1. Both have one shape.
Tensor hinge_embedding_loss(const Arg &input, const Arg &target,
                            const MarginOptions &options = {.margin = 1});
/// max(0, margin - t (x1 - x2)). All have one shape.
Tensor margin_ranking_loss(const Arg &input1, const Arg &input2,
                           const Arg &target,
                           const MarginOptions &options = {});

struct TripletMarginOptions {
  double margin = 1;
  double p = 2;
  double eps = 1e-6;
  bool swap = false; ///< takes the distance of positive and negative if less
  Reduction reduction = Reduction::mean;
};
/// max(0, margin + d(anchor, positive) - d(anchor, negative)), d the
/// pairwise_distance. All are [..., size].
Tensor triplet_margin_loss(const Arg &anchor, const Arg &positive,
                           const Arg &negative,
                           const TripletMarginOptions &options = {});

/// 1 - cos where t is 1, max(0, cos - margin) where it is -1, of the rows'
/// cosines. Inputs [n, size] and target [n], or [size] and a scalar.
Tensor cosine_embedding_loss(const Arg &input1, const Arg &input2,
                             const Arg &target,
                             const MarginOptions &options = {});

/// x1 x2 / (|x1| |x2|) along an axis, each norm at least eps. Shapes broadcast.
Tensor cosine_similarity(const Arg &x1, const Arg &x2, int64_t axis = 1,
                         double eps = 1e-8);

struct PairwiseDistanceOptions {
  double p = 2;
  double eps = 1e-6; ///< added to each difference
  bool keepdims = false;
};
/// The p-norm of x1 - x2 + eps along the last axis. Shapes broadcast.
Tensor pairwise_distance(const Arg &x1, const Arg &x2,
                         const PairwiseDistanceOptions &options = {});

} // namespace sinter
