/// BERT: an encoder of text, and two heads.
#include "frontend/huggingface/Heads.h"

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>
#include <sinter/hf/Bert.h>

#include <cmath>

namespace sinter::hf {

using Where = std::source_location;

static nn::LayerNorm normOf(const BertConfig &config, DType dtype) {
  return nn::LayerNorm(config.hidden_size,
                       {.eps = config.layer_norm_eps, .dtype = dtype});
}

static nn::Linear squareOf(const BertConfig &config, DType dtype) {
  return nn::Linear(config.hidden_size, config.hidden_size, {.dtype = dtype});
}

BertEmbeddings::BertEmbeddings(const BertConfig &config, DType dtype)
    : word_embeddings(config.vocab_size, config.hidden_size, {.dtype = dtype}),
      position_embeddings(config.max_position_embeddings, config.hidden_size,
                          {.dtype = dtype}),
      token_type_embeddings(config.type_vocab_size, config.hidden_size,
                            {.dtype = dtype}),
      LayerNorm(normOf(config, dtype)), dropout(config.hidden_dropout_prob),
      padding_position(config.padding_position) {}

/// The position of each word: counted, where some fill up.
static Tensor countedWords(const Tensor &ids, int64_t padding) {
  Tensor isWord = (ids != padding).to(DType::i64);
  return cumsum(isWord, 1) * isWord + padding;
}

Tensor BertEmbeddings::forward(const Tensor &ids,
                               const EncoderInputs &inputs) const {
  Tensor places = inputs.position_ids;
  if (!places.defined())
    places = padding_position ? countedWords(ids, *padding_position)
                              : arange(ids.dim(1), {DType::i64, ids.device()});
  Tensor types =
      inputs.token_type_ids.defined() ? inputs.token_type_ids : zeros_like(ids);
  Tensor x = word_embeddings(ids) + token_type_embeddings(types) +
             position_embeddings(places);
  return dropped(dropout, LayerNorm(x));
}

BertSelfAttention::BertSelfAttention(const BertConfig &config, DType dtype)
    : query(squareOf(config, dtype)), key(squareOf(config, dtype)),
      value(squareOf(config, dtype)), heads(config.num_attention_heads) {}

Tensor BertSelfAttention::forward(const Tensor &x,
                                  const std::optional<Tensor> &mask) const {
  return joined(scaled_dot_product_attention(
      inHeads(query(x), heads), inHeads(key(x), heads),
      inHeads(value(x), heads), {.mask = mask}));
}

BertResidual::BertResidual(int64_t in, const BertConfig &config, DType dtype)
    : dense(in, config.hidden_size, {.dtype = dtype}),
      LayerNorm(normOf(config, dtype)), dropout(config.hidden_dropout_prob) {}

Tensor BertResidual::forward(const Tensor &x, const Tensor &before) const {
  return LayerNorm(dropped(dropout, dense(x)) + before);
}

BertLayer::BertLayer(const BertConfig &config, DType dtype)
    : attention{BertSelfAttention(config, dtype),
                BertResidual(config.hidden_size, config, dtype)},
      intermediate{nn::Linear(config.hidden_size, config.intermediate_size,
                              {.dtype = dtype})},
      output(config.intermediate_size, config, dtype),
      activation(config.hidden_act) {}

Tensor BertLayer::forward(const Tensor &x,
                          const std::optional<Tensor> &mask) const {
  Tensor attended = attention.output(attention.self(x, mask), x);
  Tensor wide = activate(intermediate.dense(attended), activation);
  return output(wide, attended);
}

Bert::Bert(const BertConfig &given, DType dtype, bool hasPooler,
           Where where) try
    : config(given), embeddings(given, dtype) {
  detail::Arguments("bert", where)
      .positive("num_attention_heads", given.num_attention_heads)
      .divides("hidden_size", given.hidden_size, "num_attention_heads",
               given.num_attention_heads);
  for (int64_t i = 0; i < config.num_hidden_layers; ++i)
    encoder.layer.emplace_back(config, dtype);
  if (hasPooler)
    pooler = BertDense{squareOf(config, dtype)};
} catch (...) {
  detail::raiseExhausted(where);
}

BertOutput Bert::forward(const Tensor &ids, const EncoderInputs &inputs) const
    try {
  Arg operand(ids);
  if (ids.rank() != 2)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "forward: ids are [batch, position], not of " +
                                std::to_string(ids.rank()) + " axes"),
                  operand.where);
  std::optional<Tensor> mask = seenWords(inputs.attention_mask);
  Tensor x = embeddings(ids, inputs);
  for (const BertLayer &layer : encoder.layer)
    x = layer(x, mask);
  BertOutput output{.last_hidden_state = x, .pooler_output = {}};
  if (pooler)
    output.pooler_output = tanh(pooler->dense(select(x, 1, 0)));
  return output;
} catch (...) {
  detail::raiseExhausted({});
}

BertClassifier::BertClassifier(const BertConfig &config, DType dtype,
                               Where where) try
    : bert(config, dtype, /*pooler=*/true, where),
      dropout(config.classifier_dropout),
      classifier(config.hidden_size, config.num_labels, {.dtype = dtype}) {
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor BertClassifier::forward(const Tensor &ids,
                               const EncoderInputs &inputs) const try {
  return classifier(dropped(dropout, bert(ids, inputs).pooler_output));
} catch (...) {
  detail::raiseExhausted({});
}

BertMaskedLM::BertMaskedLM(const BertConfig &config, DType dtype,
                           Where where) try
    : bert(config, dtype, /*pooler=*/false, where) {
  cls.predictions.transform = {squareOf(config, dtype), normOf(config, dtype)};
  if (config.tie_word_embeddings)
    cls.predictions.bias = Param("bias", {config.vocab_size}, init::zeros(),
                                 {.dtype = dtype}, where);
  else
    cls.predictions.decoder = nn::Linear(config.hidden_size, config.vocab_size,
                                         {.dtype = dtype}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor BertMaskedLM::forward(const Tensor &ids,
                             const EncoderInputs &inputs) const try {
  Tensor x = bert(ids, inputs).last_hidden_state;
  const BertTransform &transform = cls.predictions.transform;
  x = transform.LayerNorm(activate(transform.dense(x), bert.config.hidden_act));
  Tensor scores = wordScores(x, bert.embeddings.word_embeddings.weight,
                             cls.predictions.decoder);
  return cls.predictions.bias.defined() ? scores + cls.predictions.bias
                                        : scores;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::hf
