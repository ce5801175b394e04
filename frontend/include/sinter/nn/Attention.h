/// MultiHeadAttention, and the encoder layer of a transformer.
#pragma once

#include <sinter/Ops.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>

#include <source_location>

namespace sinter::nn {

struct MultiHeadAttentionOptions {
  bool bias = true;
  DType dtype = DType::f32;
};

/// Attention in `heads` parts of the last axis, between projections. Tensors
/// are [batch, position, size]. Names and first values are PyTorch's:
/// `in_proj_weight` [3 size, size], `in_proj_bias`, `out_proj.weight`,
/// `out_proj.bias`.
class MultiHeadAttention {
public:
  using Where = std::source_location;

  MultiHeadAttention() = default;
  MultiHeadAttention(int64_t size, int64_t heads,
                     const MultiHeadAttentionOptions &options = {},
                     Where where = Where::current());

  /// Of x to itself.
  Tensor forward(const Tensor &x, const AttentionOptions &options = {}) const;
  /// Of a query to keys and their values.
  Tensor attend(const Arg &query, const Arg &key, const Arg &value,
                const AttentionOptions &options = {}) const;

  Param in_proj_weight;
  Param in_proj_bias; ///< empty without one
  Linear out_proj;
  int64_t heads = 1;

  SINTER_MODULE(MultiHeadAttention, in_proj_weight, in_proj_bias, out_proj)

private:
  Tensor project(const Tensor &x, int64_t first, int64_t count) const;
  Tensor inHeads(const Tensor &projected, int64_t part) const;
  Tensor together(const Tensor &query, const Tensor &key, const Tensor &value,
                  const AttentionOptions &options) const;
};

enum class Activation : uint8_t { relu, gelu };

struct TransformerEncoderLayerOptions {
  int64_t dim_feedforward = 2048;
  Activation activation = Activation::relu;
  bool norm_first = false;
  double layer_norm_eps = 1e-5;
  DType dtype = DType::f32;
};

/// Attention of x to itself and a feed-forward network, each with a residual
/// and a norm. Names are PyTorch's; there is no dropout.
class TransformerEncoderLayer {
public:
  using Where = std::source_location;

  TransformerEncoderLayer() = default;
  TransformerEncoderLayer(int64_t d_model, int64_t nhead,
                          const TransformerEncoderLayerOptions &options = {},
                          Where where = Where::current());

  Tensor forward(const Tensor &x, const AttentionOptions &attention = {}) const;

  MultiHeadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  TransformerEncoderLayerOptions options;

  SINTER_MODULE(TransformerEncoderLayer, self_attn, linear1, linear2, norm1,
                norm2)

private:
  Tensor feedForward(const Tensor &x) const;
};

} // namespace sinter::nn
