/// Llama of a GGUF file: metadata as a config, and llama.cpp's names and orders
/// of rows undone.
#include "frontend/DeviceScope.h"
#include "frontend/Raise.h"
#include "frontend/huggingface/ConfigReader.h"
#include "frontend/huggingface/Configs.h"
#include "frontend/huggingface/Folder.h"

#include <sinter/BasicOps.h>
#include <sinter/hf/Llama.h>

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace sinter::hf {

namespace {

/// The metadata of a GGUF file. A value that cannot be is an Error of kind
/// `io`, one that is not supported of kind `unsupported`.
class Metadata {
public:
  Metadata(const StateDict &state, std::string file, const SourceLine &where)
      : file(std::move(file)), where(where) {
    for (const auto &[key, text] : state.metadata())
      values.emplace(key, text);
  }

  const std::string *find(const std::string &key) {
    auto found = values.find(key);
    if (found == values.end())
      return nullptr;
    taken.insert(key);
    return &found->second;
  }
  template <typename T>
  T number(const std::string &key, std::optional<T> fallback, T least, T most) {
    const std::string *text = find(key);
    if (!text && fallback)
      return *fallback;
    if (!text)
      fail(ErrorKind::io, fmt::format("'{}' is missing", key));
    T value{};
    const char *end = text->data() + text->size();
    auto read = std::from_chars(text->data(), end, value);
    if (read.ec != std::errc() || read.ptr != end ||
        !(value >= least && value <= most))
      fail(ErrorKind::io,
           fmt::format("'{}' is {}, no number from {} to {}", key,
                       runtime::json::quote(*text), least, most));
    return value;
  }
  int64_t size(const std::string &key, int64_t most,
               std::optional<int64_t> fallback = {}) {
    return number<int64_t>(key, fallback, 1, most);
  }
  /// Keys that begin so and that nobody took are an Error; all others that
  /// nobody took.
  std::vector<std::string> finish(const std::string &prefix,
                                  const std::vector<std::string> &permitted) {
    std::vector<std::string> unread;
    for (const auto &[key, text] : values) {
      if (taken.contains(key))
        continue;
      if (key.starts_with(prefix) && !std::ranges::count(permitted, key))
        fail(ErrorKind::unsupported,
             fmt::format("'{}' is {}, and it is not known what that means", key,
                         runtime::json::quote(text.substr(0, 60))));
      unread.push_back(key);
    }
    return unread;
  }
  [[noreturn]] void fail(ErrorKind kind, const std::string &why) const {
    detail::raise(makeError(kind, fmt::format("{}: {}", file, why)), where);
  }

private:
  std::string file;
  SourceLine where;
  std::map<std::string, std::string> values;
  std::set<std::string> taken;
};

/// A GGUF file on its way to a module.
class GgufModel {
public:
  GgufModel(const std::string &path, const LoadOptions &options,
            const SourceLine &where)
      : path(path), options(options), where(where),
        state(read_state(path, {}, where)), metadata(state, path, where) {
    const std::string *name = metadata.find("general.architecture");
    if (!state.format().starts_with("GGUF") || !name)
      metadata.fail(ErrorKind::io,
                    "is no GGUF file that names an architecture");
    architecture = *name;
    if (architecture != "llama" && architecture != "qwen2" &&
        architecture != "qwen3")
      metadata.fail(ErrorKind::unsupported,
                    fmt::format("'general.architecture' is {}; known are "
                                "llama, qwen2 and qwen3",
                                runtime::json::quote(architecture)));
  }

  Llama make(FolderReport *report);

private:
  LlamaConfig readConfig();
  void readRope(LlamaConfig &config);
  void restoreRows(const LlamaConfig &config);
  std::string key(const char *name) const { return architecture + "." + name; }

  std::string path;
  LoadOptions options;
  SourceLine where;
  StateDict state;
  Metadata metadata;
  std::string architecture;
};

} // namespace

LlamaConfig GgufModel::readConfig() {
  LlamaConfig c;
  c.hidden_size = metadata.size(key("embedding_length"), mostElements);
  c.intermediate_size = metadata.size(key("feed_forward_length"), mostElements);
  c.num_hidden_layers = metadata.size(key("block_count"), mostLayers);
  if (c.num_hidden_layers >
      static_cast<int64_t>(state.size() / tensorsOfLlamaLayer))
    metadata.fail(ErrorKind::io,
                  fmt::format("'{}' is {}, but there are {} tensors, {} a "
                              "layer",
                              key("block_count"), c.num_hidden_layers,
                              state.size(), tensorsOfLlamaLayer));
  c.num_attention_heads = metadata.size(key("attention.head_count"), mostHeads);
  c.num_key_value_heads = metadata.size(key("attention.head_count_kv"),
                                        mostHeads, c.num_attention_heads);
  c.head_dim = metadata.size(key("attention.key_length"), mostHeads,
                             c.hidden_size / c.num_attention_heads);
  if (c.num_attention_heads % c.num_key_value_heads != 0 ||
      c.head_dim % 2 != 0 || c.head_dim == 0)
    metadata.fail(ErrorKind::io,
                  fmt::format("{} heads of {} elements cannot share {} of keys",
                              c.num_attention_heads, c.head_dim,
                              c.num_key_value_heads));
  for (const char *same : {"attention.value_length", "rope.dimension_count"})
    if (int64_t size = metadata.size(key(same), mostHeads, c.head_dim);
        size != c.head_dim)
      metadata.fail(ErrorKind::unsupported,
                    fmt::format("'{}' is {}, but heads are of {}", key(same),
                                size, c.head_dim));
  c.max_position_embeddings =
      metadata.size(key("context_length"), mostRows, 2048);
  c.rms_norm_eps = metadata.number<double>(
      key("attention.layer_norm_rms_epsilon"), 1e-6, 0, 1);
  if (!state.contains("token_embd.weight"))
    metadata.fail(ErrorKind::io, "has no token_embd.weight");
  WeightInfo table = state.info("token_embd.weight", where);
  if (table.dims.size() != 2)
    metadata.fail(ErrorKind::io,
                  fmt::format("token_embd.weight has {} axes, no rows and "
                              "columns",
                              table.dims.size()));
  c.vocab_size = metadata.size(key("vocab_size"), mostRows, table.dims.front());
  c.tie_word_embeddings = !state.contains("output.weight");
  c.query_bias = state.contains("blk.0.attn_q.bias");
  c.output_bias = state.contains("blk.0.attn_output.bias");
  c.mlp_bias = state.contains("blk.0.ffn_up.bias");
  c.head_norms = state.contains("blk.0.attn_q_norm.weight");
  if (metadata.number<int64_t>(key("expert_count"), 0, 0, mostRows) > 0)
    metadata.fail(
        ErrorKind::unsupported,
        fmt::format("'{}' says that layers have experts", key("expert_count")));
  readRope(c);
  return c;
}

void GgufModel::readRope(LlamaConfig &config) {
  RopeParameters &rope = config.rope;
  rope.theta = metadata.number<double>(key("rope.freq_base"), 10000, 1, 1e15);
  const std::string *type = metadata.find(key("rope.scaling.type"));
  double factor =
      metadata.number<double>(key("rope.scaling.factor"), 1, 1, 1e6);
  metadata.find(key("rope.scaling.original_context_length"));
  if (type && *type == "linear") {
    rope.type = RopeType::linear;
    rope.factor = factor;
  } else if (type && *type != "none") {
    metadata.fail(ErrorKind::unsupported,
                  fmt::format("'{}' is {}; none and linear are supported",
                              key("rope.scaling.type"),
                              runtime::json::quote(*type)));
  }
  // llama.cpp keeps what Llama 3 stretches as a tensor.
  constexpr const char *name = "rope_freqs.weight";
  if (!state.contains(name))
    return;
  if (state.info(name, where).dims != std::vector<int64_t>{config.head_dim / 2})
    metadata.fail(ErrorKind::io, fmt::format("{} is not of {} elements", name,
                                             config.head_dim / 2));
  rope.divisors = state.at(name, {}, where).to_vector<float>(where);
}

/// llama.cpp turns elements 0 and 1, 2 and 3, ...; transformers turns i and
/// i + size / 2. Rows were put in the order of the former.
static Tensor halvesOfPairs(const Tensor &rows, int64_t heads) {
  Dims shape = rows.shape();
  Dims apart{heads, rows.dim(0).value / heads / 2, 2, -1};
  Tensor turned = transpose(reshape(rows, apart), {0, 2, 1, 3});
  return reshape(turned, shape);
}

void GgufModel::restoreRows(const LlamaConfig &config) {
  for (int64_t i = 0; i < config.num_hidden_layers; ++i)
    for (auto [name, heads] : {std::pair("attn_q", config.num_attention_heads),
                               std::pair("attn_k", config.num_key_value_heads)})
      for (const char *part : {"weight", "bias"}) {
        std::string each = fmt::format("blk.{}.{}.{}", i, name, part);
        if (!state.contains(each))
          continue;
        WeightInfo info = state.info(each, where);
        if (info.dims.empty() || info.dims[0] != heads * config.head_dim)
          metadata.fail(ErrorKind::io, fmt::format("{} has no {} rows", each,
                                                   heads * config.head_dim));
        Tensor rows = state.at(each, {}, where);
        state.set(each, halvesOfPairs(rows, heads).eval(where), where);
      }
}

/// The path of a tensor of llama.cpp's.
static std::optional<std::string> pathOf(const std::string &name) {
  static const auto &parts = *new std::map<std::string, std::string>{
      {"attn_norm", "input_layernorm"},
      {"attn_q", "self_attn.q_proj"},
      {"attn_k", "self_attn.k_proj"},
      {"attn_v", "self_attn.v_proj"},
      {"attn_output", "self_attn.o_proj"},
      {"attn_q_norm", "self_attn.q_norm"},
      {"attn_k_norm", "self_attn.k_norm"},
      {"ffn_norm", "post_attention_layernorm"},
      {"ffn_gate", "mlp.gate_proj"},
      {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"}};
  if (name == "token_embd.weight")
    return "model.embed_tokens.weight";
  if (name == "output_norm.weight")
    return "model.norm.weight";
  if (name == "output.weight")
    return "lm_head.weight";
  // blk.LAYER.PART.weight
  size_t layer = name.find('.') + 1, part = name.find('.', layer) + 1;
  size_t kind = name.rfind('.');
  if (!name.starts_with("blk.") || part == 0 || kind <= part)
    return {};
  auto found = parts.find(name.substr(part, kind - part));
  if (found == parts.end())
    return {};
  return fmt::format("model.layers.{}{}{}", name.substr(layer, part - layer),
                     found->second, name.substr(kind));
}

Llama GgufModel::make(FolderReport *report) {
  FolderReport result;
  result.architecture = architecture;
  result.weights = path;
  LlamaConfig config = readConfig();
  result.ignored_keys =
      metadata.finish(architecture + ".", options.ignored_keys);
  detail::DeviceScope scope(options.device.value_or(default_device()));
  Llama model(config, options.dtype.value_or(DType::f32), where);
  if (architecture == "llama")
    restoreRows(config);
  LoadReport loaded = load_state(
      model, state, {.map_key = pathOf, .strict = false, .mmap = options.mmap},
      where);
  requireAll(loaded, path, "its metadata", where);
  std::erase(loaded.unused, "rope_freqs.weight");
  model.eval();
  result.tensors = std::move(loaded);
  if (report)
    *report = std::move(result);
  return model;
}

Llama Llama::from_gguf(const std::string &path, const LoadOptions &options,
                       FolderReport *report, Where where) try {
  return GgufModel(path, options, where).make(report);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
