/// Llama and its kin: decoders of text with rotary positions.
#include <sinter/hf/Llama.h>

#include "frontend/Capture.h"
#include "frontend/Raise.h"
#include "frontend/huggingface/Generate.h"
#include "frontend/huggingface/Heads.h"

#include <sinter/Arguments.h>
#include <sinter/Gates.h>

#include <fmt/format.h>

namespace sinter::hf {

using Where = std::source_location;

static nn::RMSNorm normOf(const LlamaConfig &config, int64_t size,
                          DType dtype) {
  return nn::RMSNorm(size, {.eps = config.rms_norm_eps, .dtype = dtype});
}

LlamaAttention::LlamaAttention(const LlamaConfig &config, int64_t layer,
                               DType dtype)
    : heads(config.num_attention_heads),
      key_value_heads(config.num_key_value_heads), layer(layer) {
  int64_t size = config.hidden_size;
  nn::LinearOptions in{.bias = config.query_bias, .dtype = dtype};
  q_proj = nn::Linear(size, heads * config.head_dim, in);
  k_proj = nn::Linear(size, key_value_heads * config.head_dim, in);
  v_proj = nn::Linear(size, key_value_heads * config.head_dim, in);
  o_proj = nn::Linear(heads * config.head_dim, size,
                      {.bias = config.output_bias, .dtype = dtype});
  if (config.head_norms) {
    q_norm = normOf(config, config.head_dim, dtype);
    k_norm = normOf(config, config.head_dim, dtype);
  }
  if (!config.windows.empty())
    window = config.windows[static_cast<size_t>(layer)];
}

/// x [batch, head, position, size], turned.
static Tensor turned(const Tensor &x, const RotaryAngles &angles) {
  auto forHeads = [](const Tensor &each) {
    return each.rank() == 3 ? unsqueeze(each, 1) : each;
  };
  return rotary_embedding(x, forHeads(angles.cos), forHeads(angles.sin),
                          RotaryPairs::halves);
}

Tensor LlamaAttention::forward(const Tensor &x,
                               const LlamaContext &context) const {
  Tensor query = inHeads(q_proj(x), heads);
  Tensor key = inHeads(k_proj(x), key_value_heads);
  Tensor value = inHeads(v_proj(x), key_value_heads);
  if (q_norm)
    query = (*q_norm)(query);
  if (k_norm)
    key = (*k_norm)(key);
  return o_proj(joined(
      attendBack(turned(query, context.angles), turned(key, context.angles),
                 value, context.inputs,
                 {.layer = static_cast<size_t>(layer), .window = window})));
}

LlamaMlp::LlamaMlp(const LlamaConfig &config, DType dtype)
    : activation(config.hidden_act) {
  nn::LinearOptions options{.bias = config.mlp_bias, .dtype = dtype};
  gate_proj = nn::Linear(config.hidden_size, config.intermediate_size, options);
  up_proj = nn::Linear(config.hidden_size, config.intermediate_size, options);
  down_proj = nn::Linear(config.intermediate_size, config.hidden_size, options);
}

Tensor LlamaMlp::forward(const Tensor &x) const {
  return down_proj(activate(gate_proj(x), activation) * up_proj(x));
}

LlamaLayer::LlamaLayer(const LlamaConfig &config, int64_t layer, DType dtype)
    : self_attn(config, layer, dtype), mlp(config, dtype),
      input_layernorm(normOf(config, config.hidden_size, dtype)),
      post_attention_layernorm(normOf(config, config.hidden_size, dtype)) {}

Tensor LlamaLayer::forward(const Tensor &x, const LlamaContext &context) const {
  Tensor y = x + self_attn(input_layernorm(x), context);
  return y + mlp(post_attention_layernorm(y));
}

/// Throws where numbers of a config do not go together.
static void check(const LlamaConfig &config, const SourceLine &where) {
  detail::Arguments("llama", where)
      .positive("num_hidden_layers", config.num_hidden_layers)
      .positive("num_attention_heads", config.num_attention_heads)
      .positive("num_key_value_heads", config.num_key_value_heads)
      .positive("head_dim", config.head_dim)
      .divides("num_attention_heads", config.num_attention_heads,
               "num_key_value_heads", config.num_key_value_heads)
      .divides("head_dim", config.head_dim, "two", 2);
  if (!config.windows.empty() &&
      config.windows.size() != static_cast<size_t>(config.num_hidden_layers))
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("llama: {} windows of {} layers",
                              config.windows.size(), config.num_hidden_layers)),
        where);
}

Llama::Llama(const LlamaConfig &given, DType dtype, Where where) try
    : config(given) {
  check(config, where);
  rotary = Rotary(config.rope, config.head_dim, config.max_position_embeddings);
  model.embed_tokens = nn::Embedding(config.vocab_size, config.hidden_size,
                                     {.dtype = dtype}, where);
  for (int64_t i = 0; i < config.num_hidden_layers; ++i)
    model.layers.emplace_back(config, i, dtype);
  model.norm = normOf(config, config.hidden_size, dtype);
  if (!config.tie_word_embeddings)
    lm_head = nn::Linear(config.hidden_size, config.vocab_size,
                         {.bias = false, .dtype = dtype}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

/// How long the text is so far.
static int64_t lengthOf(const Tensor &ids, const DecoderInputs &inputs) {
  int64_t before = inputs.cache ? inputs.cache->length() : 0;
  return before + ids.dim(1).value;
}

/// Dynamic angles depend on the length, which has to be known.
static void checkDynamic(const Tensor &ids, const DecoderInputs &inputs,
                         const SourceLine &where) {
  bool isOpen = detail::Capture::current() && !ids.dim(1).isConstant();
  if (isOpen || inputs.position_ids.defined())
    detail::raise(
        makeError(ErrorKind::unsupported,
                  fmt::format("forward: dynamic rotary angles of {}",
                              isOpen ? "an open length" : "given positions")),
        where);
}

Tensor Llama::hidden(const Tensor &ids, const DecoderInputs &inputs) const try {
  Arg operand(ids);
  beginDecoding(ids, inputs, operand.where);
  if (config.rope.type == RopeType::dynamic)
    checkDynamic(ids, inputs, operand.where);
  Tensor x = model.embed_tokens(ids);
  LlamaContext context{rotary.at(placesOf(ids, inputs).to(DType::f32),
                                 lengthOf(ids, inputs), x.dtype()),
                       inputs};
  for (const LlamaLayer &layer : model.layers)
    x = layer(x, context);
  if (inputs.cache)
    inputs.cache->advance(ids.dim(1).value);
  return model.norm(x);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Llama::scores(const Tensor &hidden) const try {
  return wordScores(hidden, model.embed_tokens.weight, lm_head);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Llama::forward(const Tensor &ids, const DecoderInputs &inputs) const {
  return scores(hidden(ids, inputs));
}

Tensor Llama::generate(const Tensor &ids, const GenerateOptions &options,
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

} // namespace sinter::hf
