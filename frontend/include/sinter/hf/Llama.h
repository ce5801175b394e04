/// Llama and its kin (Mistral, Qwen2, Qwen3): decoders of text with rotary
/// positions and shared heads. Names of parameters are those of transformers.
#pragma once

#include <sinter/hf/Activation.h>
#include <sinter/hf/Folder.h>
#include <sinter/hf/KeyValueCache.h>
#include <sinter/hf/Rotary.h>
#include <sinter/nn/Embedding.h>
#include <sinter/nn/Linear.h>
#include <sinter/nn/Norms.h>

#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::hf {

struct LlamaConfig {
  int64_t vocab_size = 32000;
  int64_t hidden_size = 4096;
  int64_t intermediate_size = 11008;
  int64_t num_hidden_layers = 32;
  int64_t num_attention_heads = 32;
  int64_t num_key_value_heads = 32;
  int64_t head_dim = 128;
  int64_t max_position_embeddings = 2048;
  Activation hidden_act = Activation::silu;
  double rms_norm_eps = 1e-6;
  RopeParameters rope = {};
  bool tie_word_embeddings = false;
  bool query_bias = false;  ///< of queries, keys and values: Qwen2
  bool output_bias = false; ///< of what attention gives
  bool mlp_bias = false;
  bool head_norms = false; ///< queries and keys are normalized: Qwen3
  /// How many words back each layer sees, itself included; 0: all. Empty: all
  /// layers see all.
  std::vector<int64_t> windows = {};
};

/// What all layers are given.
struct LlamaContext {
  RotaryAngles angles;
  DecoderInputs inputs;
};

class LlamaAttention {
public:
  LlamaAttention() = default;
  LlamaAttention(const LlamaConfig &config, int64_t layer, DType dtype);
  Tensor forward(const Tensor &x, const LlamaContext &context) const;

  nn::Linear q_proj, k_proj, v_proj, o_proj;
  std::optional<nn::RMSNorm> q_norm, k_norm;
  int64_t heads = 1, key_value_heads = 1, layer = 0, window = 0;

  SINTER_MODULE(LlamaAttention, q_proj, k_proj, v_proj, o_proj, q_norm, k_norm,
                heads, key_value_heads, layer, window)
};

class LlamaMlp {
public:
  LlamaMlp() = default;
  LlamaMlp(const LlamaConfig &config, DType dtype);
  Tensor forward(const Tensor &x) const;

  nn::Linear gate_proj, up_proj, down_proj;
  Activation activation = Activation::silu;

  SINTER_MODULE(LlamaMlp, gate_proj, up_proj, down_proj, activation)
};

class LlamaLayer {
public:
  LlamaLayer() = default;
  LlamaLayer(const LlamaConfig &config, int64_t layer, DType dtype);
  Tensor forward(const Tensor &x, const LlamaContext &context) const;

  LlamaAttention self_attn;
  LlamaMlp mlp;
  nn::RMSNorm input_layernorm, post_attention_layernorm;

  SINTER_MODULE(LlamaLayer, self_attn, mlp, input_layernorm,
                post_attention_layernorm)
};

struct LlamaStack {
  nn::Embedding embed_tokens;
  std::vector<LlamaLayer> layers;
  nn::RMSNorm norm;

  SINTER_MODULE(LlamaStack, embed_tokens, layers, norm)
};

/// `LlamaForCausalLM`, `MistralForCausalLM`, `Qwen2ForCausalLM` and
/// `Qwen3ForCausalLM`. Attention's own dropout is not applied in training.
class Llama {
public:
  using Where = std::source_location;

  Llama() = default;
  explicit Llama(const LlamaConfig &config, DType dtype = DType::f32,
                 Where where = Where::current());
  static Llama from_folder(const std::string &path,
                           const LoadOptions &options = {},
                           FolderReport *report = nullptr,
                           Where where = Where::current());
  /// Of a GGUF file whose architecture is llama, qwen2 or qwen3; quantized
  /// blocks become floats, f32 where no dtype is named. `architecture` of the
  /// report is that of the file, `ignored_keys` are of its metadata.
  static Llama from_gguf(const std::string &path,
                         const LoadOptions &options = {},
                         FolderReport *report = nullptr,
                         Where where = Where::current());

  /// Scores [batch, position, word] of the word that follows each of ids
  /// [batch, position].
  Tensor forward(const Tensor &ids, const DecoderInputs &inputs = {}) const;
  /// What the scores are made of: [batch, position, size].
  Tensor hidden(const Tensor &ids, const DecoderInputs &inputs = {}) const;
  Tensor scores(const Tensor &hidden) const;
  /// ids, and behind them the words of the greatest scores, one after the
  /// other.
  Tensor generate(const Tensor &ids, const GenerateOptions &options = {},
                  Where where = Where::current()) const;

  LlamaConfig config;
  LlamaStack model;
  std::optional<nn::Linear> lm_head; ///< where it is not the table of words

  SINTER_MODULE(Llama, model, lm_head)

private:
  Rotary rotary;
};

} // namespace sinter::hf
