/// DistilBERT: an encoder of text. Names of parameters are those of
/// transformers.
#pragma once

#include <sinter/hf/Bert.h>

namespace sinter::hf {

struct DistilBertConfig {
  int64_t vocab_size = 30522;
  int64_t dim = 768;
  int64_t n_layers = 6;
  int64_t n_heads = 12;
  int64_t hidden_dim = 3072;
  int64_t max_position_embeddings = 512;
  Activation activation = Activation::gelu;
  double dropout = 0.1;
  double seq_classif_dropout = 0.2;
  int64_t num_labels = 2;
};

struct DistilBertEmbeddings {
  nn::Embedding word_embeddings, position_embeddings;
  nn::LayerNorm LayerNorm;
  nn::Dropout dropout;

  SINTER_MODULE(DistilBertEmbeddings, word_embeddings, position_embeddings,
                LayerNorm, dropout)
};

struct DistilBertAttention {
  nn::Linear q_lin, k_lin, v_lin, out_lin;

  SINTER_MODULE(DistilBertAttention, q_lin, k_lin, v_lin, out_lin)
};

struct DistilBertFfn {
  nn::Linear lin1, lin2;

  SINTER_MODULE(DistilBertFfn, lin1, lin2)
};

class DistilBertLayer {
public:
  DistilBertLayer() = default;
  DistilBertLayer(const DistilBertConfig &config, DType dtype);
  Tensor forward(const Tensor &x, const std::optional<Tensor> &mask) const;

  DistilBertAttention attention;
  nn::LayerNorm sa_layer_norm;
  DistilBertFfn ffn;
  nn::LayerNorm output_layer_norm;
  nn::Dropout dropout;
  int64_t heads = 1;
  Activation activation = Activation::gelu;

  SINTER_MODULE(DistilBertLayer, attention, sa_layer_norm, ffn,
                output_layer_norm, dropout, heads, activation)
};

struct DistilBertTransformer {
  std::vector<DistilBertLayer> layer;

  SINTER_MODULE(DistilBertTransformer, layer)
};

/// `DistilBertModel`: states of words [batch, position, size]. Types of words
/// are none of its inputs. Attention's own dropout is not applied in training.
class DistilBert {
public:
  using Where = std::source_location;

  DistilBert() = default;
  explicit DistilBert(const DistilBertConfig &config, DType dtype = DType::f32,
                      Where where = Where::current());
  static DistilBert from_folder(const std::string &path,
                                const LoadOptions &options = {},
                                FolderReport *report = nullptr,
                                Where where = Where::current());

  Tensor forward(const Tensor &ids, const EncoderInputs &inputs = {}) const;

  DistilBertConfig config;
  DistilBertEmbeddings embeddings;
  DistilBertTransformer transformer;

  SINTER_MODULE(DistilBert, embeddings, transformer)
};

/// `DistilBertForSequenceClassification`: scores [batch, label].
class DistilBertClassifier {
public:
  using Where = std::source_location;

  DistilBertClassifier() = default;
  explicit DistilBertClassifier(const DistilBertConfig &config,
                                DType dtype = DType::f32,
                                Where where = Where::current());
  static DistilBertClassifier from_folder(const std::string &path,
                                          const LoadOptions &options = {},
                                          FolderReport *report = nullptr,
                                          Where where = Where::current());

  Tensor forward(const Tensor &ids, const EncoderInputs &inputs = {}) const;

  DistilBert distilbert;
  nn::Linear pre_classifier, classifier;
  nn::Dropout dropout;

  SINTER_MODULE(DistilBertClassifier, distilbert, pre_classifier, classifier,
                dropout)
};

} // namespace sinter::hf
