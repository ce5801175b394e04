/// GPT-2, Llama, BERT and a layer of experts.
#include "tools/benchmarks/models/Bert.h"
#include "tools/benchmarks/models/Gpt2.h"
#include "tools/benchmarks/models/Llama.h"
#include "tools/benchmarks/models/Moe.h"
#include "tools/benchmarks/native/ModelWork.h"

using namespace bench;
using namespace models;

using Made = std::unique_ptr<Work>;

Made bench::makeGpt2(const Case &c) {
  int64_t batch = c.number("batch"), t = c.number("t");
  int64_t words = c.number("words");
  Gpt2 model = prepared(
      Gpt2(words, t, c.number("size"), c.number("heads"), c.number("layers")),
      c);
  Tensor ids = labelsOf({batch, t}, 1, words);
  if (!trains(c))
    return forwardOf(std::move(model), [=](const Gpt2 &m) { return m(ids); });
  Tensor next = labelsOf({batch * t}, 2, words);
  return trainingOf(std::move(model), Trainer::adamw, [=](const Gpt2 &m) {
    return sn::cross_entropy(sn::flatten(m(ids), 0, 1), next);
  });
}

//===- Llama --------------------------------------------------------------===//

/// One token after the other; the first half of the cache is filled already,
/// and filled is where writing begins again.
static Made decoding(Llama model, const Case &c) {
  int64_t batch = c.number("batch"), places = c.number("places");
  LlamaSizes sizes = model.sizes;
  Tensor x = inputFor(c, {batch, 1, sizes.size}, 1);
  auto caches = std::make_shared<std::vector<LlamaCache>>();
  sn::Dims shape{batch, sizes.kvHeads, places, sizes.size / sizes.heads};
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    Tensor keys = inputFor(c, shape, 10 + 2 * layer);
    Tensor values = inputFor(c, shape, 11 + 2 * layer);
    caches->push_back({keys, values});
  }
  auto position = std::make_shared<int64_t>(places / 2);
  return std::make_unique<Calls>([=] {
    sn::no_grad guard;
    std::vector<Tensor> results{model.decode(x, *caches, *position)};
    for (const LlamaCache &cache : *caches)
      results.insert(results.end(), {cache.keys, cache.values});
    if (++*position == places)
      *position = places / 2;
    return results;
  });
}

Made bench::makeLlama(const Case &c) {
  bool decodes = c.text("do") == "decode";
  int64_t batch = c.number("batch"), t = c.number("t", 1);
  LlamaSizes sizes{.size = c.number("size"),
                   .heads = c.number("heads"),
                   .kvHeads = c.number("kv_heads"),
                   .ffn = c.number("ffn"),
                   .layers = c.number("layers"),
                   .places = decodes ? c.number("places") : t};
  Llama model = prepared(Llama(sizes), c);
  if (decodes)
    return decoding(std::move(model), c);
  Tensor x = inputFor(c, {batch, t, sizes.size}, 1);
  if (!trains(c))
    return forwardOf(std::move(model), [=](const Llama &m) { return m(x); });
  Tensor target = inputFor(c, {batch, t, sizes.size}, 2);
  return trainingOf(std::move(model), Trainer::adamw,
                    [=](const Llama &m) { return sn::mse_loss(m(x), target); });
}

//===- BERT ---------------------------------------------------------------===//

/// The last quarter of every second sentence is padding, of the last sentence
/// half.
static Tensor paddingOf(int64_t batch, int64_t t) {
  std::vector<bool> hidden;
  for (int64_t n = 0; n < batch; ++n) {
    int64_t length = n + 1 == batch ? t / 2 : n % 2 ? t * 3 / 4 : t;
    for (int64_t i = 0; i < t; ++i)
      hidden.push_back(i >= length);
  }
  return sn::tensor(hidden, {batch, t});
}

Made bench::makeBert(const Case &c) {
  int64_t batch = c.number("batch"), t = c.number("t");
  int64_t words = c.number("words");
  Bert model = prepared(Bert(words, c.number("longest"), c.number("size"),
                             c.number("heads"), c.number("layers")),
                        c);
  Tensor ids = labelsOf({batch, t}, 1, words);
  Tensor padding = paddingOf(batch, t);
  if (!trains(c))
    return forwardOf(std::move(model),
                     [=](const Bert &m) { return m(ids, padding); });
  Tensor kinds = labelsOf({batch}, 2, 2);
  return trainingOf(std::move(model), Trainer::adamw, [=](const Bert &m) {
    return sn::cross_entropy(m.classify(ids, padding), kinds);
  });
}

//===- Experts ------------------------------------------------------------===//

Made bench::makeMoe(const Case &c) {
  int64_t tokens = c.number("tokens"), size = c.number("size");
  Moe model = prepared(Moe(size, c.number("hidden"), c.number("experts")), c);
  Tensor x = inputFor(c, {tokens, size}, 1);
  if (!trains(c))
    return forwardOf(std::move(model), [=](const Moe &m) { return m(x); });
  Tensor target = inputFor(c, {tokens, size}, 2);
  return trainingOf(std::move(model), Trainer::adamw,
                    [=](const Moe &m) { return sn::mse_loss(m(x), target); });
}
