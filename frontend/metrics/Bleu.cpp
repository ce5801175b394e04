/// BLEU of a corpus.
#include "frontend/metrics/MetricCall.h"
#include "frontend/metrics/Words.h"

#include <sinter/metrics/Text.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace sinter::metrics {

using Words = std::vector<std::string>;
using Ngrams = std::map<Words, int64_t>;

// Counts: length of predictions, of references, then matches and n-grams of
// each order.
Bleu::Bleu(const BleuOptions &given, Where where) try
    : TextMetric({given.name, "%", true, 2},
                 2 + 2 * std::clamp<int64_t>(given.order, 1, 8)),
      options(given) {
  if (options.order < 1 || options.order > 8)
    fail(fmt::format("order is {}, not in 1..8", options.order), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

static Ngrams ngramsOf(const Words &words, size_t order) {
  Ngrams all;
  for (size_t i = 0; i + order <= words.size(); ++i)
    ++all[Words(words.begin() + std::ptrdiff_t(i),
                words.begin() + std::ptrdiff_t(i + order))];
  return all;
}

/// The length nearest to that of the prediction; of two the shorter.
static size_t nearestLength(size_t length, const std::vector<Words> &all) {
  size_t best = all[0].size();
  auto apart = [&](size_t other) {
    return std::llabs(int64_t(other) - int64_t(length));
  };
  for (const Words &words : all)
    if (apart(words.size()) < apart(best) ||
        (apart(words.size()) == apart(best) && words.size() < best))
      best = words.size();
  return best;
}

static int64_t countMatches(const Ngrams &predicted,
                            const std::vector<Words> &references,
                            size_t order) {
  Ngrams most;
  for (const Words &words : references)
    for (const auto &[ngram, count] : ngramsOf(words, order))
      most[ngram] = std::max(most[ngram], count);
  int64_t matches = 0;
  for (const auto &[ngram, count] : predicted)
    if (auto found = most.find(ngram); found != most.end())
      matches += std::min(count, found->second);
  return matches;
}

void Bleu::update(const TranslationInput &input, Where where) try {
  if (input.predictions.size() != input.references.size())
    fail(fmt::format("there are {} predictions and references of {}",
                     input.predictions.size(), input.references.size()),
         where);
  std::vector<double> sums(size_t(2 + 2 * options.order));
  for (size_t i = 0; i < input.predictions.size(); ++i) {
    if (input.references[i].empty())
      fail(fmt::format("prediction {} has no reference", i), where);
    Words words = wordsOf(input.predictions[i]);
    std::vector<Words> references;
    for (const std::string &reference : input.references[i])
      references.push_back(wordsOf(reference));
    sums[0] += double(words.size());
    sums[1] += double(nearestLength(words.size(), references));
    for (size_t order = 1; order <= size_t(options.order); ++order) {
      Ngrams predicted = ngramsOf(words, order);
      sums[2 * order] += double(countMatches(predicted, references, order));
      sums[2 * order + 1] +=
          words.size() < order ? 0 : double(words.size() - order + 1);
    }
  }
  add(sums, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void Bleu::update(const TextInput &input, Where where) try {
  TranslationInput each{input.predictions, {}};
  for (const std::string &reference : input.references)
    each.references.push_back({reference});
  update(each, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double Bleu::value() const try {
  std::vector<double> sums = counts.values();
  if (sums[1] == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (sums[2] == 0) // not even a word
    return 0;
  double logs = 0, smoothed = 1;
  for (size_t order = 1; order <= size_t(options.order); ++order) {
    double matches = sums[2 * order], all = sums[2 * order + 1];
    if (all == 0)
      return 0;
    if (matches == 0) {
      if (options.smoothing == BleuSmoothing::none)
        return 0;
      smoothed *= 2;
      matches = 1 / smoothed;
    }
    logs += std::log(matches / all);
  }
  double brevity = sums[0] < sums[1] ? std::exp(1 - sums[1] / sums[0]) : 1;
  return brevity * std::exp(logs / double(options.order));
} catch (...) {
  sinter::detail::raiseExhausted({});
}

} // namespace sinter::metrics
