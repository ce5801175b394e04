/// Golden cases of losses.
#include "tests/goldens/Call.h"

namespace sinter::goldens {

using Rule = Values (*)(const Call &call);
using Table = std::map<std::string, Rule, std::less<>>;

static Reduction reductionOf(const Call &call) {
  std::string name = call.attrs.text("reduction");
  return name == "none"  ? Reduction::none
         : name == "sum" ? Reduction::sum
                         : Reduction::mean;
}

template <Tensor (*loss)(const Arg &, const Arg &, Reduction)>
static Values plain(const Call &c) {
  return {{"y", loss(c["x"], c["target"], reductionOf(c))}};
}

static Values crossEntropy(const Call &c) {
  CrossEntropyOptions options{.weight = c.find("weight"),
                              .reduction = reductionOf(c),
                              .label_smoothing =
                                  c.attrs.number("label_smoothing")};
  if (c.attrs.has("ignore_index"))
    options.ignore_index = c.attrs.integer("ignore_index");
  return {{"y", cross_entropy(c["x"], c["target"], options)}};
}

static Values klDiv(const Call &c) {
  Reduction reduction = reductionOf(c);
  if (reduction == Reduction::mean)
    reduction = Reduction::batchmean;
  return {{"y", kl_div(c["x"], c["target"],
                       {.log_target = c.attrs.flag("log_target"),
                        .reduction = reduction})}};
}

/// Its cases give scores.
static Values ctc(const Call &c) {
  auto lengths = [&](const char *key) { return tensor(c.attrs.list(key)); };
  return {{"y", ctc_loss(log_softmax(c["x"], 2), c["target"],
                         lengths("input_lengths"), lengths("target_lengths"),
                         {.blank = c.attrs.integer("blank"),
                          .reduction = reductionOf(c),
                          .zero_infinity = c.attrs.flag("zero_infinity")})}};
}

static MarginOptions marginOf(const Call &c) {
  return {c.attrs.number("margin"), reductionOf(c)};
}

static const Table &marginRules() {
  static const Table table = {
      {"soft_margin", plain<soft_margin_loss>},
      {"hinge_embedding",
       [](const Call &c) -> Values {
         return {{"y", hinge_embedding_loss(c["x"], c["target"], marginOf(c))}};
       }},
      {"margin_ranking",
       [](const Call &c) -> Values {
         return {{"y", margin_ranking_loss(c["x1"], c["x2"], c["target"],
                                           marginOf(c))}};
       }},
      {"multi_margin",
       [](const Call &c) -> Values {
         return {{"y", multi_margin_loss(c["x"], c["target"],
                                         {.p = c.attrs.integer("p"),
                                          .margin = c.attrs.number("margin"),
                                          .reduction = reductionOf(c)})}};
       }},
      {"triplet_margin",
       [](const Call &c) -> Values {
         return {{"y",
                  triplet_margin_loss(c["anchor"], c["positive"], c["negative"],
                                      {.margin = c.attrs.number("margin"),
                                       .p = c.attrs.number("p"),
                                       .eps = c.attrs.number("eps"),
                                       .reduction = reductionOf(c)})}};
       }},
      {"cosine_embedding",
       [](const Call &c) -> Values {
         return {{"y", cosine_embedding_loss(c["x1"], c["x2"], c["target"],
                                             marginOf(c))}};
       }},
      {"cosine_similarity",
       [](const Call &c) -> Values {
         return {{"y", cosine_similarity(c["a"], c["b"], c.attrs.integer("dim"),
                                         c.attrs.number("eps"))}};
       }},
      {"pairwise_distance",
       [](const Call &c) -> Values {
         return {{"y", pairwise_distance(c["a"], c["b"],
                                         {.p = c.attrs.number("p"),
                                          .eps = c.attrs.number("eps")})}};
       }},
  };
  return table;
}

static const Table &rules() {
  static const Table table = {
      {"mse_loss", plain<mse_loss>},
      {"l1_loss", plain<l1_loss>},
      {"smooth_l1_loss",
       [](const Call &c) -> Values {
         return {
             {"y", smooth_l1_loss(c["x"], c["target"],
                                  {c.attrs.number("beta"), reductionOf(c)})}};
       }},
      {"huber_loss",
       [](const Call &c) -> Values {
         return {{"y", huber_loss(c["x"], c["target"],
                                  {c.attrs.number("delta"), reductionOf(c)})}};
       }},
      {"cross_entropy", crossEntropy},
      {"nll_loss",
       [](const Call &c) -> Values {
         return {{"y", nll_loss(log_softmax(c["x"], 1), c["target"],
                                {.weight = c.find("weight"),
                                 .reduction = reductionOf(c)})}};
       }},
      {"bce_loss",
       [](const Call &c) -> Values {
         return {{"y", binary_cross_entropy(c["x"], c["target"],
                                            {c["weight"], reductionOf(c)})}};
       }},
      {"bce_with_logits",
       [](const Call &c) -> Values {
         return {{"y", binary_cross_entropy_with_logits(
                           c["x"], c["target"],
                           {.pos_weight = c.find("pos_weight"),
                            .reduction = reductionOf(c)})}};
       }},
      {"kl_div", klDiv},
      {"poisson_nll",
       [](const Call &c) -> Values {
         return {{"y", poisson_nll_loss(c["x"], c["target"],
                                        {.log_input = c.attrs.flag("log_input"),
                                         .reduction = reductionOf(c)})}};
       }},
      {"gaussian_nll",
       [](const Call &c) -> Values {
         return {{"y", gaussian_nll_loss(c["x"], c["target"], c["var"],
                                         {.full = c.attrs.flag("full"),
                                          .reduction = reductionOf(c)})}};
       }},
      {"multilabel_soft_margin",
       [](const Call &c) -> Values {
         return {{"y", multilabel_soft_margin_loss(
                           c["x"], c["target"],
                           {.weight = {}, .reduction = reductionOf(c)})}};
       }},
      {"ctc_loss", ctc},
  };
  return table;
}

std::optional<Values> recordLoss(const Case &golden, const Values &inputs) {
  if (golden.category != "loss")
    return std::nullopt;
  if (auto values = recordFrom(rules(), golden, inputs))
    return values;
  return recordFrom(marginRules(), golden, inputs);
}

} // namespace sinter::goldens
