/// DistilBERT: an encoder of text, and a head.
#include "frontend/ElementwiseFunctions.h"
#include "frontend/huggingface/Configs.h"
#include "frontend/huggingface/Heads.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

#include <fmt/format.h>

namespace sinter::hf {

using Where = std::source_location;

static nn::LayerNorm normOf(const DistilBertConfig &config, DType dtype) {
  return nn::LayerNorm(config.dim, {.eps = 1e-12, .dtype = dtype});
}

DistilBertLayer::DistilBertLayer(const DistilBertConfig &config, DType dtype)
    : sa_layer_norm(normOf(config, dtype)),
      output_layer_norm(normOf(config, dtype)), dropout(config.dropout),
      heads(config.n_heads), activation(config.activation) {
  auto square = [&] {
    return nn::Linear(config.dim, config.dim, {.dtype = dtype});
  };
  attention = {square(), square(), square(), square()};
  ffn = {nn::Linear(config.dim, config.hidden_dim, {.dtype = dtype}),
         nn::Linear(config.hidden_dim, config.dim, {.dtype = dtype})};
}

Tensor DistilBertLayer::forward(const Tensor &x,
                                const std::optional<Tensor> &mask) const {
  Tensor seen = scaled_dot_product_attention(
      inHeads(attention.q_lin(x), heads), inHeads(attention.k_lin(x), heads),
      inHeads(attention.v_lin(x), heads), {.mask = mask});
  Tensor y = sa_layer_norm(attention.out_lin(joined(seen)) + x);
  Tensor wide = activate(ffn.lin1(y), activation);
  return output_layer_norm(dropped(dropout, ffn.lin2(wide)) + y);
}

DistilBert::DistilBert(const DistilBertConfig &given, DType dtype,
                       Where where) try
    : config(given) {
  detail::Arguments("distilbert", where)
      .positive("n_heads", given.n_heads)
      .divides("dim", given.dim, "n_heads", given.n_heads);
  embeddings = {
      nn::Embedding(given.vocab_size, given.dim, {.dtype = dtype}, where),
      nn::Embedding(given.max_position_embeddings, given.dim, {.dtype = dtype},
                    where),
      normOf(given, dtype), nn::Dropout(given.dropout, where)};
  for (int64_t i = 0; i < given.n_layers; ++i)
    transformer.layer.emplace_back(given, dtype);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor DistilBert::forward(const Tensor &ids, const EncoderInputs &inputs) const
    try {
  Arg operand(ids);
  if (ids.rank() != 2)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "forward: ids are [batch, position], not of " +
                                std::to_string(ids.rank()) + " axes"),
                  operand.where);
  Tensor places = inputs.position_ids;
  if (!places.defined())
    places = arange(ids.dim(1), {DType::i64, ids.device()});
  Tensor x =
      embeddings.word_embeddings(ids) + embeddings.position_embeddings(places);
  x = dropped(embeddings.dropout, embeddings.LayerNorm(x));
  std::optional<Tensor> mask = seenWords(inputs.attention_mask);
  for (const DistilBertLayer &layer : transformer.layer)
    x = layer(x, mask);
  return x;
} catch (...) {
  detail::raiseExhausted({});
}

DistilBertClassifier::DistilBertClassifier(const DistilBertConfig &config,
                                           DType dtype, Where where) try
    : distilbert(config, dtype, where),
      pre_classifier(config.dim, config.dim, {.dtype = dtype}, where),
      classifier(config.dim, config.num_labels, {.dtype = dtype}, where),
      dropout(config.seq_classif_dropout, where) {
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor DistilBertClassifier::forward(const Tensor &ids,
                                     const EncoderInputs &inputs) const try {
  Tensor first = select(distilbert(ids, inputs), 1, 0);
  return classifier(dropped(dropout, relu(pre_classifier(first))));
} catch (...) {
  detail::raiseExhausted({});
}

//===- Folders ------------------------------------------------------------===//

/// Six Linears and two norms.
static constexpr int64_t tensorsOfLayer = 16;

DistilBertConfig readDistilBertConfig(Folder &folder) {
  folder.requireType({"distilbert"});
  ConfigReader &config = folder.config();
  DistilBertConfig c;
  c.vocab_size = config.size("vocab_size", 30522, mostRows);
  c.dim = config.size("dim", 768, mostElements);
  c.n_layers = config.size("n_layers", 6, mostLayers);
  c.n_heads = config.size("n_heads", 12, mostHeads);
  if (c.dim % c.n_heads != 0)
    config.refuse("n_heads",
                  fmt::format("is {}, which does not divide the dim {}",
                              c.n_heads, c.dim));
  c.hidden_dim = config.size("hidden_dim", 3072, mostElements);
  c.max_position_embeddings =
      config.size("max_position_embeddings", 512, mostRows);
  c.activation = config.activation("activation", Activation::gelu);
  c.dropout = config.probability("dropout", 0.1);
  c.seq_classif_dropout = config.probability("seq_classif_dropout", 0.2);
  std::optional<int64_t> number = config.size("num_labels", mostElements);
  c.num_labels = config.members("id2label").value_or(number.value_or(2));
  // Positions stand among the weights, whatever they are made of.
  config.ignore({"attention_dropout", "qa_dropout", "sinusoidal_pos_embds",
                 "tie_word_embeddings", "tie_weights_"});
  folder.finishConfig();
  folder.checkLayers("n_layers", c.n_layers, tensorsOfLayer);
  return c;
}

DistilBert makeDistilBert(Folder &folder) {
  return fromFolder<DistilBert>(folder, readDistilBertConfig(folder),
                                "distilbert.",
                                [](const DistilBertConfig &c, DType dtype) {
                                  return DistilBert(c, dtype);
                                });
}

DistilBertClassifier makeDistilBertClassifier(Folder &folder) {
  return fromFolder<DistilBertClassifier>(
      folder, readDistilBertConfig(folder), "distilbert.",
      [](const DistilBertConfig &c, DType dtype) {
        return DistilBertClassifier(c, dtype);
      });
}

DistilBert DistilBert::from_folder(const std::string &path,
                                   const LoadOptions &options,
                                   FolderReport *report, Where where) try {
  Folder folder(path, options, report, where);
  return makeDistilBert(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

DistilBertClassifier
DistilBertClassifier::from_folder(const std::string &path,
                                  const LoadOptions &options,
                                  FolderReport *report, Where where) try {
  Folder folder(path, options, report, where);
  return makeDistilBertClassifier(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
