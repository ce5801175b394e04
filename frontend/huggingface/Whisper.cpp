/// Whisper: an encoder of sound and a decoder of what was said.
#include "frontend/ElementwiseFunctions.h"
#include "frontend/huggingface/Generate.h"
#include "frontend/huggingface/Heads.h"

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Transforms.h>
#include <sinter/hf/Whisper.h>

#include <fmt/format.h>

namespace sinter::hf {

using Where = std::source_location;

WhisperAttention::WhisperAttention(int64_t size, int64_t heads, DType dtype)
    : k_proj(size, size, {.bias = false, .dtype = dtype}),
      v_proj(size, size, {.dtype = dtype}),
      q_proj(size, size, {.dtype = dtype}),
      out_proj(size, size, {.dtype = dtype}), heads(heads) {}

Tensor WhisperAttention::forward(const Tensor &x) const {
  return out_proj(joined(scaled_dot_product_attention(
      inHeads(q_proj(x), heads), inHeads(k_proj(x), heads),
      inHeads(v_proj(x), heads))));
}

Tensor WhisperAttention::back(const Tensor &x, int64_t layer,
                              const DecoderInputs &inputs) const {
  return out_proj(
      joined(attendBack(inHeads(q_proj(x), heads), inHeads(k_proj(x), heads),
                        inHeads(v_proj(x), heads), inputs,
                        {.layer = static_cast<size_t>(layer)})));
}

Tensor WhisperAttention::across(const Tensor &x, const Tensor &memory,
                                int64_t layer,
                                const DecoderInputs &inputs) const {
  KeyValueCache::Layer own;
  KeyValueCache::Layer &kept =
      inputs.cache ? inputs.cache->memory(static_cast<size_t>(layer)) : own;
  if (!kept.keys.defined())
    kept = {inHeads(k_proj(memory), heads), inHeads(v_proj(memory), heads)};
  return out_proj(joined(scaled_dot_product_attention(inHeads(q_proj(x), heads),
                                                      kept.keys, kept.values)));
}

WhisperLayer::WhisperLayer(const WhisperConfig &config, bool decoder,
                           int64_t layer, DType dtype)
    : dropout(config.dropout), activation_dropout(config.activation_dropout),
      activation(config.activation_function), layer(layer) {
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

Tensor WhisperLayer::forward(const Tensor &x, const Tensor &memory,
                             const DecoderInputs &inputs) const {
  Tensor normal = self_attn_layer_norm(x);
  Tensor y =
      x + dropped(dropout, encoder_attn ? self_attn.back(normal, layer, inputs)
                                        : self_attn(normal));
  if (encoder_attn) {
    Tensor asked = (*encoder_attn_layer_norm)(y);
    y = y +
        dropped(dropout, encoder_attn->across(asked, memory, layer, inputs));
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
    layers.emplace_back(config, /*decoder=*/false, i, dtype);
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
    layers.emplace_back(config, /*decoder=*/true, i, dtype);
}

Tensor WhisperDecoder::forward(const Tensor &ids, const Tensor &memory,
                               const DecoderInputs &inputs) const {
  Tensor x = embed_tokens(ids) + embed_positions(placesOf(ids, inputs));
  x = dropped(dropout, x);
  for (const WhisperLayer &layer : layers)
    x = layer(x, memory, inputs);
  if (inputs.cache)
    inputs.cache->advance(ids.dim(1).value);
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

Tensor Whisper::scores(const Tensor &hidden) const {
  return wordScores(hidden, model.decoder.embed_tokens.weight, proj_out);
}

Tensor Whisper::decode(const Tensor &ids, const Tensor &encoded,
                       const DecoderInputs &inputs) const try {
  Arg operand(ids);
  beginDecoding(ids, inputs, operand.where);
  return scores(model.decoder(ids, encoded, inputs));
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Whisper::generate(const Tensor &features, const Tensor &ids,
                         const GenerateOptions &options, Where where) const
    try {
  no_grad guard;
  Tensor encoded = encode(features);
  auto next = [&](const Tensor &read, const DecoderInputs &inputs) {
    beginDecoding(read, inputs, where);
    Tensor x = model.decoder(read, encoded, inputs);
    return scores(narrow(x, 1, -1, Dim(1)));
  };
  return generateWords(ids, options, next, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Whisper::forward(const Tensor &features, const Tensor &ids) const {
  return decode(ids, encode(features));
}

} // namespace sinter::hf
