/// GPT-2: a decoder of words with learned places and one table of words for
/// both ends.
#pragma once

#include "tools/benchmarks/models/Heads.h"

#include <sinter/sinter.h>

#include <vector>

namespace models {
namespace sn = sinter;
using sn::Tensor;

struct Gpt2Block {
  int64_t heads;
  sn::nn::LayerNorm ln_1;
  sn::nn::Linear attn, attn_proj;
  sn::nn::LayerNorm ln_2;
  sn::nn::Linear fc, fc_proj;
  Gpt2Block(int64_t size, int64_t heads)
      : heads(heads), ln_1(size), attn(size, 3 * size), attn_proj(size, size),
        ln_2(size), fc(size, 4 * size), fc_proj(4 * size, size) {}

  Tensor forward(const Tensor &x) const {
    std::vector<Tensor> qkv = sn::chunk(attn(ln_1(x)), 3, -1);
    Tensor mixed = sn::scaled_dot_product_attention(
        inHeads(qkv[0], heads), inHeads(qkv[1], heads), inHeads(qkv[2], heads),
        {.causal = true});
    Tensor y = x + attn_proj(joined(mixed));
    return y + fc_proj(sn::gelu(fc(ln_2(y)), sn::GeluForm::tanh));
  }
  SINTER_MODULE(Gpt2Block, ln_1, attn, attn_proj, ln_2, fc, fc_proj)
};

struct Gpt2 {
  sn::nn::Embedding wte, wpe;
  std::vector<Gpt2Block> h;
  sn::nn::LayerNorm ln_f;
  Gpt2(int64_t words, int64_t places, int64_t size, int64_t heads,
       int64_t layers)
      : wte(words, size), wpe(places, size), ln_f(size) {
    for (int64_t i = 0; i < layers; ++i)
      h.emplace_back(size, heads);
  }

  /// Scores [batch, position, words] of ids [batch, position].
  Tensor forward(const Tensor &ids) const {
    Tensor x = wte(ids) + wpe(sn::arange(ids.dim(1)));
    for (const Gpt2Block &block : h)
      x = block(x);
    return sn::matmul(ln_f(x), sn::transpose(wte.weight, {1, 0}));
  }
  SINTER_MODULE(Gpt2, wte, wpe, h, ln_f)
};

} // namespace models
