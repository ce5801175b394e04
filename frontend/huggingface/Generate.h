/// Greedy generation of text by a decoder with a cache.
#pragma once

#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/hf/KeyValueCache.h>

#include <functional>
#include <source_location>
#include <vector>

namespace sinter::hf {

/// Scores [batch, 1, word] of what follows ids [batch, position], which go into
/// the cache of the inputs.
using NextScores =
    std::function<Tensor(const Tensor &ids, const DecoderInputs &inputs)>;

/// ids, and behind them the words of the greatest scores.
Tensor generateWords(const Tensor &ids, const GenerateOptions &options,
                     const NextScores &next, const std::source_location &where);

/// What `hidden` gives for the last word.
template <typename M>
Tensor lastScores(const M &model, const Tensor &ids,
                  const DecoderInputs &inputs) {
  Tensor x = model.hidden(ids, inputs);
  return model.scores(narrow(x, 1, -1, Dim(1)));
}

} // namespace sinter::hf
