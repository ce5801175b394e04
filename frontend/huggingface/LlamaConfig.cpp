/// LlamaConfig of config.json, and Llama of a folder.
#include "frontend/huggingface/Configs.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::hf {

using runtime::json::Value;

/// Numbers of rotary angles.
constexpr double mostTheta = 1e15, mostFactor = 1e6;

static void readLlama3(ConfigReader &rope, RopeParameters &p) {
  p.low_freq_factor = rope.number("low_freq_factor", 1, 1e-3, mostFactor);
  p.high_freq_factor = rope.number("high_freq_factor", 4, 1e-3, mostFactor);
  if (p.high_freq_factor == p.low_freq_factor)
    rope.refuse("high_freq_factor", "is equal to low_freq_factor");
}

static void readYarn(ConfigReader &rope, RopeParameters &p) {
  p.beta_fast = rope.number("beta_fast", 32, 1e-3, mostFactor);
  p.beta_slow = rope.number("beta_slow", 1, 1e-3, mostFactor);
  p.attention_factor = rope.number("attention_factor", 0, mostFactor);
  p.mscale = rope.number("mscale", 0, mostFactor);
  p.mscale_all_dim = rope.number("mscale_all_dim", 0, mostFactor);
  p.truncate = rope.flag("truncate", true);
}

static RopeType ropeType(ConfigReader &rope) {
  // What is called `type` is the older one of the two.
  std::string older = rope.text("type", "default");
  std::string name = rope.text("rope_type", older);
  constexpr std::pair<std::string_view, RopeType> types[] = {
      {"default", RopeType::plain},
      {"linear", RopeType::linear},
      {"dynamic", RopeType::dynamic},
      {"llama3", RopeType::llama3},
      {"yarn", RopeType::yarn}};
  for (const auto &[own, type] : types)
    if (own == name)
      return type;
  rope.lack("rope_type", fmt::format("is {}; default, linear, dynamic, llama3 "
                                     "and yarn are supported",
                                     runtime::json::quote(name)));
}

/// `rope_parameters`, or the older `rope_scaling`.
static RopeParameters readRope(ConfigReader rope, double theta,
                               int64_t positions) {
  RopeParameters p;
  p.type = ropeType(rope);
  p.theta = rope.number("rope_theta", theta, 1, mostTheta);
  p.original_max_position_embeddings =
      rope.size("original_max_position_embeddings", positions, mostRows);
  if (p.type == RopeType::llama3)
    readLlama3(rope, p);
  if (p.type == RopeType::yarn)
    readYarn(rope, p);
  if (p.type == RopeType::plain)
    rope.ignore({"factor"});
  // Only yarn can do without: its texts are longer by what config.json says.
  else if (p.type != RopeType::yarn && !rope.has("factor"))
    rope.refuse("factor", "is missing");
  double ratio = static_cast<double>(positions) /
                 static_cast<double>(p.original_max_position_embeddings);
  p.factor = rope.number("factor", std::max(ratio, 1.0), 1, mostFactor);
  if (rope.number("partial_rotary_factor", 1, 0, 1) != 1)
    rope.lack("partial_rotary_factor", "is not 1, which is not supported");
  rope.finish();
  return p;
}

static RopeParameters ropeOf(ConfigReader &config, int64_t positions) {
  double theta = config.number("rope_theta", 10000, 1, mostTheta);
  if (config.number("partial_rotary_factor", 1, 0, 1) != 1)
    config.lack("partial_rotary_factor", "is not 1, which is not supported");
  const Value *newer = config.object("rope_parameters");
  const Value *older = config.object("rope_scaling");
  if (newer)
    return readRope({*newer, config.file(), config.line(), "rope_parameters."},
                    theta, positions);
  if (older)
    return readRope({*older, config.file(), config.line(), "rope_scaling."},
                    theta, positions);
  RopeParameters plain;
  plain.theta = theta;
  return plain;
}

/// How far back layers of Qwen see: `layer_types`, or the older rule.
static std::vector<int64_t> qwenWindows(ConfigReader &config, int64_t layers) {
  bool isOn = config.flag("use_sliding_window", false);
  int64_t window = config.size("sliding_window", 4096, mostRows);
  int64_t first = config.count("max_window_layers", mostLayers).value_or(28);
  std::vector<std::string> types = config.texts("layer_types");
  if (!types.empty() && static_cast<int64_t>(types.size()) != layers)
    config.refuse("layer_types", fmt::format("is a list of {}, for {} layers",
                                             types.size(), layers));
  std::vector<int64_t> windows;
  for (int64_t i = 0; i < layers && (isOn || !types.empty()); ++i) {
    bool slides = isOn && i >= first;
    if (!types.empty()) {
      const std::string &type = types[static_cast<size_t>(i)];
      slides = type == "sliding_attention";
      if (!slides && type != "full_attention")
        config.lack("layer_types", fmt::format("has {}, which is not "
                                               "supported",
                                               runtime::json::quote(type)));
      if (slides && !isOn)
        config.refuse("layer_types",
                      "has sliding_attention, but use_sliding_window is not "
                      "true");
    }
    windows.push_back(slides ? window : 0);
  }
  return windows;
}

/// What differs between the kinds.
static void readKind(Folder &folder, LlamaConfig &c) {
  ConfigReader &config = folder.config();
  const std::string &type = folder.modelType();
  if (type == "mistral") {
    // A null is no window, a missing key is one of 4096.
    bool isNull = config.isNull("sliding_window");
    int64_t window = config.size("sliding_window", 4096, mostRows);
    if (!isNull)
      c.windows.assign(static_cast<size_t>(c.num_hidden_layers), window);
    return;
  }
  if (type == "llama") {
    c.query_bias = c.output_bias = config.flag("attention_bias", false);
    c.mlp_bias = config.flag("mlp_bias", false);
    // How a training run shared its work, and what somebody's tools note.
    config.ignore({"pretraining_tp", "is_llama_config", "max_sequence_length"});
    return;
  }
  c.windows = qwenWindows(config, c.num_hidden_layers);
  if (type == "qwen2")
    c.query_bias = true;
  if (type == "qwen3") {
    c.head_norms = true;
    c.query_bias = c.output_bias = config.flag("attention_bias", false);
  }
}

/// Defaults of the kinds where they differ.
struct LlamaDefaults {
  int64_t vocab, intermediate, keyHeads, positions;
};
static LlamaDefaults defaultsOf(const std::string &type) {
  if (type == "mistral")
    return {32000, 14336, 8, 4096 * 32};
  if (type == "llama")
    return {32000, 11008, 0, 2048};
  return {151936, 22016, 32, 32768};
}

LlamaConfig readLlamaConfig(Folder &folder) {
  folder.requireType({"llama", "mistral", "qwen2", "qwen3"});
  ConfigReader &config = folder.config();
  LlamaDefaults defaults = defaultsOf(folder.modelType());
  LlamaConfig c;
  c.vocab_size = config.size("vocab_size", defaults.vocab, mostRows);
  c.hidden_size = config.size("hidden_size", 4096, mostElements);
  c.intermediate_size =
      config.size("intermediate_size", defaults.intermediate, mostElements);
  c.num_hidden_layers = config.size("num_hidden_layers", 32, mostLayers);
  c.num_attention_heads = config.size("num_attention_heads", 32, mostHeads);
  // A missing key is the default, a null as many as heads of queries.
  bool isNull = config.isNull("num_key_value_heads") || !defaults.keyHeads;
  c.num_key_value_heads = config.size(
      "num_key_value_heads", isNull ? c.num_attention_heads : defaults.keyHeads,
      mostHeads);
  if (c.num_attention_heads % c.num_key_value_heads != 0)
    config.refuse("num_key_value_heads",
                  fmt::format("is {}, which does not divide the "
                              "num_attention_heads {}",
                              c.num_key_value_heads, c.num_attention_heads));
  std::optional<int64_t> headSize = config.size("head_dim", mostHeads);
  if (!headSize && c.hidden_size % c.num_attention_heads != 0)
    config.refuse("num_attention_heads",
                  fmt::format("is {}, which does not divide the hidden_size {}",
                              c.num_attention_heads, c.hidden_size));
  int64_t derived = folder.modelType() == "qwen3"
                        ? 128
                        : c.hidden_size / c.num_attention_heads;
  c.head_dim = headSize.value_or(derived);
  if (c.head_dim % 2 != 0 || c.head_dim > mostHeads)
    config.refuse("head_dim", fmt::format("is {}, no even number up to {}",
                                          c.head_dim, mostHeads));
  c.max_position_embeddings =
      config.size("max_position_embeddings", defaults.positions, mostRows);
  c.hidden_act = config.activation("hidden_act", Activation::silu);
  c.rms_norm_eps = config.number("rms_norm_eps", 1e-6, 0, 1);
  c.tie_word_embeddings = config.flag("tie_word_embeddings", false);
  c.rope = ropeOf(config, c.max_position_embeddings);
  if (c.rope.type == RopeType::dynamic && c.head_dim <= 2)
    config.refuse("head_dim", "is 2, too small for dynamic rotary angles");
  // Layers are counted before there is a list of what each of them sees.
  folder.checkLayers("num_hidden_layers", c.num_hidden_layers,
                     tensorsOfLlamaLayer);
  readKind(folder, c);
  config.ignore({"attention_dropout"});
  folder.finishConfig();
  return c;
}

Llama makeLlama(Folder &folder) {
  LlamaConfig config = readLlamaConfig(folder);
  if (config.tie_word_embeddings)
    config.tie_word_embeddings =
        folder.areTied("model.embed_tokens.weight", "lm_head.weight", "model.");
  return fromFolder<Llama>(
      folder, config, "model.",
      [](const LlamaConfig &c, DType dtype) { return Llama(c, dtype); });
}

Llama Llama::from_folder(const std::string &path, const LoadOptions &options,
                         FolderReport *report, Where where) try {
  Folder folder(path, options, report, where);
  return makeLlama(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
