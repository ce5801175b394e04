/// MultiHeadAttention.
#pragma once

#include <sinter/BasicOps.h>
#include <sinter/nn/Linear.h>

#include <source_location>

namespace sinter::nn {

struct MultiHeadAttentionOptions {
  bool bias = true;
  DType dtype = DType::f32;
  int64_t kdim = 0; ///< size of keys; 0: as that of queries
  int64_t vdim = 0; ///< size of values; 0: as that of queries
  /// Tensors are [batch, position, size], else [position, batch, size].
  bool batch_first = true;
};

/// Attention in `heads` parts of the last axis, between projections. Names and
/// first values are PyTorch's: `in_proj_weight` [3 size, size], or with other
/// sizes of keys or values `q_proj_weight`, `k_proj_weight`, `v_proj_weight`;
/// `in_proj_bias`, `out_proj.weight`, `out_proj.bias`.
///
/// Masks are those of AttentionOptions (true: seen). A key_padding_mask [batch,
/// keys] is PyTorch's: bool, true where a key is hidden, or float, added.
class MultiHeadAttention {
public:
  using Where = std::source_location;

  MultiHeadAttention() = default;
  MultiHeadAttention(int64_t size, int64_t heads,
                     const MultiHeadAttentionOptions &options = {},
                     Where where = Where::current());

  /// Of x to itself.
  Tensor forward(const Tensor &x, const AttentionOptions &options = {},
                 const Tensor &key_padding_mask = {}) const;
  /// Of a query to keys and their values.
  Tensor attend(const Arg &query, const Arg &key, const Arg &value,
                const AttentionOptions &options = {},
                const Tensor &key_padding_mask = {}) const;
  /// How much each query takes of each key: [batch, queries, keys], the mean
  /// over heads, or [batch, heads, queries, keys].
  Tensor weights(const Arg &query, const Arg &key,
                 const AttentionOptions &options = {},
                 const Tensor &key_padding_mask = {},
                 bool average = true) const;

  Param in_proj_weight; ///< or these three
  Param q_proj_weight, k_proj_weight, v_proj_weight;
  Param in_proj_bias; ///< empty without one
  Linear out_proj;
  int64_t heads = 1;
  bool batch_first = true;

  SINTER_MODULE(MultiHeadAttention, in_proj_weight, q_proj_weight,
                k_proj_weight, v_proj_weight, in_proj_bias, out_proj)

private:
  int64_t size() const;
  Tensor batched(const Tensor &x) const;
  Tensor project(const Tensor &x, int64_t number) const;
  Tensor projectAll(const Tensor &x) const;
  Tensor inHeads(const Tensor &projected, int64_t part) const;
  Tensor together(const Tensor &query, const Tensor &key, const Tensor &value,
                  const AttentionOptions &options) const;
};

} // namespace sinter::nn
