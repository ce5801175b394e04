/// ViT: an encoder of images, and a head.
#include "frontend/huggingface/Configs.h"
#include "frontend/huggingface/Heads.h"

#include <sinter/Arguments.h>

#include <fmt/format.h>

namespace sinter::hf {

using Where = std::source_location;

VitEmbeddings::VitEmbeddings(const VitConfig &config, DType dtype)
    : dropout(config.hidden_dropout_prob) {
  auto [height, width] = config.image_size;
  auto [patchHeight, patchWidth] = config.patch_size;
  int64_t patches = (height / patchHeight) * (width / patchWidth);
  int64_t size = config.hidden_size;
  ParamOptions options{.dtype = dtype};
  cls_token = Param("cls_token", {1, 1, size}, init::normal(0, 0.02), options);
  position_embeddings = Param("position_embeddings", {1, patches + 1, size},
                              init::normal(0, 0.02), options);
  patch_embeddings.projection =
      nn::Conv2d(config.num_channels, size, {patchHeight, patchWidth},
                 {.stride = {patchHeight, patchWidth}, .dtype = dtype});
}

Tensor VitEmbeddings::forward(const Tensor &images) const {
  Tensor patches = flatten(patch_embeddings.projection(images), 2);
  Tensor first = expand(cls_token, {images.dim(0), -1, -1});
  Tensor x = concat({first, transpose(patches, {0, 2, 1})}, 1);
  return dropped(dropout, x + position_embeddings);
}

VitSelfAttention::VitSelfAttention(const VitConfig &config, DType dtype)
    : heads(config.num_attention_heads) {
  int64_t size = config.hidden_size;
  nn::LinearOptions options{.bias = config.qkv_bias, .dtype = dtype};
  query = nn::Linear(size, size, options);
  key = nn::Linear(size, size, options);
  value = nn::Linear(size, size, options);
}

Tensor VitSelfAttention::forward(const Tensor &x) const {
  return joined(scaled_dot_product_attention(inHeads(query(x), heads),
                                             inHeads(key(x), heads),
                                             inHeads(value(x), heads)));
}

static nn::LayerNorm normOf(const VitConfig &config, DType dtype) {
  return nn::LayerNorm(config.hidden_size,
                       {.eps = config.layer_norm_eps, .dtype = dtype});
}

VitLayer::VitLayer(const VitConfig &config, DType dtype)
    : layernorm_before(normOf(config, dtype)),
      layernorm_after(normOf(config, dtype)),
      dropout(config.hidden_dropout_prob), activation(config.hidden_act) {
  int64_t size = config.hidden_size, wide = config.intermediate_size;
  attention.attention = VitSelfAttention(config, dtype);
  attention.output.dense = nn::Linear(size, size, {.dtype = dtype});
  intermediate.dense = nn::Linear(size, wide, {.dtype = dtype});
  output.dense = nn::Linear(wide, size, {.dtype = dtype});
}

Tensor VitLayer::forward(const Tensor &x) const {
  Tensor attended =
      attention.output.dense(attention.attention(layernorm_before(x)));
  Tensor y = x + dropped(dropout, attended);
  Tensor wide = activate(intermediate.dense(layernorm_after(y)), activation);
  return y + dropped(dropout, output.dense(wide));
}

/// Throws where numbers of a config do not go together.
static void check(const VitConfig &config, const SourceLine &where) {
  detail::Arguments("vit", where)
      .positive("patch_size", config.patch_size[0])
      .positive("patch_size", config.patch_size[1])
      .atLeast(config.patch_size[0], "image_size", config.image_size[0])
      .atLeast(config.patch_size[1], "image_size", config.image_size[1])
      .positive("num_attention_heads", config.num_attention_heads)
      .divides("hidden_size", config.hidden_size, "num_attention_heads",
               config.num_attention_heads);
}

Vit::Vit(const VitConfig &given, DType dtype, bool hasPooler, Where where) try
    : config(given) {
  check(config, where);
  embeddings = VitEmbeddings(config, dtype);
  for (int64_t i = 0; i < config.num_hidden_layers; ++i)
    encoder.layer.emplace_back(config, dtype);
  layernorm = normOf(config, dtype);
  int64_t pooled = config.pooler_output_size ? config.pooler_output_size
                                             : config.hidden_size;
  if (hasPooler)
    pooler = VitDense{
        nn::Linear(config.hidden_size, pooled, {.dtype = dtype}, where)};
} catch (...) {
  detail::raiseExhausted(where);
}

VitOutput Vit::forward(const Tensor &images) const try {
  Arg operand(images);
  const auto &[height, width] = config.image_size;
  if (images.rank() != 4 || images.dim(1).value != config.num_channels ||
      images.dim(2).value != height || images.dim(3).value != width)
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("forward: images are [batch,{},{},{}], not {}",
                              config.num_channels, height, width,
                              graph::typeString(*images.node()))),
        operand.where);
  Tensor x = embeddings(images);
  for (const VitLayer &layer : encoder.layer)
    x = layer(x);
  VitOutput output{.last_hidden_state = layernorm(x), .pooler_output = {}};
  if (pooler)
    output.pooler_output =
        activate(pooler->dense(select(output.last_hidden_state, 1, 0)),
                 config.pooler_act);
  return output;
} catch (...) {
  detail::raiseExhausted({});
}

VitClassifier::VitClassifier(const VitConfig &config, DType dtype,
                             Where where) try
    : vit(config, dtype, /*pooler=*/false, where),
      classifier(config.hidden_size, config.num_labels, {.dtype = dtype}) {
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor VitClassifier::forward(const Tensor &images) const try {
  return classifier(select(vit(images).last_hidden_state, 1, 0));
} catch (...) {
  detail::raiseExhausted({});
}

//===- Folders ------------------------------------------------------------===//

/// Six Linears, three of which may have no bias, and two norms.
static constexpr int64_t tensorsOfLayer = 13;

VitConfig readVitConfig(Folder &folder) {
  constexpr int64_t mostPixels = int64_t(1) << 14, mostChannels = 32;
  folder.requireType({"vit"});
  ConfigReader &config = folder.config();
  VitConfig c;
  c.hidden_size = config.size("hidden_size", 768, mostElements);
  c.num_hidden_layers = config.size("num_hidden_layers", 12, mostLayers);
  c.num_attention_heads = config.size("num_attention_heads", 12, mostHeads);
  if (c.hidden_size % c.num_attention_heads != 0)
    config.refuse("num_attention_heads",
                  fmt::format("is {}, which does not divide the hidden_size {}",
                              c.num_attention_heads, c.hidden_size));
  c.intermediate_size = config.size("intermediate_size", 3072, mostElements);
  auto [height, width] = config.area("image_size", 224, mostPixels);
  auto [patchHeight, patchWidth] = config.area("patch_size", 16, mostPixels);
  if (patchHeight > height || patchWidth > width)
    config.refuse("patch_size", "is larger than image_size");
  c.image_size = {height, width};
  c.patch_size = {patchHeight, patchWidth};
  c.num_channels = config.size("num_channels", 3, mostChannels);
  c.hidden_act = config.activation("hidden_act", Activation::gelu);
  c.layer_norm_eps = config.number("layer_norm_eps", 1e-12, 0, 1);
  c.hidden_dropout_prob = config.probability("hidden_dropout_prob", 0);
  c.qkv_bias = config.flag("qkv_bias", true);
  c.pooler_output_size =
      config.size("pooler_output_size", mostElements).value_or(0);
  c.pooler_act = config.activation("pooler_act", Activation::tanh);
  std::optional<int64_t> number = config.size("num_labels", mostElements);
  c.num_labels = config.members("id2label").value_or(number.value_or(2));
  config.ignore({"attention_probs_dropout_prob", "encoder_stride"});
  folder.finishConfig();
  folder.checkLayers("num_hidden_layers", c.num_hidden_layers, tensorsOfLayer);
  return c;
}

Vit makeVit(Folder &folder) {
  VitConfig config = readVitConfig(folder);
  bool pooler = folder.has("pooler.dense.weight", "vit.");
  return fromFolder<Vit>(
      folder, config, "vit.",
      [&](const VitConfig &c, DType dtype) { return Vit(c, dtype, pooler); });
}

VitClassifier makeVitClassifier(Folder &folder) {
  return fromFolder<VitClassifier>(
      folder, readVitConfig(folder), "vit.",
      [](const VitConfig &c, DType dtype) { return VitClassifier(c, dtype); });
}

Vit Vit::from_folder(const std::string &path, const LoadOptions &options,
                     FolderReport *report, Where where) try {
  Folder folder(path, options, report, where);
  return makeVit(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

VitClassifier VitClassifier::from_folder(const std::string &path,
                                         const LoadOptions &options,
                                         FolderReport *report,
                                         Where where) try {
  Folder folder(path, options, report, where);
  return makeVitClassifier(folder);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::hf
