/// Parts that the kinds of models have in common.
#include "frontend/huggingface/Heads.h"

#include "frontend/Capture.h"
#include "frontend/Raise.h"

#include <sinter/Creation.h>

#include <fmt/format.h>

namespace sinter::hf {

Tensor inHeads(const Tensor &x, int64_t heads) {
  return transpose(unflatten(x, -1, {heads, -1}), {0, 2, 1, 3});
}

Tensor joined(const Tensor &heads) {
  return flatten(transpose(heads, {0, 2, 1, 3}), 2);
}

Tensor dropped(const nn::Dropout &dropout, const Tensor &x) {
  return dropout.p > 0 ? dropout(x) : x;
}

Tensor wordScores(const Tensor &x, const Param &table,
                  const std::optional<nn::Linear> &head) {
  return head ? (*head)(x) : matmul(x, transpose(table, {1, 0}));
}

std::optional<Tensor> seenWords(const Tensor &mask) {
  if (!mask.defined())
    return {};
  Tensor seen = mask.dtype() == DType::boolean ? mask : mask != 0;
  return unsqueeze(unsqueeze(seen, 1), 1);
}

Tensor placesOf(const Tensor &ids, const DecoderInputs &inputs) {
  if (inputs.position_ids.defined())
    return inputs.position_ids;
  Tensor places = arange(ids.dim(1), {DType::i64, ids.device()});
  return inputs.cache ? places + scalar(inputs.cache->length()) : places;
}

void beginDecoding(const Tensor &ids, const DecoderInputs &inputs,
                   const SourceLine &where) {
  auto fail = [&](ErrorKind kind, const std::string &why) {
    detail::raise(makeError(kind, "forward: " + why), where);
  };
  if (ids.rank() != 2)
    fail(ErrorKind::invalid_argument,
         fmt::format("ids are [batch, position], not of {} axes", ids.rank()));
  if (!inputs.cache)
    return;
  if (detail::Capture::current())
    fail(ErrorKind::unsupported, "a cache in a function that is recorded");
  inputs.cache->check(ids.dim(1).value, where);
  if (inputs.attention_mask.defined())
    inputs.cache->mask(inputs.attention_mask);
}

/// Which keys each query sees: [query, key].
static Tensor seenBack(const Tensor &queries, Dim keys, int64_t window) {
  Tensor query = unsqueeze(queries, 1);
  Tensor key = unsqueeze(arange(keys, {DType::i64, queries.device()}), 0);
  Tensor seen = key <= query;
  return window ? seen && key > query - window : seen;
}

Tensor attendBack(const Tensor &query, const Tensor &key, const Tensor &value,
                  const DecoderInputs &inputs,
                  const DecoderAttention &options) {
  AttentionOptions attention{.scale = options.scale, .enable_gqa = true};
  Dim count = query.dim(2);
  Tensor places = arange(count, {DType::i64, query.device()});
  if (KeyValueCache *cache = inputs.cache) {
    const KeyValueCache::Layer &all = cache->append(options.layer, key, value);
    if (cache->length() > 0) {
      attention.mask = seenBack(places + scalar(cache->length()),
                                Dim(cache->capacity()), options.window);
      if (std::optional<Tensor> words = seenWords(cache->seen()))
        attention.mask = *attention.mask && *words;
      return scaled_dot_product_attention(query, all.keys, all.values,
                                          attention);
    }
  }
  attention.causal = true;
  attention.mask = seenWords(inputs.attention_mask);
  bool isWhole = count.isConstant() && count.value <= options.window;
  if (options.window && !isWhole) {
    Tensor seen = seenBack(places, count, options.window);
    attention.mask = attention.mask ? *attention.mask && seen : seen;
  }
  return scaled_dot_product_attention(query, key, value, attention);
}

} // namespace sinter::hf
