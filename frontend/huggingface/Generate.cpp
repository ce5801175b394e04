/// Greedy generation of text by a decoder with a cache.
#include "frontend/huggingface/Generate.h"

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/SourceScope.h>
#include <sinter/Transforms.h>

#include <algorithm>

namespace sinter::hf {

namespace {
/// A batch of texts that grow.
class Texts {
public:
  Texts(const Tensor &ids, const GenerateOptions &options,
        const SourceLine &where)
      : options(options), count(static_cast<size_t>(ids.dim(0).value)),
        ended(count) {
    std::vector<int64_t> all = ids.to_vector<int64_t>(where);
    size_t length = static_cast<size_t>(ids.dim(1).value);
    for (size_t i = 0; i < count; ++i)
      words.emplace_back(all.begin() + i * length,
                         all.begin() + (i + 1) * length);
  }

  /// Puts a word behind each text; those that have ended get none of these.
  void append(std::vector<int64_t> &next) {
    for (size_t i = 0; i < count; ++i) {
      if (ended[i])
        next[i] = options.eos.front();
      words[i].push_back(next[i]);
      ended[i] = ended[i] || std::ranges::count(options.eos, next[i]) > 0;
    }
  }
  bool haveEnded() const { return std::ranges::count(ended, false) == 0; }
  Tensor tensor(DeviceId device, const SourceLine &where) const {
    return sinter::tensor(words, {.device = device}, where);
  }

private:
  const GenerateOptions &options;
  size_t count;
  std::vector<std::vector<int64_t>> words;
  std::vector<bool> ended;
};

/// The positions of words among those that do not fill up.
class Positions {
public:
  Positions(const Tensor &mask, const Tensor &ids, const SourceLine &where)
      : isGiven(mask.defined()), device(ids.device()), where(where) {
    if (!isGiven)
      return;
    size_t batch = static_cast<size_t>(ids.dim(0).value);
    size_t length = static_cast<size_t>(ids.dim(1).value);
    if (mask.numel() != ids.numel() || mask.rank() != 2)
      fail("the mask is not of the shape of ids");
    std::vector<double> seen = mask.to_vector<double>(where);
    counts.resize(batch);
    for (size_t i = 0; i < seen.size(); ++i) {
      int64_t &count = counts[i / length];
      first.push_back(count);
      count += seen[i] != 0;
      if (i % length == length - 1 && seen[i] == 0)
        fail("a text has to end with a word; what fills up is on its left");
    }
  }

  /// Of what is read first, and of each word after it.
  Tensor next(int64_t batch) {
    if (!isGiven)
      return {};
    std::vector<int64_t> places = std::move(first);
    first.clear();
    if (places.empty()) {
      places = counts;
      for (int64_t &count : counts)
        ++count;
    }
    int64_t length = static_cast<int64_t>(places.size()) / batch;
    return tensor(places, {batch, length}, {.device = device}, where);
  }

private:
  [[noreturn]] void fail(const char *why) const {
    detail::raise(makeError(ErrorKind::invalid_argument,
                            std::string("generate: ") + why, "generate"),
                  where);
  }

  bool isGiven;
  DeviceId device;
  SourceLine where;
  std::vector<int64_t> first, counts;
};
} // namespace

Tensor generateWords(const Tensor &ids, const GenerateOptions &options,
                     const NextScores &next, const SourceLine &where) {
  detail::Arguments("generate", where)
      .atLeast(0, "max_new_tokens", options.max_new_tokens);
  if (ids.rank() != 2 || ids.numel() == 0)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "generate: ids are [batch, position], at least one",
                            "generate"),
                  where);
  no_grad guard;
  detail::SourceScope scope(where);
  Texts texts(ids, options, where);
  if (options.max_new_tokens == 0)
    return texts.tensor(ids.device(), where);
  // Texts of similar lengths share a program.
  constexpr int64_t step = 64;
  int64_t most = ids.dim(1).value + options.max_new_tokens;
  KeyValueCache cache((most + step - 1) / step * step, where);
  int64_t batch = ids.dim(0).value;
  Positions positions(options.attention_mask, ids, where);
  Tensor read = ids, mask = options.attention_mask;
  for (int64_t i = 0; i < options.max_new_tokens && !texts.haveEnded(); ++i) {
    DecoderInputs inputs{mask, positions.next(batch), &cache};
    Tensor best = argmax(next(read, inputs), -1).to(DType::i64);
    cache.eval(best, where);
    std::vector<int64_t> words = best.to_vector<int64_t>(where);
    texts.append(words);
    read = tensor(words, {batch, 1}, {.device = ids.device()}, where);
    mask = Tensor();
  }
  return texts.tensor(ids.device(), where);
}

} // namespace sinter::hf
