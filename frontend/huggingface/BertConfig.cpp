/// BertConfig of config.json, and BERT of a folder.
#include "frontend/huggingface/Configs.h"

#include <fmt/format.h>

namespace sinter::hf {

/// How many labels a classifier has: named ones, or a number.
static int64_t labelsOf(ConfigReader &config) {
  std::optional<int64_t> number = config.size("num_labels", mostElements);
  std::optional<int64_t> named = config.members("id2label");
  return named.value_or(number.value_or(2));
}

/// RoBERTa's kin: the same layers, other positions.
static bool isRoberta(const Folder &folder) {
  return folder.modelType() != "bert";
}

/// Six Linears and two norms.
static constexpr int64_t tensorsOfLayer = 16;

BertConfig readBertConfig(Folder &folder) {
  folder.requireType({"bert", "roberta", "xlm-roberta", "camembert"});
  ConfigReader &config = folder.config();
  BertConfig c;
  bool roberta = isRoberta(folder);
  c.vocab_size = config.size("vocab_size", roberta ? 50265 : 30522, mostRows);
  c.hidden_size = config.size("hidden_size", 768, mostElements);
  c.num_hidden_layers = config.size("num_hidden_layers", 12, mostLayers);
  c.num_attention_heads = config.size("num_attention_heads", 12, mostHeads);
  if (c.hidden_size % c.num_attention_heads != 0)
    config.refuse("num_attention_heads",
                  fmt::format("is {}, which does not divide the hidden_size {}",
                              c.num_attention_heads, c.hidden_size));
  c.intermediate_size = config.size("intermediate_size", 3072, mostElements);
  c.max_position_embeddings =
      config.size("max_position_embeddings", 512, mostRows);
  c.type_vocab_size = config.size("type_vocab_size", 2, mostRows);
  c.hidden_act = config.activation("hidden_act", Activation::gelu);
  c.layer_norm_eps = config.number("layer_norm_eps", 1e-12, 0, 1);
  c.hidden_dropout_prob = config.probability("hidden_dropout_prob", 0.1);
  c.classifier_dropout =
      config.probability("classifier_dropout", c.hidden_dropout_prob);
  c.num_labels = labelsOf(config);
  c.tie_word_embeddings = config.flag("tie_word_embeddings", true);
  if (roberta)
    c.padding_position = config.count("pad_token_id", mostRows).value_or(1);
  config.expectText("position_embedding_type", "absolute");
  config.expectFlag("is_decoder", false);
  config.expectFlag("add_cross_attention", false);
  // The last ones are of a pooler that was never published.
  config.ignore({"attention_probs_dropout_prob", "directionality",
                 "pooler_fc_size", "pooler_num_attention_heads",
                 "pooler_num_fc_layers", "pooler_size_per_head",
                 "pooler_type"});
  folder.finishConfig();
  folder.checkLayers("num_hidden_layers", c.num_hidden_layers, tensorsOfLayer);
  return c;
}

/// Heads are BERT's.
static void refuseRoberta(const Folder &folder) {
  if (isRoberta(folder))
    folder.requireType({"bert"});
}

Bert makeBert(Folder &folder) {
  std::string prefix = folder.modelType() == "bert" ? "bert." : "roberta.";
  BertConfig config = readBertConfig(folder);
  bool pooler = folder.has("pooler.dense.weight", prefix);
  return fromFolder<Bert>(
      folder, config, prefix,
      [&](const BertConfig &c, DType dtype) { return Bert(c, dtype, pooler); });
}

BertClassifier makeBertClassifier(Folder &folder) {
  refuseRoberta(folder);
  return fromFolder<BertClassifier>(folder, readBertConfig(folder), "bert.",
                                    [](const BertConfig &c, DType dtype) {
                                      return BertClassifier(c, dtype);
                                    });
}

BertMaskedLM makeBertMaskedLM(Folder &folder) {
  refuseRoberta(folder);
  BertConfig config = readBertConfig(folder);
  if (config.tie_word_embeddings)
    config.tie_word_embeddings =
        folder.areTied("bert.embeddings.word_embeddings.weight",
                       "cls.predictions.decoder.weight", "bert.");
  return fromFolder<BertMaskedLM>(
      folder, config, "bert.",
      [](const BertConfig &c, DType dtype) { return BertMaskedLM(c, dtype); });
}

using Where = std::source_location;

Bert Bert::from_folder(const std::string &path, const LoadOptions &options,
                       FolderReport *report, Where where) try {
  Folder folder(path, options, report, where);
  return makeBert(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

BertClassifier BertClassifier::from_folder(const std::string &path,
                                           const LoadOptions &options,
                                           FolderReport *report,
                                           Where where) try {
  Folder folder(path, options, report, where);
  return makeBertClassifier(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

BertMaskedLM BertMaskedLM::from_folder(const std::string &path,
                                       const LoadOptions &options,
                                       FolderReport *report, Where where) try {
  Folder folder(path, options, report, where);
  return makeBertMaskedLM(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
