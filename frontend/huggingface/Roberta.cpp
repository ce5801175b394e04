/// RoBERTa's heads.
#include <sinter/hf/Roberta.h>

#include "frontend/ElementwiseFunctions.h"
#include "frontend/huggingface/Configs.h"
#include "frontend/huggingface/Heads.h"

#include <sinter/BasicOps.h>

namespace sinter::hf {

using Where = std::source_location;

static nn::Linear squareOf(const BertConfig &config, DType dtype) {
  return nn::Linear(config.hidden_size, config.hidden_size, {.dtype = dtype});
}

RobertaClassifier::RobertaClassifier(const BertConfig &config, DType dtype,
                                     Where where) try
    : roberta(config, dtype, /*pooler=*/false, where),
      classifier{squareOf(config, dtype),
                 nn::Dropout(config.classifier_dropout, where),
                 nn::Linear(config.hidden_size, config.num_labels,
                            {.dtype = dtype}, where)} {
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor RobertaClassifier::forward(const Tensor &ids,
                                  const EncoderInputs &inputs) const try {
  Tensor first = select(roberta(ids, inputs).last_hidden_state, 1, 0);
  const nn::Dropout &dropout = classifier.dropout;
  Tensor x = tanh(classifier.dense(dropped(dropout, first)));
  return classifier.out_proj(dropped(dropout, x));
} catch (...) {
  detail::raiseExhausted({});
}

RobertaMaskedLM::RobertaMaskedLM(const BertConfig &config, DType dtype,
                                 Where where) try
    : roberta(config, dtype, /*pooler=*/false, where) {
  lm_head.dense = squareOf(config, dtype);
  lm_head.layer_norm = nn::LayerNorm(
      config.hidden_size, {.eps = config.layer_norm_eps, .dtype = dtype});
  if (config.tie_word_embeddings)
    lm_head.bias = Param("bias", {config.vocab_size}, init::zeros(),
                         {.dtype = dtype}, where);
  else
    lm_head.decoder = nn::Linear(config.hidden_size, config.vocab_size,
                                 {.dtype = dtype}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor RobertaMaskedLM::forward(const Tensor &ids,
                                const EncoderInputs &inputs) const try {
  Tensor x = roberta(ids, inputs).last_hidden_state;
  x = lm_head.layer_norm(gelu(lm_head.dense(x)));
  Tensor scores =
      wordScores(x, roberta.embeddings.word_embeddings.weight, lm_head.decoder);
  return lm_head.bias.defined() ? scores + lm_head.bias : scores;
} catch (...) {
  detail::raiseExhausted({});
}

//===- Folders ------------------------------------------------------------===//

static BertConfig readRobertaConfig(Folder &folder) {
  folder.requireType({"roberta", "xlm-roberta", "camembert"});
  return readBertConfig(folder);
}

RobertaClassifier makeRobertaClassifier(Folder &folder) {
  return fromFolder<RobertaClassifier>(folder, readRobertaConfig(folder),
                                       "roberta.",
                                       [](const BertConfig &c, DType dtype) {
                                         return RobertaClassifier(c, dtype);
                                       });
}

RobertaMaskedLM makeRobertaMaskedLM(Folder &folder) {
  BertConfig config = readRobertaConfig(folder);
  if (config.tie_word_embeddings)
    config.tie_word_embeddings =
        folder.areTied("roberta.embeddings.word_embeddings.weight",
                       "lm_head.decoder.weight", "roberta.");
  return fromFolder<RobertaMaskedLM>(folder, config, "roberta.",
                                     [](const BertConfig &c, DType dtype) {
                                       return RobertaMaskedLM(c, dtype);
                                     });
}

RobertaClassifier RobertaClassifier::from_folder(const std::string &path,
                                                 const LoadOptions &options,
                                                 FolderReport *report,
                                                 Where where) try {
  Folder folder(path, options, report, where);
  return makeRobertaClassifier(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

RobertaMaskedLM RobertaMaskedLM::from_folder(const std::string &path,
                                             const LoadOptions &options,
                                             FolderReport *report,
                                             Where where) try {
  Folder folder(path, options, report, where);
  return makeRobertaMaskedLM(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
