/// Llama: a stack of decoder layers with rotary positions, keys and values that
/// groups of heads share, RMS norms and SwiGLU; and its cache of keys.
#pragma once

#include "tools/benchmarks/models/Heads.h"

#include <sinter/sinter.h>

#include <cmath>
#include <vector>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct LlamaSizes {
  int64_t size, heads, kvHeads, ffn, layers, places;
};

/// Keys and values [batch, kv head, place, size of a head] of a layer.
struct LlamaCache {
  Tensor keys, values;
};

/// Cosines and sines of the positions' angles, [places, size of a head / 2].
struct RotaryTables {
  Tensor cos, sin;
  RotaryTables(int64_t places, int64_t size) {
    std::vector<float> cosines, sines;
    for (int64_t place = 0; place < places; ++place)
      for (int64_t i = 0; i < size / 2; ++i) {
        double angle =
            double(place) * std::pow(10000.0, -2.0 * double(i) / double(size));
        cosines.push_back(float(std::cos(angle)));
        sines.push_back(float(std::sin(angle)));
      }
    cos = sn::tensor(cosines, {places, size / 2});
    sin = sn::tensor(sines, {places, size / 2});
  }

  /// Turns x [batch, head, position, size] from place `first` on.
  Tensor forward(const Tensor &x, int64_t first) const {
    int64_t count = x.dim(2).value;
    return sn::rotary_embedding(x, sn::narrow(cos, 0, first, count),
                                sn::narrow(sin, 0, first, count),
                                sn::RotaryPairs::halves);
  }
  SINTER_MODULE(RotaryTables, cos, sin)
};

struct LlamaLayer {
  int64_t heads, kvHeads;
  sn::nn::RMSNorm norm1;
  sn::nn::Linear wq, wk, wv, wo;
  sn::nn::RMSNorm norm2;
  sn::nn::Linear w1, w2, w3;
  explicit LlamaLayer(const LlamaSizes &s)
      : heads(s.heads), kvHeads(s.kvHeads), norm1(s.size, {.eps = 1e-5}),
        wq(s.size, s.size, {.bias = false}),
        wk(s.size, s.size / s.heads * s.kvHeads, {.bias = false}),
        wv(s.size, s.size / s.heads * s.kvHeads, {.bias = false}),
        wo(s.size, s.size, {.bias = false}), norm2(s.size, {.eps = 1e-5}),
        w1(s.size, s.ffn, {.bias = false}), w2(s.ffn, s.size, {.bias = false}),
        w3(s.size, s.ffn, {.bias = false}) {}

  Tensor rest(const Tensor &x, const Tensor &mixed) const {
    Tensor y = x + wo(joined(mixed));
    Tensor n = norm2(y);
    return y + w2(sn::silu(w1(n)) * w3(n));
  }

  Tensor forward(const Tensor &x, const RotaryTables &rotary) const {
    Tensor n = norm1(x);
    Tensor q = rotary.forward(inHeads(wq(n), heads), 0);
    Tensor k = rotary.forward(inHeads(wk(n), kvHeads), 0);
    Tensor v = inHeads(wv(n), kvHeads);
    return rest(x, sn::scaled_dot_product_attention(
                       q, k, v, {.causal = true, .enable_gqa = true}));
  }

  /// The next token, x [batch, 1, size], of which the cache takes key and
  /// value.
  Tensor decode(const Tensor &x, const RotaryTables &rotary, LlamaCache &cache,
                int64_t position) const {
    Tensor n = norm1(x);
    Tensor q = rotary.forward(inHeads(wq(n), heads), position);
    Tensor k = rotary.forward(inHeads(wk(n), kvHeads), position);
    Tensor v = inHeads(wv(n), kvHeads);
    cache.keys = sn::slice_assign(cache.keys, k, {0, 0, position, 0});
    cache.values = sn::slice_assign(cache.values, v, {0, 0, position, 0});
    Tensor seen = sn::arange(cache.keys.dim(2)) <= position;
    return rest(x, sn::scaled_dot_product_attention(
                       q, cache.keys, cache.values,
                       {.mask = sn::unsqueeze(seen, 0), .enable_gqa = true}));
  }
  SINTER_MODULE(LlamaLayer, norm1, wq, wk, wv, wo, norm2, w1, w2, w3)
};

struct Llama {
  LlamaSizes sizes;
  RotaryTables rotary;
  std::vector<LlamaLayer> layers;
  sn::nn::RMSNorm norm;
  explicit Llama(const LlamaSizes &s)
      : sizes(s), rotary(s.places, s.size / s.heads),
        norm(s.size, {.eps = 1e-5}) {
    for (int64_t i = 0; i < s.layers; ++i)
      layers.emplace_back(s);
  }

  /// x [batch, position, size], from the first position on.
  Tensor forward(const Tensor &x) const {
    Tensor y = x;
    for (const LlamaLayer &layer : layers)
      y = layer(y, rotary);
    return norm(y);
  }
  Tensor decode(const Tensor &x, std::vector<LlamaCache> &caches,
                int64_t position) const {
    Tensor y = x;
    for (size_t i = 0; i < layers.size(); ++i)
      y = layers[i].decode(y, rotary, caches[i], position);
    return norm(y);
  }
  SINTER_MODULE(Llama, rotary, layers, norm)
};

} // namespace models
