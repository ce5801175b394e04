/// Golden cases of attention and of transformers' layers.
#include "tests/goldens/AttentionOps.h"

#include "tests/goldens/Attrs.h"

#include <cmath>
#include <limits>

namespace sinter::goldens {

namespace {

/// The tensors of one case, below a prefix of their names.
class Scope {
public:
  Scope(const Values &inputs, std::string prefix)
      : inputs(inputs), prefix(std::move(prefix)) {}

  bool has(std::string_view name) const {
    return inputs.contains(prefix + std::string(name));
  }
  const Tensor &operator[](std::string_view name) const {
    return inputs.find(prefix + std::string(name))->second;
  }
  Scope below(const std::string &name) const {
    return {inputs, prefix + name + "."};
  }

private:
  const Values &inputs;
  std::string prefix;
};

} // namespace

static Tensor linear(const Tensor &x, const Tensor &weight,
                     const Tensor &bias) {
  return matmul(x, transpose(weight, {1, 0})) + bias;
}
static Tensor linear(const Tensor &x, const Scope &layer) {
  return linear(x, layer["weight"], layer["bias"]);
}

static Tensor norm(const Tensor &x, const Scope &layer) {
  return layer_norm(x, layer["weight"], layer["bias"]);
}

/// Rows [from, to) of a matrix or vector.
static Tensor rows(const Tensor &x, int64_t from, int64_t to) {
  std::vector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  Dims limits = x.shape();
  starts[0] = from;
  limits[0] = Dim(to);
  return slice(x, starts, limits, steps);
}

/// [batch, position, size] as [batch, head, position, length].
static Tensor inHeads(const Tensor &x, int64_t heads) {
  int64_t length = x.dim(2).value / heads;
  return transpose(reshape(x, {x.dim(0), x.dim(1), heads, length}),
                   {0, 2, 1, 3});
}

/// Projection `number` of query, key and value.
static Tensor projected(const Tensor &x, const Scope &layer, int64_t number,
                        int64_t heads) {
  static constexpr std::string_view own[] = {"q_proj_weight", "k_proj_weight",
                                             "v_proj_weight"};
  int64_t size = layer["in_proj_bias"].dim(0).value / 3;
  Tensor weight =
      layer.has("in_proj_weight")
          ? rows(layer["in_proj_weight"], number * size, (number + 1) * size)
          : layer[own[number]];
  Tensor bias = rows(layer["in_proj_bias"], number * size, (number + 1) * size);
  return inHeads(linear(x, weight, bias), heads);
}

static Tensor joined(const Tensor &x, const Tensor &weight,
                     const Tensor &bias) {
  Tensor y = transpose(x, {0, 2, 1, 3});
  Dim size = y.dim(2) * y.dim(3);
  return linear(reshape(y, {y.dim(0), y.dim(1), size}), weight, bias);
}

static Tensor selfAttention(const Tensor &x, const Scope &layer,
                            int64_t heads) {
  Tensor y = scaled_dot_product_attention(projected(x, layer, 0, heads),
                                          projected(x, layer, 1, heads),
                                          projected(x, layer, 2, heads));
  return joined(y, layer["out_proj.weight"], layer["out_proj.bias"]);
}

static Tensor encoderLayer(const Tensor &x, const Scope &layer, int64_t heads,
                           bool normFirst, bool isGelu) {
  auto feedForward = [&](const Tensor &from) {
    Tensor y = linear(from, layer.below("linear1"));
    return linear(isGelu ? gelu(y) : relu(y), layer.below("linear2"));
  };
  Scope attention = layer.below("self_attn");
  Scope norm1 = layer.below("norm1"), norm2 = layer.below("norm2");
  if (normFirst) {
    Tensor y = x + selfAttention(norm(x, norm1), attention, heads);
    return y + feedForward(norm(y, norm2));
  }
  Tensor y = norm(x + selfAttention(x, attention, heads), norm1);
  return norm(y + feedForward(y), norm2);
}

/// What PyTorch's bool masks (true: hidden) and float masks add to scores.
static Tensor addedBy(const Tensor &mask) {
  if (mask.dtype() != DType::boolean)
    return mask;
  return where(mask, -std::numeric_limits<double>::infinity(),
               zeros(mask.shape(), {DType::f32, {}}));
}

/// Tensors are [position, batch, size]; the weights are a result, too.
static Values multiHeadAttention(const Scope &in, const Attrs &attrs) {
  int64_t heads = attrs.integer("num_heads");
  auto batchFirst = [](const Tensor &x) { return transpose(x, {1, 0, 2}); };
  Tensor q = projected(batchFirst(in["query"]), in, 0, heads);
  Tensor k = projected(batchFirst(in["key"]), in, 1, heads);
  Tensor v = projected(batchFirst(in["value"]), in, 2, heads);
  Tensor scores =
      matmul(q, transpose(k, {0, 1, 3, 2})) / std::sqrt(double(q.dim(3).value));
  if (in.has("attn_mask"))
    scores = scores + addedBy(in["attn_mask"]);
  if (in.has("key_padding_mask")) {
    Tensor mask = addedBy(in["key_padding_mask"]);
    scores = scores + reshape(mask, {mask.dim(0), 1, 1, mask.dim(1)});
  }
  Tensor weights = softmax(scores);
  Tensor y =
      joined(matmul(weights, v), in["out_proj_weight"], in["out_proj_bias"]);
  if (attrs.flag("average_weights"))
    weights = mean(weights, 1);
  return {{"y", batchFirst(y)}, {"weights", weights}};
}

static Tensor plainAttention(const Scope &in, const Attrs &attrs) {
  AttentionOptions options;
  options.causal = attrs.text("mask") == "causal";
  if (in.has("mask"))
    options.mask = in["mask"];
  return scaled_dot_product_attention(in["q"], in["k"], in["v"], options);
}

std::optional<Values> recordAttention(const Case &golden,
                                      const Values &inputs) {
  Scope in(inputs, "");
  Attrs attrs(golden.attrs);
  int64_t heads = attrs.integer("nhead");
  if (golden.op == "scaled_dot_product_attention")
    return Values{{"y", plainAttention(in, attrs)}};
  if (golden.op == "multi_head_attention")
    return multiHeadAttention(in, attrs);
  if (golden.op == "transformer_encoder_layer")
    return Values{{"y", encoderLayer(in["x"], in.below("p"), heads,
                                     attrs.flag("norm_first"),
                                     attrs.text("activation") == "gelu")}};
  if (golden.op == "transformer_encoder_2_layers") {
    Tensor x = in["x"];
    for (const char *layer : {"p.layers.0", "p.layers.1"})
      x = encoderLayer(x, in.below(layer), heads, false, false);
    return Values{{"y", norm(x, in.below("p.norm"))}};
  }
  return std::nullopt;
}

} // namespace sinter::goldens
