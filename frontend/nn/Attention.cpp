/// MultiHeadAttention.
#include <sinter/nn/Attention.h>

#include "frontend/Raise.h"
#include "frontend/nn/LocalOps.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>

#include <cmath>
#include <limits>

namespace sinter::nn {

using detail::part;

/// The size, of a module whose first member it makes.
static int64_t checkedSize(int64_t size, int64_t heads,
                           const MultiHeadAttentionOptions &options,
                           const SourceLine &where) {
  detail::Arguments("multi_head_attention", where)
      .positive("size", size)
      .positive("heads", heads)
      .divides("size", size, "heads", heads)
      .atLeast(0, "kdim", options.kdim)
      .atLeast(0, "vdim", options.vdim);
  return size;
}

MultiHeadAttention::MultiHeadAttention(int64_t size, int64_t count,
                                       const MultiHeadAttentionOptions &options,
                                       Where where) try
    : out_proj(checkedSize(size, count, options, where), size,
               {.bias = options.bias, .dtype = options.dtype}, where),
      heads(count), batch_first(options.batch_first) {
  ParamOptions param{.dtype = options.dtype};
  // Xavier's bound.
  auto weight = [&](const char *name, int64_t rows, int64_t columns) {
    double bound = std::sqrt(6.0 / double(rows + columns));
    return Param(name, {rows, columns}, init::uniform(-bound, bound), param,
                 where);
  };
  int64_t keys = options.kdim ? options.kdim : size;
  int64_t values = options.vdim ? options.vdim : size;
  if (keys == size && values == size) {
    in_proj_weight = weight("in_proj_weight", 3 * size, size);
  } else {
    q_proj_weight = weight("q_proj_weight", size, size);
    k_proj_weight = weight("k_proj_weight", size, keys);
    v_proj_weight = weight("v_proj_weight", size, values);
  }
  if (!options.bias)
    return;
  in_proj_bias = Param("in_proj_bias", {3 * size}, init::zeros(), param, where);
  out_proj.bias = Param("bias", {size}, init::zeros(), param, where);
} catch (...) {
  detail::raiseExhausted(where);
}

int64_t MultiHeadAttention::size() const try {
  return out_proj.weight.shape()[0].value;
} catch (...) {
  detail::raiseExhausted({});
}

Tensor MultiHeadAttention::batched(const Tensor &x) const try {
  if (x.rank() != 3)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "multi_head_attention: expects [batch, position, "
                            "size]: " +
                                graph::typeString(*x.node()),
                            "multi_head_attention"),
                  Where::current());
  return batch_first ? x : transpose(x, {1, 0, 2});
} catch (...) {
  detail::raiseExhausted({});
}

/// x by the weight of the query (0), the key (1) or the value (2).
Tensor MultiHeadAttention::project(const Tensor &x, int64_t number) const try {
  const Param *own[] = {&q_proj_weight, &k_proj_weight, &v_proj_weight};
  int64_t from = number * size(), to = from + size();
  Tensor weight = in_proj_weight.defined()
                      ? part(in_proj_weight.tensor(), 0, from, to)
                      : own[number]->tensor();
  Tensor y = matmul(x, transpose(weight, {1, 0}));
  return in_proj_bias.defined() ? y + part(in_proj_bias.tensor(), 0, from, to)
                                : y;
} catch (...) {
  detail::raiseExhausted({});
}

/// All three side by side.
Tensor MultiHeadAttention::projectAll(const Tensor &x) const try {
  Tensor y = matmul(x, transpose(in_proj_weight, {1, 0}));
  return in_proj_bias.defined() ? y + in_proj_bias : y;
} catch (...) {
  detail::raiseExhausted({});
}

/// Part `number` of a projection as [batch, head, position, length].
Tensor MultiHeadAttention::inHeads(const Tensor &projected,
                                   int64_t number) const try {
  Tensor own = projected;
  if (projected.dim(-1).value != size())
    own = part(projected, 2, number * size(), (number + 1) * size());
  own = reshape(own, {own.dim(0), own.dim(1), heads, size() / heads});
  return transpose(own, {0, 2, 1, 3});
} catch (...) {
  detail::raiseExhausted({});
}

Tensor MultiHeadAttention::together(const Tensor &query, const Tensor &key,
                                    const Tensor &value,
                                    const AttentionOptions &options) const try {
  Tensor y = scaled_dot_product_attention(query, key, value, options);
  y = transpose(y, {0, 2, 1, 3});
  return batched(out_proj(reshape(y, {y.dim(0), y.dim(1), size()})));
} catch (...) {
  detail::raiseExhausted({});
}

//===- Masks --------------------------------------------------------------===//

/// What a mask of what is seen adds to scores.
static Tensor addedBy(const Tensor &mask, DType dtype) {
  if (mask.dtype() != DType::boolean)
    return mask;
  double hidden = -std::numeric_limits<double>::infinity();
  return where(mask, zeros(mask.shape(), {dtype, mask.device()}), hidden);
}

/// The options with a padding mask [batch, keys] among them.
static AttentionOptions withPadding(AttentionOptions options,
                                    const Tensor &padding, DType dtype) {
  if (!padding.defined())
    return options;
  bool isBool = padding.dtype() == DType::boolean;
  Tensor added = isBool ? padding == false : padding;
  added = reshape(added, {padding.dim(0), 1, 1, padding.dim(-1)});
  if (!options.mask)
    options.mask = added;
  else if (isBool && options.mask->dtype() == DType::boolean)
    options.mask = where(*options.mask, added, false);
  else
    options.mask = addedBy(*options.mask, dtype) + addedBy(added, dtype);
  return options;
}

Tensor MultiHeadAttention::forward(const Tensor &x,
                                   const AttentionOptions &options,
                                   const Tensor &key_padding_mask) const try {
  if (!in_proj_weight.defined())
    return attend(x, x, x, options, key_padding_mask);
  Tensor all = projectAll(batched(x));
  return together(inHeads(all, 0), inHeads(all, 1), inHeads(all, 2),
                  withPadding(options, key_padding_mask, x.dtype()));
} catch (...) {
  detail::raiseExhausted({});
}

Tensor MultiHeadAttention::attend(const Arg &query, const Arg &key,
                                  const Arg &value,
                                  const AttentionOptions &options,
                                  const Tensor &key_padding_mask) const try {
  detail::SourceScope scope(query.where);
  Tensor q = project(batched(detail::tensorOf(query)), 0);
  Tensor k = project(batched(detail::tensorOf(key)), 1);
  Tensor v = project(batched(detail::tensorOf(value)), 2);
  return together(inHeads(q, 0), inHeads(k, 0), inHeads(v, 0),
                  withPadding(options, key_padding_mask, q.dtype()));
} catch (...) {
  detail::raiseExhausted(query.where);
}

Tensor MultiHeadAttention::weights(const Arg &query, const Arg &key,
                                   const AttentionOptions &options,
                                   const Tensor &key_padding_mask,
                                   bool average) const try {
  detail::SourceScope scope(query.where);
  Tensor q = inHeads(project(batched(detail::tensorOf(query)), 0), 0);
  Tensor k = inHeads(project(batched(detail::tensorOf(key)), 1), 0);
  auto length = static_cast<double>(q.dim(3).value);
  double scale = options.scale.value_or(1 / std::sqrt(length));
  Tensor scores = matmul(q, transpose(k, {0, 1, 3, 2})) * scale;
  AttentionOptions masks = withPadding(options, key_padding_mask, q.dtype());
  if (masks.mask)
    scores = scores + addedBy(*masks.mask, q.dtype());
  if (options.causal) {
    Dims shape{q.dim(2), k.dim(2)};
    Options whole{DType::i64, q.device()};
    scores = scores +
             addedBy(iota(shape, 0, whole) >= iota(shape, 1, whole), q.dtype());
  }
  // As in attention: a query that sees no key weighs none.
  Tensor isHidden =
      amax(scores, -1, true) == -std::numeric_limits<double>::infinity();
  Tensor all = where(isHidden, 0, softmax(where(isHidden, 0, scores)));
  return average ? mean(all, 1) : all;
} catch (...) {
  detail::raiseExhausted(query.where);
}

} // namespace sinter::nn
