/// Layers of transformers: encoder, decoder, stacks of them, and positions.
#pragma once

#include <sinter/Arguments.h>
#include <sinter/Gates.h>
#include <sinter/nn/Attention.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>

#include <optional>
#include <source_location>
#include <vector>

namespace sinter::nn {

enum class Activation : uint8_t { relu, gelu };

/// Of the layers of encoders and of decoders.
struct TransformerLayerOptions {
  int64_t dim_feedforward = 2048;
  Activation activation = Activation::relu;
  bool norm_first = false; ///< each part's norm before it, not after the sum
  double layer_norm_eps = 1e-5;
  DType dtype = DType::f32;
  double dropout = 0; ///< of each part's result, and within the network
};
using TransformerEncoderLayerOptions = TransformerLayerOptions;
using TransformerDecoderLayerOptions = TransformerLayerOptions;

/// Attention of x to itself and a feed-forward network, each with a residual
/// and a norm. Tensors are [batch, position, size]. Names are PyTorch's.
class TransformerEncoderLayer {
public:
  using Where = std::source_location;

  TransformerEncoderLayer() = default;
  TransformerEncoderLayer(int64_t d_model, int64_t nhead,
                          const TransformerEncoderLayerOptions &options = {},
                          Where where = Where::current());

  Tensor forward(const Tensor &x, const AttentionOptions &attention = {},
                 const Tensor &key_padding_mask = {}) const;

  MultiHeadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  Dropout dropout;
  TransformerEncoderLayerOptions options;

  SINTER_MODULE(TransformerEncoderLayer, self_attn, linear1, linear2, norm1,
                norm2, dropout)

private:
  Tensor feedForward(const Tensor &x) const;
};

/// Layers one after another, and a norm if there is one: `layers.0`, ...,
/// `norm`.
class TransformerEncoder {
public:
  using Where = std::source_location;

  TransformerEncoder() = default;
  /// `count` layers, each with first values of its own.
  TransformerEncoder(int64_t d_model, int64_t nhead, int64_t count,
                     const TransformerEncoderLayerOptions &options = {},
                     bool final_norm = false, Where where = Where::current());

  Tensor forward(const Tensor &x, const AttentionOptions &attention = {},
                 const Tensor &key_padding_mask = {}) const;

  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

  SINTER_MODULE(TransformerEncoder, layers, norm)
};

/// Attention of x to itself, to a memory, and a feed-forward network.
class TransformerDecoderLayer {
public:
  using Where = std::source_location;

  TransformerDecoderLayer() = default;
  TransformerDecoderLayer(int64_t d_model, int64_t nhead,
                          const TransformerDecoderLayerOptions &options = {},
                          Where where = Where::current());

  /// `self` is for x, most often causal; `cross` for the memory, of which
  /// `memory_padding` [batch, positions] hides what is true.
  Tensor forward(const Tensor &x, const Tensor &memory,
                 const AttentionOptions &self = {},
                 const AttentionOptions &cross = {},
                 const Tensor &memory_padding = {}) const;

  MultiHeadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout;
  TransformerDecoderLayerOptions options;

  SINTER_MODULE(TransformerDecoderLayer, self_attn, multihead_attn, linear1,
                linear2, norm1, norm2, norm3, dropout)

private:
  Tensor feedForward(const Tensor &x) const;
};

/// Layers one after another, and a norm if there is one: `layers.0`, ...,
/// `norm`.
class TransformerDecoder {
public:
  using Where = std::source_location;

  TransformerDecoder() = default;
  TransformerDecoder(int64_t d_model, int64_t nhead, int64_t count,
                     const TransformerDecoderLayerOptions &options = {},
                     bool final_norm = false, Where where = Where::current());

  Tensor forward(const Tensor &x, const Tensor &memory,
                 const AttentionOptions &self = {},
                 const AttentionOptions &cross = {},
                 const Tensor &memory_padding = {}) const;

  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;

  SINTER_MODULE(TransformerDecoder, layers, norm)
};

/// x [batch, position, size] plus sines and cosines of the position, of
/// wavelengths from 2 pi to `base` times that; sines at even elements.
class PositionalEncoding {
public:
  using Where = std::source_location;

  PositionalEncoding() = default;
  explicit PositionalEncoding(double dropout, double base = 10000,
                              Where where = Where::current())
      : dropout(dropout, where), base(base) {
    detail::Arguments("positional_encoding", where).aboveZero("base", base);
  }

  Tensor forward(const Tensor &x) const;

  Dropout dropout{0.0};
  double base = 10000;

  SINTER_MODULE(PositionalEncoding, dropout)
};

/// `rotary_embedding` of x [..., position, size] by its position from `first`
/// on: pair i turns by position / base^(2 i / size).
class RotaryEmbedding {
public:
  using Where = std::source_location;

  RotaryEmbedding() = default;
  explicit RotaryEmbedding(RotaryPairs pairs, double base = 10000,
                           Where where = Where::current())
      : pairs(pairs), base(base) {
    detail::Arguments("rotary_embedding", where).aboveZero("base", base);
  }

  Tensor forward(const Tensor &x, int64_t first = 0) const;

  RotaryPairs pairs = RotaryPairs::interleaved;
  double base = 10000;

  SINTER_MODULE(RotaryEmbedding, pairs)
};

} // namespace sinter::nn
