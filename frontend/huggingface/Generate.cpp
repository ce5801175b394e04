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
  int64_t words = ids.dim(1).value + options.max_new_tokens;
  KeyValueCache cache((words + step - 1) / step * step, where);
  Tensor read = ids;
  for (int64_t i = 0; i < options.max_new_tokens && !texts.haveEnded(); ++i) {
    Tensor best = argmax(next(read, cache), -1).to(DType::i64);
    cache.eval(best, where);
    std::vector<int64_t> found = best.to_vector<int64_t>(where);
    texts.append(found);
    read = tensor(found, {ids.dim(0).value, 1}, {.device = ids.device()}, where);
  }
  return texts.tensor(ids.device(), where);
}

} // namespace sinter::hf
