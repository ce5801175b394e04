/// Whisper: an encoder of sound and a decoder of what was said. Names of
/// parameters are those of transformers.
#pragma once

#include <sinter/hf/Activation.h>
#include <sinter/hf/Folder.h>
#include <sinter/hf/KeyValueCache.h>
#include <sinter/nn/Conv.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/Embedding.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>

#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::hf {

struct WhisperConfig {
  int64_t vocab_size = 51865;
  int64_t num_mel_bins = 80;
  int64_t d_model = 384;
  int64_t encoder_layers = 4, decoder_layers = 4;
  int64_t encoder_attention_heads = 6, decoder_attention_heads = 6;
  int64_t encoder_ffn_dim = 1536, decoder_ffn_dim = 1536;
  int64_t max_source_positions = 1500, max_target_positions = 448;
  Activation activation_function = Activation::gelu;
  double dropout = 0, activation_dropout = 0;
  bool tie_word_embeddings = true;
};

class WhisperAttention {
public:
  WhisperAttention() = default;
  WhisperAttention(int64_t size, int64_t heads, DType dtype);
  /// Of x to itself; in a decoder each word sees those before it.
  Tensor forward(const Tensor &x) const;
  Tensor back(const Tensor &x, int64_t layer,
              const DecoderInputs &inputs) const;
  /// Of x to what the encoder gave.
  Tensor across(const Tensor &x, const Tensor &memory, int64_t layer,
                const DecoderInputs &inputs) const;

  nn::Linear k_proj, v_proj, q_proj, out_proj;
  int64_t heads = 1;

  SINTER_MODULE(WhisperAttention, k_proj, v_proj, q_proj, out_proj, heads)
};

/// Of the encoder or, with attention to the encoder's result, of the decoder.
class WhisperLayer {
public:
  WhisperLayer() = default;
  WhisperLayer(const WhisperConfig &config, bool decoder, int64_t layer,
               DType dtype);
  /// `memory` is the encoder's result, for a layer of the decoder.
  Tensor forward(const Tensor &x, const Tensor &memory = {},
                 const DecoderInputs &inputs = {}) const;

  WhisperAttention self_attn;
  nn::LayerNorm self_attn_layer_norm;
  std::optional<WhisperAttention> encoder_attn;
  std::optional<nn::LayerNorm> encoder_attn_layer_norm;
  nn::Linear fc1, fc2;
  nn::LayerNorm final_layer_norm;
  nn::Dropout dropout, activation_dropout;
  Activation activation = Activation::gelu;
  int64_t layer = 0;

  SINTER_MODULE(WhisperLayer, self_attn, self_attn_layer_norm, encoder_attn,
                encoder_attn_layer_norm, fc1, fc2, final_layer_norm, dropout,
                activation_dropout, activation, layer)
};

class WhisperEncoder {
public:
  WhisperEncoder() = default;
  WhisperEncoder(const WhisperConfig &config, DType dtype);
  Tensor forward(const Tensor &features) const;

  nn::Conv1d conv1, conv2;
  nn::Embedding embed_positions;
  std::vector<WhisperLayer> layers;
  nn::LayerNorm layer_norm;
  nn::Dropout dropout;

  SINTER_MODULE(WhisperEncoder, conv1, conv2, embed_positions, layers,
                layer_norm, dropout)
};

class WhisperDecoder {
public:
  WhisperDecoder() = default;
  WhisperDecoder(const WhisperConfig &config, DType dtype);
  Tensor forward(const Tensor &ids, const Tensor &memory,
                 const DecoderInputs &inputs) const;

  nn::Embedding embed_tokens, embed_positions;
  std::vector<WhisperLayer> layers;
  nn::LayerNorm layer_norm;
  nn::Dropout dropout;

  SINTER_MODULE(WhisperDecoder, embed_tokens, embed_positions, layers,
                layer_norm, dropout)
};

struct WhisperStack {
  WhisperEncoder encoder;
  WhisperDecoder decoder;

  SINTER_MODULE(WhisperStack, encoder, decoder)
};

/// `WhisperForConditionalGeneration`. Dropout of attention and of whole layers
/// is not applied in training.
class Whisper {
public:
  using Where = std::source_location;

  Whisper() = default;
  explicit Whisper(const WhisperConfig &config, DType dtype = DType::f32,
                   Where where = Where::current());
  static Whisper from_folder(const std::string &path,
                             const LoadOptions &options = {},
                             FolderReport *report = nullptr,
                             Where where = Where::current());

  /// Scores [batch, position, word] of the word that follows each of ids
  /// [batch, position], of log-mel features [batch, mel, 2 *
  /// max_source_positions].
  Tensor forward(const Tensor &features, const Tensor &ids) const;
  /// What the decoder sees of the features: [batch, source position, size].
  Tensor encode(const Tensor &features) const;
  /// Scores, of what `encode` gave. A cache is for one encoded batch.
  Tensor decode(const Tensor &ids, const Tensor &encoded,
                const DecoderInputs &inputs = {}) const;
  /// ids, which say the language and the task, and behind them the words of the
  /// greatest scores, one after the other.
  Tensor generate(const Tensor &features, const Tensor &ids,
                  const GenerateOptions &options = {},
                  Where where = Where::current()) const;

  WhisperConfig config;
  WhisperStack model;
  std::optional<nn::Linear> proj_out; ///< where it is not the table of words

  SINTER_MODULE(Whisper, model, proj_out)

private:
  Tensor scores(const Tensor &hidden) const;
};

} // namespace sinter::hf
