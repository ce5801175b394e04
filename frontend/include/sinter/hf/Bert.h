/// BERT, and RoBERTa's layers: encoders of text. Names of parameters
/// are those of transformers.
#pragma once

#include <sinter/hf/Activation.h>
#include <sinter/hf/Folder.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/Embedding.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>

#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::hf {

struct BertConfig {
  int64_t vocab_size = 30522;
  int64_t hidden_size = 768;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t intermediate_size = 3072;
  int64_t max_position_embeddings = 512;
  int64_t type_vocab_size = 2;
  Activation hidden_act = Activation::gelu;
  double layer_norm_eps = 1e-12;
  double hidden_dropout_prob = 0.1;
  double classifier_dropout = 0.1;
  int64_t num_labels = 2;
  bool tie_word_embeddings = true;
  /// RoBERTa's: words are counted from this id + 1 on, and the id itself, which
  /// fills up, is not counted.
  std::optional<int64_t> padding_position = {};
};

/// What an encoder may be given beside ids [batch, position].
struct EncoderInputs {
  /// [batch, position], any dtype: 0 where an id only fills up.
  Tensor attention_mask = {};
  Tensor token_type_ids = {}; ///< [batch, position]; default: 0
  Tensor position_ids = {};   ///< [batch or 1, position]; default: 0, 1, ...
};

class BertEmbeddings {
public:
  BertEmbeddings() = default;
  BertEmbeddings(const BertConfig &config, DType dtype);
  Tensor forward(const Tensor &ids, const EncoderInputs &inputs) const;

  nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
  nn::LayerNorm LayerNorm;
  nn::Dropout dropout;
  std::optional<int64_t> padding_position;

  SINTER_MODULE(BertEmbeddings, word_embeddings, position_embeddings,
                token_type_embeddings, LayerNorm, dropout)
};

class BertSelfAttention {
public:
  BertSelfAttention() = default;
  BertSelfAttention(const BertConfig &config, DType dtype);
  Tensor forward(const Tensor &x, const std::optional<Tensor> &mask) const;

  nn::Linear query, key, value;
  int64_t heads = 1;

  SINTER_MODULE(BertSelfAttention, query, key, value, heads)
};

/// A projection, added to what it was made of and normalized.
class BertResidual {
public:
  BertResidual() = default;
  BertResidual(int64_t in, const BertConfig &config, DType dtype);
  Tensor forward(const Tensor &x, const Tensor &before) const;

  nn::Linear dense;
  nn::LayerNorm LayerNorm;
  nn::Dropout dropout;

  SINTER_MODULE(BertResidual, dense, LayerNorm, dropout)
};

struct BertAttention {
  BertSelfAttention self;
  BertResidual output;

  SINTER_MODULE(BertAttention, self, output)
};

/// A Linear that is called `dense`.
struct BertDense {
  nn::Linear dense;

  SINTER_MODULE(BertDense, dense)
};

class BertLayer {
public:
  BertLayer() = default;
  BertLayer(const BertConfig &config, DType dtype);
  Tensor forward(const Tensor &x, const std::optional<Tensor> &mask) const;

  BertAttention attention;
  BertDense intermediate;
  BertResidual output;
  Activation activation = Activation::gelu;

  SINTER_MODULE(BertLayer, attention, intermediate, output, activation)
};

struct BertEncoder {
  std::vector<BertLayer> layer;

  SINTER_MODULE(BertEncoder, layer)
};

struct BertOutput {
  Tensor last_hidden_state; ///< [batch, position, size]
  Tensor pooler_output;     ///< [batch, size]; empty without a pooler
};

/// `BertModel`, `RobertaModel`. Attention's own dropout is not applied in
/// training.
class Bert {
public:
  using Where = std::source_location;

  Bert() = default;
  explicit Bert(const BertConfig &config, DType dtype = DType::f32,
                bool pooler = true, Where where = Where::current());
  /// A pooler is there where the folder has one.
  static Bert from_folder(const std::string &path,
                          const LoadOptions &options = {},
                          FolderReport *report = nullptr,
                          Where where = Where::current());

  BertOutput forward(const Tensor &ids, const EncoderInputs &inputs = {}) const;

  BertConfig config;
  BertEmbeddings embeddings;
  BertEncoder encoder;
  std::optional<BertDense> pooler;

  SINTER_MODULE(Bert, embeddings, encoder, pooler)
};

/// `BertForSequenceClassification`: scores [batch, label].
class BertClassifier {
public:
  using Where = std::source_location;

  BertClassifier() = default;
  explicit BertClassifier(const BertConfig &config, DType dtype = DType::f32,
                          Where where = Where::current());
  static BertClassifier from_folder(const std::string &path,
                                    const LoadOptions &options = {},
                                    FolderReport *report = nullptr,
                                    Where where = Where::current());

  Tensor forward(const Tensor &ids, const EncoderInputs &inputs = {}) const;

  Bert bert;
  nn::Dropout dropout;
  nn::Linear classifier;

  SINTER_MODULE(BertClassifier, bert, dropout, classifier)
};

struct BertTransform {
  nn::Linear dense;
  nn::LayerNorm LayerNorm;

  SINTER_MODULE(BertTransform, dense, LayerNorm)
};

struct BertPredictions {
  BertTransform transform;
  Param bias;                        ///< where the table of words decodes
  std::optional<nn::Linear> decoder; ///< where it does not

  SINTER_MODULE(BertPredictions, transform, bias, decoder)
};

struct BertHead {
  BertPredictions predictions;

  SINTER_MODULE(BertHead, predictions)
};

/// `BertForMaskedLM`: scores [batch, position, word].
class BertMaskedLM {
public:
  using Where = std::source_location;

  BertMaskedLM() = default;
  explicit BertMaskedLM(const BertConfig &config, DType dtype = DType::f32,
                        Where where = Where::current());
  static BertMaskedLM from_folder(const std::string &path,
                                  const LoadOptions &options = {},
                                  FolderReport *report = nullptr,
                                  Where where = Where::current());

  Tensor forward(const Tensor &ids, const EncoderInputs &inputs = {}) const;

  Bert bert;
  BertHead cls;

  SINTER_MODULE(BertMaskedLM, bert, cls)
};

} // namespace sinter::hf
