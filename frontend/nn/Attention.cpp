/// MultiHeadAttention, and the encoder layer of a transformer.
#include <sinter/nn/Attention.h>

#include "frontend/Raise.h"

#include <cmath>
#include <vector>

namespace sinter::nn {

/// Rows [from, to) of the first axis, or columns of the last one.
static Tensor part(const Tensor &x, int64_t axis, int64_t from, int64_t to) {
  std::vector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  Dims limits = x.shape();
  starts[axis] = from;
  limits[axis] = Dim(to);
  return slice(x, starts, limits, steps);
}

MultiHeadAttention::MultiHeadAttention(int64_t size, int64_t count,
                                       const MultiHeadAttentionOptions &options,
                                       Where where)
    : out_proj(size, size, {.bias = options.bias, .dtype = options.dtype},
               where),
      heads(count) {
  if (count < 1 || size % count != 0)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "multi_head_attention: " + std::to_string(size) +
                                " elements are not " + std::to_string(count) +
                                " equal heads",
                            "multi_head_attention"),
                  where);
  // Xavier's bound for a matrix [3 size, size].
  double bound = std::sqrt(6.0 / double(4 * std::max<int64_t>(size, 1)));
  ParamOptions param{.dtype = options.dtype};
  in_proj_weight = Param("in_proj_weight", {3 * size, size},
                         init::uniform(-bound, bound), param, where);
  if (!options.bias)
    return;
  in_proj_bias = Param("in_proj_bias", {3 * size}, init::zeros(), param, where);
  out_proj.bias = Param("bias", {size}, init::zeros(), param, where);
}

/// x by rows [first, first + count) * size of the weight.
Tensor MultiHeadAttention::project(const Tensor &x, int64_t first,
                                   int64_t count) const {
  int64_t size = in_proj_weight.shape()[1].value;
  bool all = count == 3;
  Tensor weight = in_proj_weight.tensor();
  if (!all)
    weight = part(weight, 0, first * size, (first + count) * size);
  Tensor y = matmul(x, transpose(weight, {1, 0}));
  if (!in_proj_bias)
    return y;
  Tensor bias = in_proj_bias.tensor();
  if (!all)
    bias = part(bias, 0, first * size, (first + count) * size);
  return y + bias;
}

/// Part `number` of a projection as [batch, head, position, length].
Tensor MultiHeadAttention::inHeads(const Tensor &projected,
                                   int64_t number) const {
  int64_t size = in_proj_weight.shape()[1].value;
  Tensor own = projected;
  if (projected.dim(-1).value != size)
    own = part(projected, 2, number * size, (number + 1) * size);
  own = reshape(own, {own.dim(0), own.dim(1), heads, size / heads});
  return transpose(own, {0, 2, 1, 3});
}

Tensor MultiHeadAttention::together(const Tensor &query, const Tensor &key,
                                    const Tensor &value,
                                    const AttentionOptions &options) const {
  Tensor y = scaled_dot_product_attention(query, key, value, options);
  y = transpose(y, {0, 2, 1, 3});
  int64_t size = in_proj_weight.shape()[1].value;
  return out_proj(reshape(y, {y.dim(0), y.dim(1), size}));
}

Tensor MultiHeadAttention::forward(const Tensor &x,
                                   const AttentionOptions &options) const {
  Tensor all = project(x, 0, 3);
  return together(inHeads(all, 0), inHeads(all, 1), inHeads(all, 2), options);
}

Tensor MultiHeadAttention::attend(const Arg &query, const Arg &key,
                                  const Arg &value,
                                  const AttentionOptions &options) const {
  detail::SourceScope scope(query.where);
  Tensor q = project(detail::tensorOf(query), 0, 1);
  Tensor k = project(detail::tensorOf(key), 1, 1);
  Tensor v = project(detail::tensorOf(value), 2, 1);
  return together(inHeads(q, 0), inHeads(k, 0), inHeads(v, 0), options);
}

TransformerEncoderLayer::TransformerEncoderLayer(
    int64_t d_model, int64_t nhead, const TransformerEncoderLayerOptions &given,
    Where where)
    : self_attn(d_model, nhead, {.dtype = given.dtype}, where),
      linear1(d_model, given.dim_feedforward, {.dtype = given.dtype}, where),
      linear2(given.dim_feedforward, d_model, {.dtype = given.dtype}, where),
      norm1(d_model, {given.layer_norm_eps, given.dtype}, where),
      norm2(d_model, {given.layer_norm_eps, given.dtype}, where),
      options(given) {}

Tensor TransformerEncoderLayer::feedForward(const Tensor &x) const {
  Tensor y = linear1(x);
  y = options.activation == Activation::relu ? relu(y) : gelu(y);
  return linear2(y);
}

Tensor
TransformerEncoderLayer::forward(const Tensor &x,
                                 const AttentionOptions &attention) const {
  if (options.norm_first) {
    Tensor y = x + self_attn(norm1(x), attention);
    return y + feedForward(norm2(y));
  }
  Tensor y = norm1(x + self_attn(x, attention));
  return norm2(y + feedForward(y));
}

} // namespace sinter::nn
