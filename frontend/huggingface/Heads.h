/// Parts that the kinds of models have in common.
#pragma once

#include <sinter/BasicOps.h>
#include <sinter/Shaping.h>
#include <sinter/hf/KeyValueCache.h>
#include <sinter/nn/Dropout.h>
#include <sinter/nn/Linear.h>

#include <cstdint>
#include <optional>

namespace sinter::hf {

/// [batch, position, size] as [batch, head, position, size / heads].
Tensor inHeads(const Tensor &x, int64_t heads);
/// The heads side by side again.
Tensor joined(const Tensor &heads);

/// x in training, with some of it 0.
Tensor dropped(const nn::Dropout &dropout, const Tensor &x);

/// Scores of words: x by the rows of a table, or by a head of its own.
Tensor wordScores(const Tensor &x, const Param &table,
                  const std::optional<nn::Linear> &head);

/// A mask [batch, position] as attention takes it: [batch, 1, 1, position],
/// true where a word is seen. None of an empty one.
std::optional<Tensor> seenWords(const Tensor &mask);

/// The positions of ids [batch, position], integers.
Tensor placesOf(const Tensor &ids, const DecoderInputs &inputs);

/// Throws where inputs of a decoder do not go together, and tells the cache
/// which words are seen.
void beginDecoding(const Tensor &ids, const DecoderInputs &inputs,
                   const SourceLine &where);

struct DecoderAttention {
  size_t layer = 0;
  int64_t window = 0; ///< how many words back are seen; 0: all
  std::optional<double> scale = {};
};
/// Each word sees those before it and itself. Tensors are [batch, head,
/// position, size of a head]; keys and values go into the cache.
Tensor attendBack(const Tensor &query, const Tensor &key, const Tensor &value,
                  const DecoderInputs &inputs, const DecoderAttention &options);

} // namespace sinter::hf
