/// ViT: an encoder of images. Names of parameters are those of transformers'
/// files.
#pragma once

#include <sinter/hf/Activation.h>
#include <sinter/hf/Folder.h>
#include <sinter/nn/Conv.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/LayerNorm.h>
#include <sinter/nn/Linear.h>

#include <array>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::hf {

struct VitConfig {
  int64_t hidden_size = 768;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t intermediate_size = 3072;
  std::array<int64_t, 2> image_size = {224, 224}; ///< height, width
  std::array<int64_t, 2> patch_size = {16, 16};
  int64_t num_channels = 3;
  Activation hidden_act = Activation::gelu;
  double layer_norm_eps = 1e-12;
  double hidden_dropout_prob = 0;
  bool qkv_bias = true;
  int64_t pooler_output_size = 0; ///< 0: hidden_size
  Activation pooler_act = Activation::tanh;
  int64_t num_labels = 2;
};

struct VitPatches {
  nn::Conv2d projection;

  SINTER_MODULE(VitPatches, projection)
};

class VitEmbeddings {
public:
  VitEmbeddings() = default;
  VitEmbeddings(const VitConfig &config, DType dtype);
  Tensor forward(const Tensor &images) const;

  Param cls_token, position_embeddings;
  VitPatches patch_embeddings;
  nn::Dropout dropout;

  SINTER_MODULE(VitEmbeddings, cls_token, position_embeddings, patch_embeddings,
                dropout)
};

class VitSelfAttention {
public:
  VitSelfAttention() = default;
  VitSelfAttention(const VitConfig &config, DType dtype);
  Tensor forward(const Tensor &x) const;

  nn::Linear query, key, value;
  int64_t heads = 1;

  SINTER_MODULE(VitSelfAttention, query, key, value, heads)
};

/// A Linear that is called `dense`.
struct VitDense {
  nn::Linear dense;

  SINTER_MODULE(VitDense, dense)
};

struct VitAttention {
  VitSelfAttention attention;
  VitDense output;

  SINTER_MODULE(VitAttention, attention, output)
};

class VitLayer {
public:
  VitLayer() = default;
  VitLayer(const VitConfig &config, DType dtype);
  Tensor forward(const Tensor &x) const;

  VitAttention attention;
  VitDense intermediate, output;
  nn::LayerNorm layernorm_before, layernorm_after;
  nn::Dropout dropout;
  Activation activation = Activation::gelu;

  SINTER_MODULE(VitLayer, attention, intermediate, output, layernorm_before,
                layernorm_after, dropout, activation)
};

struct VitEncoder {
  std::vector<VitLayer> layer;

  SINTER_MODULE(VitEncoder, layer)
};

struct VitOutput {
  Tensor last_hidden_state; ///< [batch, 1 + patch, size]
  Tensor pooler_output;     ///< [batch, size]; empty without a pooler
};

/// `ViTModel`. Images [batch, channel, height, width] are of the size that the
/// config says, and normalized as the model was trained with. Attention's own
/// dropout is not applied in training.
class Vit {
public:
  using Where = std::source_location;

  Vit() = default;
  explicit Vit(const VitConfig &config, DType dtype = DType::f32,
               bool pooler = true, Where where = Where::current());
  /// A pooler is there where the folder has one.
  static Vit from_folder(const std::string &path,
                         const LoadOptions &options = {},
                         FolderReport *report = nullptr,
                         Where where = Where::current());

  VitOutput forward(const Tensor &images) const;

  VitConfig config;
  VitEmbeddings embeddings;
  VitEncoder encoder;
  nn::LayerNorm layernorm;
  std::optional<VitDense> pooler;

  SINTER_MODULE(Vit, embeddings, encoder, layernorm, pooler)
};

/// `ViTForImageClassification`: scores [batch, label].
class VitClassifier {
public:
  using Where = std::source_location;

  VitClassifier() = default;
  explicit VitClassifier(const VitConfig &config, DType dtype = DType::f32,
                         Where where = Where::current());
  static VitClassifier from_folder(const std::string &path,
                                   const LoadOptions &options = {},
                                   FolderReport *report = nullptr,
                                   Where where = Where::current());

  Tensor forward(const Tensor &images) const;

  Vit vit;
  nn::Linear classifier;

  SINTER_MODULE(VitClassifier, vit, classifier)
};

} // namespace sinter::hf
