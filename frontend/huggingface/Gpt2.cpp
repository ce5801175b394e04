/// GPT-2: a decoder of text.
#include "frontend/huggingface/Configs.h"
#include "frontend/huggingface/Generate.h"
#include "frontend/huggingface/Heads.h"

#include <sinter/Arguments.h>

#include <fmt/format.h>

#include <cmath>

namespace sinter::hf {

using Where = std::source_location;

Conv1D::Conv1D(int64_t in, int64_t out, DType dtype)
    : weight("weight", {in, out}, init::normal(0, 0.02), {.dtype = dtype}),
      bias("bias", {out}, init::zeros(), {.dtype = dtype}) {}

Tensor Conv1D::forward(const Tensor &x) const {
  return matmul(x, weight) + bias;
}

Gpt2Attention::Gpt2Attention(const Gpt2Config &config, int64_t layer,
                             DType dtype)
    : c_attn(config.n_embd, 3 * config.n_embd, dtype),
      c_proj(config.n_embd, config.n_embd, dtype), heads(config.n_head),
      layer(layer) {
  int64_t headSize = config.n_embd / config.n_head;
  if (config.scale_attn_weights)
    scale = 1 / std::sqrt(static_cast<double>(headSize));
  if (config.scale_attn_by_inverse_layer_idx)
    scale /= static_cast<double>(layer + 1);
}

Tensor Gpt2Attention::forward(const Tensor &x,
                              const DecoderInputs &inputs) const {
  std::vector<Tensor> parts = chunk(c_attn(x), 3, -1);
  for (Tensor &part : parts)
    part = inHeads(part, heads);
  return c_proj(joined(
      attendBack(parts[0], parts[1], parts[2], inputs,
                 {.layer = static_cast<size_t>(layer), .scale = scale})));
}

static int64_t innerSize(const Gpt2Config &config) {
  return config.n_inner ? config.n_inner : 4 * config.n_embd;
}

static nn::LayerNorm normOf(const Gpt2Config &config, DType dtype) {
  return nn::LayerNorm(config.n_embd,
                       {.eps = config.layer_norm_epsilon, .dtype = dtype});
}

Gpt2Block::Gpt2Block(const Gpt2Config &config, int64_t layer, DType dtype)
    : ln_1(normOf(config, dtype)), attn(config, layer, dtype),
      ln_2(normOf(config, dtype)),
      mlp{Conv1D(config.n_embd, innerSize(config), dtype),
          Conv1D(innerSize(config), config.n_embd, dtype)},
      dropout(config.resid_pdrop), activation(config.activation_function) {}

Tensor Gpt2Block::forward(const Tensor &x, const DecoderInputs &inputs) const {
  Tensor y = x + dropped(dropout, attn(ln_1(x), inputs));
  Tensor wide = activate(mlp.c_fc(ln_2(y)), activation);
  return y + dropped(dropout, mlp.c_proj(wide));
}

Gpt2::Gpt2(const Gpt2Config &given, DType dtype, Where where) try
    : config(given) {
  detail::Arguments("gpt2", where)
      .positive("n_head", given.n_head)
      .divides("n_embd", given.n_embd, "n_head", given.n_head);
  transformer.wte =
      nn::Embedding(config.vocab_size, config.n_embd, {.dtype = dtype}, where);
  transformer.wpe =
      nn::Embedding(config.n_positions, config.n_embd, {.dtype = dtype}, where);
  transformer.drop = nn::Dropout(config.embd_pdrop, where);
  for (int64_t i = 0; i < config.n_layer; ++i)
    transformer.h.emplace_back(config, i, dtype);
  transformer.ln_f = normOf(config, dtype);
  if (!config.tie_word_embeddings)
    lm_head = nn::Linear(config.n_embd, config.vocab_size,
                         {.bias = false, .dtype = dtype}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Gpt2::hidden(const Tensor &ids, const DecoderInputs &inputs) const try {
  Arg operand(ids);
  beginDecoding(ids, inputs, operand.where);
  Tensor x = transformer.wte(ids) + transformer.wpe(placesOf(ids, inputs));
  x = dropped(transformer.drop, x);
  for (const Gpt2Block &block : transformer.h)
    x = block(x, inputs);
  if (inputs.cache)
    inputs.cache->advance(ids.dim(1).value);
  return transformer.ln_f(x);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Gpt2::scores(const Tensor &hidden) const try {
  return wordScores(hidden, transformer.wte.weight, lm_head);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Gpt2::forward(const Tensor &ids, const DecoderInputs &inputs) const {
  return scores(hidden(ids, inputs));
}

Tensor Gpt2::generate(const Tensor &ids, const GenerateOptions &options,
                      Where where) const try {
  return generateWords(
      ids, options,
      [&](const Tensor &read, const DecoderInputs &inputs) {
        return lastScores(*this, read, inputs);
      },
      where);
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Folders ------------------------------------------------------------===//

/// Four Conv1Ds and two norms.
static constexpr int64_t tensorsOfLayer = 12;

Gpt2Config readGpt2Config(Folder &folder) {
  folder.requireType({"gpt2"});
  ConfigReader &config = folder.config();
  Gpt2Config c;
  c.vocab_size = config.size("vocab_size", 50257, mostRows);
  c.n_positions = config.size("n_positions", 1024, mostRows);
  c.n_embd = config.size("n_embd", 768, mostElements);
  c.n_layer = config.size("n_layer", 12, mostLayers);
  c.n_head = config.size("n_head", 12, mostHeads);
  if (c.n_embd % c.n_head != 0)
    config.refuse("n_head",
                  fmt::format("is {}, which does not divide the n_embd {}",
                              c.n_head, c.n_embd));
  c.n_inner = config.size("n_inner", mostElements).value_or(0);
  c.activation_function =
      config.activation("activation_function", Activation::gelu_tanh);
  c.layer_norm_epsilon = config.number("layer_norm_epsilon", 1e-5, 0, 1);
  c.resid_pdrop = config.probability("resid_pdrop", 0.1);
  c.embd_pdrop = config.probability("embd_pdrop", 0.1);
  c.scale_attn_weights = config.flag("scale_attn_weights", true);
  c.scale_attn_by_inverse_layer_idx =
      config.flag("scale_attn_by_inverse_layer_idx", false);
  c.tie_word_embeddings = config.flag("tie_word_embeddings", true);
  config.expectFlag("add_cross_attention", false);
  // The order of roundings, older names, and heads of other kinds.
  config.ignore({"attn_pdrop", "reorder_and_upcast_attn", "n_ctx",
                 "summary_activation", "summary_first_dropout",
                 "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  folder.finishConfig();
  folder.checkLayers("n_layer", c.n_layer, tensorsOfLayer);
  return c;
}

Gpt2 makeGpt2(Folder &folder) {
  Gpt2Config config = readGpt2Config(folder);
  if (config.tie_word_embeddings)
    config.tie_word_embeddings = folder.areTied(
        "transformer.wte.weight", "lm_head.weight", "transformer.");
  return fromFolder<Gpt2>(
      folder, config, "transformer.",
      [](const Gpt2Config &c, DType dtype) { return Gpt2(c, dtype); });
}

Gpt2 Gpt2::from_folder(const std::string &path, const LoadOptions &options,
                       FolderReport *report, Where where) try {
  Folder folder(path, options, report, where);
  return makeGpt2(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
