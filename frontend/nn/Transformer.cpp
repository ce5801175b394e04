/// Layers of transformers: encoder, decoder, stacks of them, and positions.
#include <sinter/nn/Transformer.h>

#include "frontend/Raise.h"
#include "frontend/nn/ComposedCall.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>

#include <cmath>

namespace sinter::nn {

static Tensor activated(const Tensor &x, Activation activation) {
  return activation == Activation::relu ? relu(x) : gelu(x);
}

/// The size, of a layer whose first member it makes.
static int64_t checkedSize(const char *name, int64_t d_model, int64_t nhead,
                           const TransformerLayerOptions &options,
                           const SourceLine &where) {
  detail::Arguments(name, where)
      .positive("d_model", d_model)
      .positive("nhead", nhead)
      .divides("d_model", d_model, "nhead", nhead)
      .positive("dim_feedforward", options.dim_feedforward)
      .notNegative("layer_norm_eps", options.layer_norm_eps)
      .within("dropout", options.dropout, 0, 1);
  return d_model;
}

//===- Encoder ------------------------------------------------------------===//

TransformerEncoderLayer::TransformerEncoderLayer(
    int64_t d_model, int64_t nhead, const TransformerEncoderLayerOptions &given,
    Where where)
    : self_attn(checkedSize("transformer_encoder_layer", d_model, nhead, given,
                            where),
                nhead, {.dtype = given.dtype}, where),
      linear1(d_model, given.dim_feedforward, {.dtype = given.dtype}, where),
      linear2(given.dim_feedforward, d_model, {.dtype = given.dtype}, where),
      norm1(d_model, {given.layer_norm_eps, given.dtype}, where),
      norm2(d_model, {given.layer_norm_eps, given.dtype}, where),
      dropout(given.dropout), options(given) {}

/// A part's result as it goes into the sum.
static Tensor dropped(const Dropout &dropout, const Tensor &x) {
  return dropout.p > 0 ? dropout(x) : x;
}

Tensor TransformerEncoderLayer::feedForward(const Tensor &x) const try {
  Tensor y = dropped(dropout, activated(linear1(x), options.activation));
  return dropped(dropout, linear2(y));
} catch (...) {
  detail::raiseExhausted({});
}

Tensor TransformerEncoderLayer::forward(const Tensor &x,
                                        const AttentionOptions &attention,
                                        const Tensor &key_padding_mask) const
    try {
  auto attend = [&](const Tensor &from) {
    return dropped(dropout, self_attn(from, attention, key_padding_mask));
  };
  if (options.norm_first) {
    Tensor y = x + attend(norm1(x));
    return y + feedForward(norm2(y));
  }
  Tensor y = norm1(x + attend(x));
  return norm2(y + feedForward(y));
} catch (...) {
  detail::raiseExhausted({});
}

using Where = std::source_location;

/// Equal layers, each with first values of its own.
template <typename Layer>
static std::vector<Layer>
makeLayers(int64_t d_model, int64_t nhead, int64_t count,
           const TransformerLayerOptions &options, Where where) {
  detail::Arguments("transformer", where).positive("count", count);
  std::vector<Layer> layers;
  for (int64_t i = 0; i < count; ++i)
    layers.emplace_back(d_model, nhead, options, where);
  return layers;
}

/// The norm behind the last of such layers.
static LayerNorm finalNorm(int64_t d_model,
                           const TransformerLayerOptions &options,
                           Where where) {
  return LayerNorm(d_model, {options.layer_norm_eps, options.dtype}, where);
}

TransformerEncoder::TransformerEncoder(
    int64_t d_model, int64_t nhead, int64_t count,
    const TransformerEncoderLayerOptions &options, bool final_norm,
    Where where) try {
  layers = makeLayers<TransformerEncoderLayer>(d_model, nhead, count, options,
                                               where);
  if (final_norm)
    norm = finalNorm(d_model, options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor TransformerEncoder::forward(const Tensor &x,
                                   const AttentionOptions &attention,
                                   const Tensor &key_padding_mask) const try {
  Tensor y = x;
  for (const TransformerEncoderLayer &layer : layers)
    y = layer(y, attention, key_padding_mask);
  return norm ? (*norm)(y) : y;
} catch (...) {
  detail::raiseExhausted({});
}

//===- Decoder ------------------------------------------------------------===//

TransformerDecoderLayer::TransformerDecoderLayer(
    int64_t d_model, int64_t nhead, const TransformerDecoderLayerOptions &given,
    Where where)
    : self_attn(checkedSize("transformer_decoder_layer", d_model, nhead, given,
                            where),
                nhead, {.dtype = given.dtype}, where),
      multihead_attn(d_model, nhead, {.dtype = given.dtype}, where),
      linear1(d_model, given.dim_feedforward, {.dtype = given.dtype}, where),
      linear2(given.dim_feedforward, d_model, {.dtype = given.dtype}, where),
      norm1(d_model, {given.layer_norm_eps, given.dtype}, where),
      norm2(d_model, {given.layer_norm_eps, given.dtype}, where),
      norm3(d_model, {given.layer_norm_eps, given.dtype}, where),
      dropout(given.dropout), options(given) {}

Tensor TransformerDecoderLayer::feedForward(const Tensor &x) const try {
  Tensor y = dropped(dropout, activated(linear1(x), options.activation));
  return dropped(dropout, linear2(y));
} catch (...) {
  detail::raiseExhausted({});
}

Tensor TransformerDecoderLayer::forward(const Tensor &x, const Tensor &memory,
                                        const AttentionOptions &self,
                                        const AttentionOptions &cross,
                                        const Tensor &memory_padding) const
    try {
  auto toItself = [&](const Tensor &from) {
    return dropped(dropout, self_attn(from, self));
  };
  auto toMemory = [&](const Tensor &from) {
    return dropped(dropout, multihead_attn.attend(from, memory, memory, cross,
                                                  memory_padding));
  };
  if (options.norm_first) {
    Tensor y = x + toItself(norm1(x));
    y = y + toMemory(norm2(y));
    return y + feedForward(norm3(y));
  }
  Tensor y = norm1(x + toItself(x));
  y = norm2(y + toMemory(y));
  return norm3(y + feedForward(y));
} catch (...) {
  detail::raiseExhausted({});
}

TransformerDecoder::TransformerDecoder(
    int64_t d_model, int64_t nhead, int64_t count,
    const TransformerDecoderLayerOptions &options, bool final_norm,
    Where where) try {
  layers = makeLayers<TransformerDecoderLayer>(d_model, nhead, count, options,
                                               where);
  if (final_norm)
    norm = finalNorm(d_model, options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor TransformerDecoder::forward(const Tensor &x, const Tensor &memory,
                                   const AttentionOptions &self,
                                   const AttentionOptions &cross,
                                   const Tensor &memory_padding) const try {
  Tensor y = x;
  for (const TransformerDecoderLayer &layer : layers)
    y = layer(y, memory, self, cross, memory_padding);
  return norm ? (*norm)(y) : y;
} catch (...) {
  detail::raiseExhausted({});
}

//===- Positions ----------------------------------------------------------===//

/// position / base^(2 i / size): [count, size / 2], of positions from `first`.
static Tensor anglesOf(const detail::ComposedCall &call, const Tensor &x,
                       int64_t first, double base) {
  if (x.rank() < 2 || x.dim(-1).value % 2 != 0)
    call.fail("expects [..., position, even size]", {x});
  int64_t size = x.dim(-1).value;
  Dims shape{x.dim(-2), size / 2};
  Options options{x.dtype(), x.device()};
  Tensor position = iota(shape, 0, options) + double(first);
  Tensor slower =
      iota(shape, 1, options) * (-2 * std::log(base) / double(size));
  return position * exp(slower);
}

Tensor PositionalEncoding::forward(const Tensor &x) const try {
  Arg operand(x);
  detail::ComposedCall call("positional_encoding", {&operand});
  Tensor wide = call.real(operand);
  Tensor angles = anglesOf(call, wide, 0, base);
  Tensor pairs =
      concat({unsqueeze(sin(angles), -1), unsqueeze(cos(angles), -1)}, -1);
  Tensor y = wide + reshape(pairs, {x.dim(-2), x.dim(-1)});
  return dropped(dropout, call.done(y));
} catch (...) {
  detail::raiseExhausted({});
}

Tensor RotaryEmbedding::forward(const Tensor &x, int64_t first) const try {
  Arg operand(x);
  detail::ComposedCall call("rotary_embedding", {&operand});
  Tensor angles = anglesOf(call, call.real(operand), first, base);
  return rotary_embedding(x, cos(angles), sin(angles), pairs);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::nn
