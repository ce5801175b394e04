/// Folder: config.json and the weights of a Hugging Face folder, opened.
#include "frontend/huggingface/Folder.h"

#include "runtime/files/MappedFile.h"

#include <sinter/BasicOps.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace sinter::hf {

using runtime::json::Kind;

/// What one that makes models keeps in config.json for himself, or for what is
/// done before and after the network.
static void ignoreCommon(ConfigReader &config) {
  config.ignore({"_name_or_path", "_commit_hash", "transformers_version",
                 "transformers.js_config", "_attn_implementation",
                 "_attn_implementation_autoset", "attn_implementation",
                 "_flash_attn_2_enabled", "unsloth_version", "unsloth_fixed",
                 "name_or_path", "model_name", "language", "license"});
  config.ignore({"bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id",
                 "cls_token_id", "mask_token_id", "unk_token_id",
                 "decoder_start_token_id", "forced_bos_token_id",
                 "forced_eos_token_id", "forced_decoder_ids", "suppress_tokens",
                 "begin_suppress_tokens", "tokenizer_class", "prefix"});
  config.ignore({"id2label", "label2id", "num_labels", "_num_labels"});
  config.ignore({"problem_type", "finetuning_task", "task_specific_params",
                 "initializer_range", "initializer_factor",
                 "gradient_checkpointing"});
  config.ignore({"use_cache", "output_past", "output_attentions",
                 "output_hidden_states", "output_scores", "return_dict",
                 "return_dict_in_generate", "use_return_dict", "torchscript",
                 "use_bfloat16", "tf_legacy_loss", "chunk_size_feed_forward"});
  config.ignore({"max_length", "min_length", "do_sample", "early_stopping",
                 "num_beams", "num_beam_groups", "diversity_penalty",
                 "temperature", "top_k", "top_p", "typical_p"});
  config.ignore({"repetition_penalty", "length_penalty", "bad_words_ids",
                 "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
                 "num_return_sequences", "remove_invalid_values",
                 "exponential_decay_length_penalty"});
}

static runtime::json::Value readObject(const std::string &path,
                                       const SourceLine &where) {
  auto file = detail::unwrap(runtime::MappedFile::open(path), where);
  std::span<const std::byte> bytes = file.bytes();
  Result<runtime::json::Value> parsed = runtime::json::parse(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!parsed)
    detail::raise(
        makeError(ErrorKind::io, path + ": " + parsed.error().message), where);
  if (!parsed->is(Kind::object))
    detail::raise(
        makeError(ErrorKind::io, fmt::format("{}: holds {}, no object", path,
                                             describe(*parsed))),
        where);
  return std::move(*parsed);
}

Folder::Folder(const std::string &path, const LoadOptions &options,
               FolderReport *report, const SourceLine &where)
    : options(options), report(report), where(where) {
  std::string file = path + "/config.json";
  object = readObject(file, where);
  reader.emplace(object, file, where);
  type = reader->text("model_type", "");
  if (type.empty())
    reader->refuse("model_type", "is missing");
  std::vector<std::string> names = reader->texts("architectures");
  if (!names.empty())
    result.architecture = names.front();
  findWeights(path);
  readDType();
}

void Folder::requireType(std::initializer_list<std::string_view> types) const {
  if (std::ranges::count(types, type) == 0)
    reader->lack("model_type", fmt::format("is \"{}\"; this module is for {}",
                                           type, fmt::join(types, ", ")));
}

void Folder::findWeights(const std::string &path) {
  constexpr const char *names[] = {
      "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
      "pytorch_model.bin.index.json"};
  for (const char *name : names) {
    std::string file = path + "/" + name;
    std::error_code none;
    if (!std::filesystem::exists(file, none))
      continue;
    result.weights = file;
    state = read_state(file, {}, where);
    return;
  }
  detail::raise(makeError(ErrorKind::io, fmt::format("{}: has none of {}", path,
                                                     fmt::join(names, ", "))),
                where);
}

static std::optional<DType> dtypeNamed(std::string_view name) {
  if (name.starts_with("torch."))
    name.remove_prefix(6);
  if (name == "float32")
    return DType::f32;
  if (name == "float16")
    return DType::f16;
  if (name == "bfloat16")
    return DType::bf16;
  if (name == "float64")
    return DType::f64;
  return {};
}

void Folder::readDType() {
  for (const std::string &name : state.names())
    if (WeightInfo info = state.info(name, where); isFloat(info.dtype)) {
      element = info.dtype;
      break;
    }
  // The key's older name is the second.
  for (const char *key : {"dtype", "torch_dtype"}) {
    if (!reader->has(key) || options.dtype) {
      reader->ignore({key});
      continue;
    }
    std::string name = reader->text(key, "");
    std::optional<DType> known = dtypeNamed(name);
    if (!known)
      reader->lack(key, fmt::format("is \"{}\"; parameters are float32, "
                                    "float16, bfloat16 or float64",
                                    name));
    element = *known;
  }
  element = options.dtype.value_or(element);
}

void Folder::finishConfig() {
  ignoreCommon(*reader);
  result.ignored_keys = reader->finish(options.ignored_keys);
}

std::optional<std::string> Folder::find(std::string_view name,
                                        std::string_view prefix) const {
  std::vector<std::string> names{std::string(name),
                                 fmt::format("{}{}", prefix, name)};
  if (name.starts_with(prefix))
    names.emplace_back(name.substr(prefix.size()));
  for (std::string &each : names)
    if (state.contains(each))
      return std::move(each);
  return {};
}

bool Folder::areTied(std::string_view table, std::string_view head,
                     std::string_view prefix) {
  std::optional<std::string> own = find(table, prefix),
                             other = find(head, prefix);
  if (!other)
    return true;
  if (!own) {
    headName = *other;
    headPath = table;
    return true;
  }
  WeightInfo first = state.info(*own, where),
             second = state.info(*other, where);
  if (first.type != second.type || first.dims != second.dims)
    return false;
  Tensor difference = state.at(*own, {}, where) != state.at(*other, {}, where);
  return !any(difference).item<bool>();
}

void Folder::checkLayers(std::string_view key, int64_t layers,
                         int64_t tensorsOfLayer) const {
  if (layers > static_cast<int64_t>(state.size()) / tensorsOfLayer)
    detail::raise(
        makeError(ErrorKind::io,
                  fmt::format("{}: '{}' is {}, but {} has {} "
                              "tensors, and a layer takes {}",
                              reader->file(), key, layers, result.weights,
                              state.size(), tensorsOfLayer)),
        where);
}

namespace {
/// Finds the parameter that a name of transformers' means.
class Names {
public:
  Names(const detail::Fields &fields, std::string_view prefix)
      : prefix(prefix) {
    for (const auto &[path, param] : fields.params)
      paths.insert(path);
  }

  std::string pathOf(std::string name) const {
    // What TensorFlow calls the parameters of a norm.
    for (auto [old, now] : {std::pair("LayerNorm.gamma", "LayerNorm.weight"),
                            std::pair("LayerNorm.beta", "LayerNorm.bias")})
      if (name.ends_with(old))
        name.replace(name.size() - std::string_view(old).size(),
                     std::string::npos, now);
    if (paths.contains(name))
      return name;
    if (paths.contains(prefix + name))
      return prefix + name;
    if (!prefix.empty() && name.starts_with(prefix) &&
        paths.contains(name.substr(prefix.size())))
      return name.substr(prefix.size());
    return name;
  }

private:
  std::set<std::string> paths;
  std::string prefix;
};
} // namespace

LoadStateOptions Folder::rulesFor(const detail::Fields &fields,
                                  std::string_view prefix) {
  auto names = std::make_shared<const Names>(fields, prefix);
  for (const std::string &name : state.names())
    if (std::string path = names->pathOf(name); path != name)
      result.renamed.push_back(name + " -> " + path);
  auto map = [names, head = headName, path = headPath](
                 const std::string &name) -> std::optional<std::string> {
    return !head.empty() && name == head ? path : names->pathOf(name);
  };
  return {.map_key = map, .strict = false, .mmap = options.mmap};
}

/// `what: a, b, c and 7 more`.
static void list(std::string &text, std::string_view what,
                 std::vector<std::string> names, size_t most) {
  if (names.empty())
    return;
  size_t more = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - more);
  if (!text.empty())
    text += "; ";
  text += fmt::format("{}: {}", what, fmt::join(names, ", "));
  if (more)
    text += fmt::format(" and {} more", more);
}

void requireAll(const LoadReport &loaded, const std::string &weights,
                const std::string &config, const SourceLine &where) {
  std::vector<std::string> mismatched;
  for (const LoadReport::Mismatch &each : loaded.mismatched)
    mismatched.push_back(fmt::format("{} is {}, the module has {}", each.path,
                                     each.file, each.module));
  constexpr size_t all = 1000;
  std::string problems;
  list(problems, "missing", loaded.missing, all);
  list(problems, "mismatched", mismatched, all);
  if (!problems.empty())
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("{} does not fit {}: {}", weights,
                                        config, problems)),
                  where);
}

void Folder::finish(LoadReport loaded) {
  requireAll(loaded, result.weights, reader->file(), where);
  result.tensors = std::move(loaded);
  if (report)
    *report = std::move(result);
}

std::string FolderReport::text() const try {
  std::string text = fmt::format(
      "{} of {}\n", architecture.empty() ? "a model" : architecture, weights);
  std::string more;
  constexpr size_t most = 10;
  list(more, "keys without effect", ignored_keys, most);
  list(more, "renamed", renamed, most);
  return text + more + (more.empty() ? "" : "\n") + tensors.text(most);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::hf
