/// Vit: a transformer over the patches of an image.
#pragma once

#include <sinter/sinter.h>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct Vit {
  sn::nn::Conv2d patches;
  sn::Param token, places;
  sn::nn::TransformerEncoder encoder;
  sn::nn::Linear head;
  Vit(int64_t image, int64_t patch, int64_t size, int64_t heads, int64_t layers,
      int64_t classes)
      : patches(3, size, patch, {.stride = patch}),
        token("token", {1, 1, size}, sn::init::zeros()),
        places("places", {1, 1 + (image / patch) * (image / patch), size},
               sn::init::normal(0, 0.02)),
        encoder(size, heads, layers,
                {.dim_feedforward = 4 * size,
                 .activation = sn::nn::Activation::gelu,
                 .norm_first = true,
                 .layer_norm_eps = 1e-6},
                /*final_norm=*/true),
        head(size, classes) {}

  /// Scores [n, classes] of images [n, 3, height, width].
  Tensor forward(const Tensor &images) const {
    Tensor x = sn::transpose(sn::flatten(patches(images), 2), {0, 2, 1});
    Tensor first = sn::expand(token, {images.dim(0), -1, -1});
    Tensor y = encoder(sn::concat({first, x}, 1) + places);
    return head(sn::select(y, 1, 0));
  }
  SINTER_MODULE(Vit, patches, token, places, encoder, head)
};

} // namespace models
