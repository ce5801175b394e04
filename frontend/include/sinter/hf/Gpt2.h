/// GPT-2: a decoder of text. Names of parameters are those of transformers.
#pragma once

#include <sinter/hf/Activation.h>
#include <sinter/hf/Folder.h>
#include <sinter/hf/KeyValueCache.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/Embedding.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>

#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::hf {

struct Gpt2Config {
  int64_t vocab_size = 50257;
  int64_t n_positions = 1024;
  int64_t n_embd = 768;
  int64_t n_layer = 12;
  int64_t n_head = 12;
  int64_t n_inner = 0; ///< 0: 4 * n_embd
  Activation activation_function = Activation::gelu_tanh;
  double layer_norm_epsilon = 1e-5;
  double resid_pdrop = 0.1, embd_pdrop = 0.1;
  bool scale_attn_weights = true;
  bool scale_attn_by_inverse_layer_idx = false;
  bool tie_word_embeddings = true;
};

/// A Linear whose `weight` is [in, out], as files of GPT-2 have it.
class Conv1D {
public:
  Conv1D() = default;
  Conv1D(int64_t in, int64_t out, DType dtype);
  Tensor forward(const Tensor &x) const;

  Param weight, bias;

  SINTER_MODULE(Conv1D, weight, bias)
};

class Gpt2Attention {
public:
  Gpt2Attention() = default;
  Gpt2Attention(const Gpt2Config &config, int64_t layer, DType dtype);
  Tensor forward(const Tensor &x, const DecoderInputs &inputs) const;

  Conv1D c_attn, c_proj;
  int64_t heads = 1, layer = 0;
  double scale = 1;

  SINTER_MODULE(Gpt2Attention, c_attn, c_proj, heads, layer, scale)
};

struct Gpt2Mlp {
  Conv1D c_fc, c_proj;

  SINTER_MODULE(Gpt2Mlp, c_fc, c_proj)
};

class Gpt2Block {
public:
  Gpt2Block() = default;
  Gpt2Block(const Gpt2Config &config, int64_t layer, DType dtype);
  Tensor forward(const Tensor &x, const DecoderInputs &inputs) const;

  nn::LayerNorm ln_1;
  Gpt2Attention attn;
  nn::LayerNorm ln_2;
  Gpt2Mlp mlp;
  nn::Dropout dropout;
  Activation activation = Activation::gelu_tanh;

  SINTER_MODULE(Gpt2Block, ln_1, attn, ln_2, mlp, dropout, activation)
};

struct Gpt2Transformer {
  nn::Embedding wte, wpe;
  nn::Dropout drop;
  std::vector<Gpt2Block> h;
  nn::LayerNorm ln_f;

  SINTER_MODULE(Gpt2Transformer, wte, wpe, drop, h, ln_f)
};

/// `GPT2LMHeadModel`, `GPT2Model`. Attention's own dropout is not applied in
/// training.
class Gpt2 {
public:
  using Where = std::source_location;

  Gpt2() = default;
  explicit Gpt2(const Gpt2Config &config, DType dtype = DType::f32,
                Where where = Where::current());
  static Gpt2 from_folder(const std::string &path,
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

  Gpt2Config config;
  Gpt2Transformer transformer;
  std::optional<nn::Linear> lm_head; ///< where it is not the table of words

  SINTER_MODULE(Gpt2, transformer, lm_head)
};

} // namespace sinter::hf
