/// Whisper: an encoder of sound and a decoder of what was said.
#include "frontend/huggingface/Heads.h"

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>
#include <sinter/Ops.h>
#include <sinter/hf/Whisper.h>

#include <fmt/format.h>

namespace sinter::hf {

using Where = std::source_location;

WhisperAttention::WhisperAttention(int64_t size, int64_t heads, DType dtype)
    : k_proj(size, size, {.bias = false, .dtype = dtype}),
      v_proj(size, size, {.dtype = dtype}),
      q_proj(size, size, {.dtype = dtype}),
      out_proj(size, size, {.dtype = dtype}), heads(heads) {}

Tensor WhisperAttention::forward(const Tensor &x, const Tensor &memory,
                                 bool causal) const {
  const Tensor &from = memory.defined() ? memory : x;
  return out_proj(joined(scaled_dot_product_attention(
      inHeads(q_proj(x), heads), inHeads(k_proj(from), heads),
      inHeads(v_proj(from), heads), {.causal = causal})));
}

WhisperLayer::WhisperLayer(const WhisperConfig &config, bool decoder,
                           DType dtype)
    : dropout(config.dropout), activation_dropout(config.activation_dropout),
      activation(config.activation_function) {
  int64_t size = config.d_model;
  int64_t heads =
      decoder ? config.decoder_attention_heads : config.encoder_attention_heads;
  int64_t wide = decoder ? config.decoder_ffn_dim : config.encoder_ffn_dim;
  nn::LayerNormOptions norm{.dtype = dtype};
  self_attn = WhisperAttention(size, heads, dtype);
  self_attn_layer_norm = nn::LayerNorm(size, norm);
  if (decoder) {
    encoder_attn = WhisperAttention(size, heads, dtype);
    encoder_attn_layer_norm = nn::LayerNorm(size, norm);
  }
  fc1 = nn::Linear(size, wide, {.dtype = dtype});
  fc2 = nn::Linear(wide, size, {.dtype = dtype});
  final_layer_norm = nn::LayerNorm(size, norm);
}

Tensor WhisperLayer::forward(const Tensor &x, const Tensor &memory) const {
  bool causal = encoder_attn.has_value();
  Tensor y = x + dropped(dropout, self_attn.forward(self_attn_layer_norm(x),
                                                    Tensor(), causal));
  if (encoder_attn) {
    Tensor asked = (*encoder_attn_layer_norm)(y);
    y = y + dropped(dropout, encoder_attn->forward(asked, memory, false));
  }
  Tensor wide = activate(fc1(final_layer_norm(y)), activation);
  return y + dropped(dropout, fc2(dropped(activation_dropout, wide)));
}

WhisperEncoder::WhisperEncoder(const WhisperConfig &config, DType dtype)
    : conv1(config.num_mel_bins, config.d_model, 3,
            {.padding = 1, .dtype = dtype}),
      conv2(config.d_model, config.d_model, 3,
            {.stride = 2, .padding = 1, .dtype = dtype}),
      embed_positions(config.max_source_positions, config.d_model,
                      {.dtype = dtype}),
      layer_norm(config.d_model, {.dtype = dtype}), dropout(config.dropout) {
  // Sines, which transformers does not train either.
  embed_positions.weight.require_grad(false);
  for (int64_t i = 0; i < config.encoder_layers; ++i)
    layers.emplace_back(config, /*decoder=*/false, dtype);
}

Tensor WhisperEncoder::forward(const Tensor &features) const {
  Tensor x = gelu(conv2(gelu(conv1(features))));
  x = transpose(x, {0, 2, 1}) + embed_positions.weight;
  x = dropped(dropout, x);
  for (const WhisperLayer &layer : layers)
    x = layer(x);
  return layer_norm(x);
}

WhisperDecoder::WhisperDecoder(const WhisperConfig &config, DType dtype)
    : embed_tokens(config.vocab_size, config.d_model, {.dtype = dtype}),
      embed_positions(config.max_target_positions, config.d_model,
                      {.dtype = dtype}),
      layer_norm(config.d_model, {.dtype = dtype}), dropout(config.dropout) {
  for (int64_t i = 0; i < config.decoder_layers; ++i)
    layers.emplace_back(config, /*decoder=*/true, dtype);
}

Tensor WhisperDecoder::forward(const Tensor &ids, const Tensor &memory) const {
  Tensor places = arange(ids.dim(1), {DType::i64, ids.device()});
  Tensor x = dropped(dropout, embed_tokens(ids) + embed_positions(places));
  for (const WhisperLayer &layer : layers)
    x = layer(x, memory);
  return layer_norm(x);
}

Whisper::Whisper(const WhisperConfig &given, DType dtype, Where where) try
    : config(given) {
  detail::Arguments("whisper", where)
      .positive("encoder_attention_heads", given.encoder_attention_heads)
      .positive("decoder_attention_heads", given.decoder_attention_heads)
      .divides("d_model", given.d_model, "encoder_attention_heads",
               given.encoder_attention_heads)
      .divides("d_model", given.d_model, "decoder_attention_heads",
               given.decoder_attention_heads);
  model.encoder = WhisperEncoder(config, dtype);
  model.decoder = WhisperDecoder(config, dtype);
  if (!config.tie_word_embeddings)
    proj_out = nn::Linear(config.d_model, config.vocab_size,
                          {.bias = false, .dtype = dtype}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Whisper::encode(const Tensor &features) const try {
  Arg operand(features);
  int64_t length = 2 * config.max_source_positions;
  if (features.rank() != 3 || features.dim(1).value != config.num_mel_bins ||
      features.dim(2).value != length)
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("forward: features are [batch,{},{}], not {}",
                              config.num_mel_bins, length,
                              graph::typeString(*features.node()))),
        operand.where);
  return model.encoder(features);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Whisper::decode(const Tensor &ids, const Tensor &encoded) const try {
  return wordScores(model.decoder(ids, encoded),
                    model.decoder.embed_tokens.weight, proj_out);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Whisper::forward(const Tensor &features, const Tensor &ids) const {
  return decode(ids, encode(features));
}

} // namespace sinter::hf
