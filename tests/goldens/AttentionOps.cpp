/// Golden cases of attention and of transformers' layers, as modules.
#include "tests/goldens/AttentionOps.h"

#include "tests/goldens/Modules.h"

namespace sinter::goldens {

using Rule = Values (*)(const Call &call);
using Table = std::map<std::string, Rule, std::less<>>;

static Values plainAttention(const Call &c) {
  AttentionOptions options;
  options.causal = c.attrs.text("mask") == "causal";
  options.mask = c.find("mask");
  return {{"y", scaled_dot_product_attention(c["q"], c["k"], c["v"], options)}};
}

/// PyTorch's masks say what is hidden, the library's what is seen.
static std::optional<Tensor> seenBy(const std::optional<Tensor> &mask) {
  bool isBool = mask && mask->dtype() == DType::boolean;
  return isBool ? std::optional(*mask == false) : mask;
}

/// The weights are a result, too. The case calls the parameters of the last
/// product by other names.
static Values multiHeadAttention(const Call &c) {
  nn::MultiHeadAttention module(c.attrs.integer("embed_dim"),
                                c.attrs.integer("num_heads"),
                                {.kdim = c["key"].dim(2).value,
                                 .vdim = c["value"].dim(2).value,
                                 .batch_first = false});
  Values values;
  fill(module, "", c, values);
  module.out_proj.weight.set(c["out_proj_weight"].detach());
  module.out_proj.bias.set(c["out_proj_bias"].detach());
  values["out_proj_weight"] = module.out_proj.weight.tensor();
  values["out_proj_bias"] = module.out_proj.bias.tensor();
  AttentionOptions options{.mask = seenBy(c.find("attn_mask"))};
  Tensor padding = c.find("key_padding_mask").value_or(Tensor());
  values["y"] =
      module.attend(c["query"], c["key"], c["value"], options, padding);
  values["weights"] = module.weights(c["query"], c["key"], options, padding,
                                     c.attrs.flag("average_weights"));
  return values;
}

static nn::TransformerLayerOptions layerOptions(const Call &c) {
  return {.dim_feedforward = c.attrs.integer("dim_feedforward"),
          .activation = c.attrs.text("activation") == "gelu"
                            ? nn::Activation::gelu
                            : nn::Activation::relu,
          .norm_first = c.attrs.flag("norm_first")};
}

template <typename Module> static Values filled(Module &module, const Call &c) {
  Values values;
  fill(module, "p.", c, values);
  return values;
}

static const Table &rules() {
  static const Table table = {
      {"scaled_dot_product_attention", plainAttention},
      {"multi_head_attention", multiHeadAttention},
      {"transformer_encoder_layer",
       [](const Call &c) {
         nn::TransformerEncoderLayer layer(c.attrs.integer("d_model"),
                                           c.attrs.integer("nhead"),
                                           layerOptions(c));
         Values values = filled(layer, c);
         values["y"] = layer(c["x"]);
         return values;
       }},
      {"transformer_encoder_2_layers",
       [](const Call &c) {
         nn::TransformerEncoder encoder(
             c.attrs.integer("d_model"), c.attrs.integer("nhead"),
             c.attrs.integer("layers"), layerOptions(c), /*final_norm=*/true);
         Values values = filled(encoder, c);
         values["y"] = encoder(c["x"]);
         return values;
       }},
      {"transformer_decoder_layer",
       [](const Call &c) {
         nn::TransformerDecoderLayer layer(c.attrs.integer("d_model"),
                                           c.attrs.integer("nhead"),
                                           layerOptions(c));
         Values values = filled(layer, c);
         values["y"] =
             layer(c["x"], c["memory"], AttentionOptions{.causal = true});
         return values;
       }},
  };
  return table;
}

std::optional<Values> recordAttention(const Case &golden,
                                      const Values &inputs) {
  return recordFrom(rules(), golden, inputs);
}

} // namespace sinter::goldens
