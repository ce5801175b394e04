/// RoBERTa's heads: its layers are BERT's. Names of parameters are those of
/// transformers.
#pragma once

#include <sinter/hf/Bert.h>

namespace sinter::hf {

struct RobertaClassification {
  nn::Linear dense;
  nn::Dropout dropout;
  nn::Linear out_proj;

  SINTER_MODULE(RobertaClassification, dense, dropout, out_proj)
};

/// `RobertaForSequenceClassification` and its like: scores [batch, label].
class RobertaClassifier {
public:
  using Where = std::source_location;

  RobertaClassifier() = default;
  explicit RobertaClassifier(const BertConfig &config, DType dtype = DType::f32,
                             Where where = Where::current());
  static RobertaClassifier from_folder(const std::string &path,
                                       const LoadOptions &options = {},
                                       FolderReport *report = nullptr,
                                       Where where = Where::current());

  Tensor forward(const Tensor &ids, const EncoderInputs &inputs = {}) const;

  Bert roberta;
  RobertaClassification classifier;

  SINTER_MODULE(RobertaClassifier, roberta, classifier)
};

struct RobertaHead {
  nn::Linear dense;
  nn::LayerNorm layer_norm;
  Param bias;                        ///< where the table of words decodes
  std::optional<nn::Linear> decoder; ///< where it does not

  SINTER_MODULE(RobertaHead, dense, layer_norm, bias, decoder)
};

/// `RobertaForMaskedLM` and its like: scores [batch, position, word].
class RobertaMaskedLM {
public:
  using Where = std::source_location;

  RobertaMaskedLM() = default;
  explicit RobertaMaskedLM(const BertConfig &config, DType dtype = DType::f32,
                           Where where = Where::current());
  static RobertaMaskedLM from_folder(const std::string &path,
                                     const LoadOptions &options = {},
                                     FolderReport *report = nullptr,
                                     Where where = Where::current());

  Tensor forward(const Tensor &ids, const EncoderInputs &inputs = {}) const;

  Bert roberta;
  RobertaHead lm_head;

  SINTER_MODULE(RobertaMaskedLM, roberta, lm_head)
};

} // namespace sinter::hf
