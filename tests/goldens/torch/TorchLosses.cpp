/// PyTorch's losses and distances.
#include "tests/goldens/torch/TorchCall.h"

namespace sinter::goldens {

static Reduction reductionOf(const OpCall &c) {
  static const std::map<std::string, Reduction> names = {
      {"", Reduction::mean},
      {"mean", Reduction::mean},
      {"none", Reduction::none},
      {"sum", Reduction::sum},
      {"batchmean", Reduction::batchmean},
  };
  auto found = names.find(c.attrs.text("reduction"));
  if (found == names.end())
    refuse("no such reduction: " + c.attrs.text("reduction"));
  return found->second;
}

template <Tensor (*loss)(const Arg &, const Arg &, Reduction)>
static Tensors plain(const OpCall &c) {
  return {loss(c["x"], c["target"], reductionOf(c))};
}

static std::optional<int64_t> ignored(const OpCall &c) {
  if (!c.attrs.has("ignore_index"))
    return std::nullopt;
  return c.attrs.integer("ignore_index");
}

static MarginOptions marginOf(const OpCall &c, double otherwise) {
  return {c.attrs.number("margin", otherwise), reductionOf(c)};
}

/// One sample's target may have an axis of its own.
static Tensors multiMargin(const OpCall &c) {
  Tensor target = c["target"];
  if (c["x"].rank() == 1)
    target = reshape(target, Dims{});
  return {
      multi_margin_loss(c["x"], target,
                        {c.attrs.integer("p", 1), c.attrs.number("margin", 1),
                         given(c, "weight"), reductionOf(c)})};
}

static TorchTable classLosses() {
  return {
      {"nn.functional.nll_loss",
       {"x target weight ignore_index reduction",
        [](const OpCall &c) -> Tensors {
          return {nll_loss(c["x"], c["target"],
                           {given(c, "weight"), ignored(c), reductionOf(c)})};
        }}},
      {"nn.functional.cross_entropy",
       {"x target weight ignore_index reduction label_smoothing",
        [](const OpCall &c) -> Tensors {
          return {cross_entropy(c["x"], c["target"],
                                {given(c, "weight"), ignored(c), reductionOf(c),
                                 c.attrs.number("label_smoothing")})};
        }}},
      {"nn.functional.multi_margin_loss",
       {"x@ target p margin weight reduction", multiMargin}},
      {"nn.functional.multilabel_soft_margin_loss",
       {"x target weight reduction",
        [](const OpCall &c) -> Tensors {
          return {multilabel_soft_margin_loss(
              c["x"], c["target"], {given(c, "weight"), reductionOf(c)})};
        }}},
      {"nn.functional.binary_cross_entropy",
       {"x target weight reduction",
        [](const OpCall &c) -> Tensors {
          return {binary_cross_entropy(c["x"], c["target"],
                                       {given(c, "weight"), reductionOf(c)})};
        }}},
  };
}

static TorchTable probabilities() {
  return {
      {"nn.functional.binary_cross_entropy_with_logits",
       {"x target weight pos_weight reduction",
        [](const OpCall &c) -> Tensors {
          return {binary_cross_entropy_with_logits(
              c["x"], c["target"],
              {given(c, "weight"), given(c, "pos_weight"), reductionOf(c)})};
        }}},
      {"nn.functional.kl_div",
       {"x target reduction log_target",
        [](const OpCall &c) -> Tensors {
          return {kl_div(c["x"], c["target"],
                         {c.attrs.flag("log_target"), reductionOf(c)})};
        }}},
      {"nn.functional.poisson_nll_loss",
       {"x target log_input full eps reduction",
        [](const OpCall &c) -> Tensors {
          return {poisson_nll_loss(
              c["x"], c["target"],
              {c.attrs.flag("log_input", true), c.attrs.flag("full"),
               c.attrs.number("eps", 1e-8), reductionOf(c)})};
        }}},
      {"nn.functional.gaussian_nll_loss",
       {"x target var full eps reduction",
        [](const OpCall &c) -> Tensors {
          return {
              gaussian_nll_loss(c["x"], c["target"], c["var"],
                                {c.attrs.flag("full"),
                                 c.attrs.number("eps", 1e-6), reductionOf(c)})};
        }}},
  };
}

static Tensors tripletMargin(const OpCall &c) {
  return {triplet_margin_loss(
      c["anchor"], c["positive"], c["negative"],
      {c.attrs.number("margin", 1), c.attrs.number("p", 2),
       c.attrs.number("eps", 1e-6), c.attrs.flag("swap"), reductionOf(c)})};
}

static TorchTable distances() {
  return {
      {"nn.functional.mse_loss", {"x target reduction", plain<mse_loss>}},
      {"nn.functional.l1_loss", {"x target reduction", plain<l1_loss>}},
      {"nn.functional.smooth_l1_loss",
       {"x target beta reduction",
        [](const OpCall &c) -> Tensors {
          return {smooth_l1_loss(c["x"], c["target"],
                                 {c.attrs.number("beta", 1), reductionOf(c)})};
        }}},
      {"nn.functional.huber_loss",
       {"x target delta reduction",
        [](const OpCall &c) -> Tensors {
          return {huber_loss(c["x"], c["target"],
                             {c.attrs.number("delta", 1), reductionOf(c)})};
        }}},
      {"nn.functional.hinge_embedding_loss",
       {"x target margin reduction",
        [](const OpCall &c) -> Tensors {
          return {hinge_embedding_loss(c["x"], c["target"], marginOf(c, 1))};
        }}},
      {"nn.functional.margin_ranking_loss",
       {"a b target margin reduction",
        [](const OpCall &c) -> Tensors {
          return {
              margin_ranking_loss(c["a"], c["b"], c["target"], marginOf(c, 0))};
        }}},
      {"nn.functional.cosine_embedding_loss",
       {"a b target margin reduction",
        [](const OpCall &c) -> Tensors {
          return {cosine_embedding_loss(c["a"], c["b"], c["target"],
                                        marginOf(c, 0))};
        }}},
      {"nn.functional.triplet_margin_loss",
       {"anchor positive negative margin p eps swap reduction", tripletMargin}},
      {"nn.functional.cosine_similarity",
       {"a b dim eps",
        [](const OpCall &c) -> Tensors {
          return {cosine_similarity(c["a"], c["b"], c.attrs.integer("dim", 1),
                                    c.attrs.number("eps", 1e-8))};
        }}},
      {"nn.functional.pairwise_distance",
       {"a b p eps keepdim",
        [](const OpCall &c) -> Tensors {
          return {pairwise_distance(c["a"], c["b"],
                                    {c.attrs.number("p", 2),
                                     c.attrs.number("eps", 1e-6),
                                     c.attrs.flag("keepdim")})};
        }}},
  };
}

TorchTable torchLosses() {
  TorchTable all = classLosses();
  all.merge(probabilities());
  all.merge(distances());
  return all;
}

} // namespace sinter::goldens
