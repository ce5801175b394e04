/// Bert: an encoder of sentences of several lengths, and a classifier of them.
#pragma once

#include <sinter/sinter.h>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct Bert {
  sn::nn::Embedding words, places, types;
  sn::nn::LayerNorm norm;
  sn::nn::TransformerEncoder encoder;
  sn::nn::Linear pooler, classifier;
  Bert(int64_t vocabulary, int64_t longest, int64_t size, int64_t heads,
       int64_t layers)
      : words(vocabulary, size), places(longest, size), types(2, size),
        norm(size, {.eps = 1e-12}),
        encoder(size, heads, layers,
                {.dim_feedforward = 4 * size,
                 .activation = sn::nn::Activation::gelu,
                 .layer_norm_eps = 1e-12}),
        pooler(size, size), classifier(size, 2) {}

  /// [n, position, size] of ids [n, position]; `padding` is true where a
  /// sentence has ended.
  Tensor forward(const Tensor &ids, const Tensor &padding) const {
    Tensor x = words(ids) + places(sn::arange(ids.dim(1))) +
               types(sn::zeros_like(ids));
    return encoder(norm(x), sn::AttentionOptions{}, padding);
  }
  /// Scores [n, 2] of sentences.
  Tensor classify(const Tensor &ids, const Tensor &padding) const {
    Tensor first = sn::select(forward(ids, padding), 1, 0);
    return classifier(sn::tanh(pooler(first)));
  }
  SINTER_MODULE(Bert, words, places, types, norm, encoder, pooler, classifier)
};

} // namespace models
