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
  sn::nn::LayerNorm ln1;
  sn::nn::Linear attn, gather;
  sn::nn::LayerNorm ln2;
  sn::nn::Linear fc, contract;
  Gpt2Block(int64_t size, int64_t heads)
      : heads(heads), ln1(size), attn(size, 3 * size), gather(size, size),
        ln2(size), fc(size, 4 * size), contract(4 * size, size) {}

  Tensor forward(const Tensor &x) const {
    std::vector<Tensor> qkv = sn::chunk(attn(ln1(x)), 3, -1);
    Tensor mixed = sn::scaled_dot_product_attention(
        inHeads(qkv[0], heads), inHeads(qkv[1], heads), inHeads(qkv[2], heads),
        {.causal = true});
    Tensor y = x + gather(joined(mixed));
    return y + contract(sn::gelu(fc(ln2(y)), sn::GeluForm::tanh));
  }
  SINTER_MODULE(Gpt2Block, ln1, attn, gather, ln2, fc, contract)
};

struct Gpt2 {
  sn::nn::Embedding wte, wpe;
  std::vector<Gpt2Block> h;
  sn::nn::LayerNorm lnf;
  Gpt2(int64_t words, int64_t places, int64_t size, int64_t heads,
       int64_t layers)
      : wte(words, size), wpe(places, size), lnf(size) {
    for (int64_t i = 0; i < layers; ++i)
      h.emplace_back(size, heads);
  }

  /// Scores [batch, position, words] of ids [batch, position].
  Tensor forward(const Tensor &ids) const {
    Tensor x = wte(ids) + wpe(sn::arange(ids.dim(1)));
    for (const Gpt2Block &block : h)
      x = block(x);
    return sn::matmul(lnf(x), sn::transpose(wte.weight, {1, 0}));
  }
  SINTER_MODULE(Gpt2, wte, wpe, h, lnf)
};

} // namespace models
