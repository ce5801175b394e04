/// Error rates of texts, and ROUGE-L.
#include <sinter/metrics/Text.h>

#include "frontend/metrics/MetricCall.h"
#include "frontend/metrics/Words.h"

#include <sinter/Creation.h>

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace sinter::metrics {

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TextMetric::TextMetric(MetricInfo info, int64_t numCounts)
    : described(std::move(info)), counts("counts", {numCounts}, DType::f64) {}

void TextMetric::add(const std::vector<double> &more, Where where) {
  std::vector<double> all = counts.values(where);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] += more[i];
  DeviceId host = device("cpu");
  counts.set(tensor(all, {int64_t(all.size())}, {.device = host}), where);
}

void TextMetric::fail(const std::string &what, Where where) const {
  MetricCall(described.name, where).fail(what);
}

//===- Edits --------------------------------------------------------------===//

/// What insertions, deletions and replacements lead from one to the other.
template <typename Part>
static size_t distance(const std::vector<Part> &from,
                       const std::vector<Part> &to) {
  std::vector<size_t> row(to.size() + 1);
  for (size_t j = 0; j < row.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// Edits and the length of the references.
template <typename Split>
static std::vector<double> editsOf(const TextInput &input, Split split) {
  double edits = 0, length = 0;
  for (size_t i = 0; i < input.references.size(); ++i) {
    auto reference = split(input.references[i]);
    edits += double(distance(split(input.predictions[i]), reference));
    length += double(reference.size());
  }
  return {edits, length};
}

static std::string unequal(const TextInput &input) {
  return fmt::format("there are {} predictions and {} references",
                     input.predictions.size(), input.references.size());
}

static double rate(const std::vector<double> &counts) {
  return counts[1] == 0 ? nan : counts[0] / counts[1];
}

void CharErrorRate::update(const TextInput &input, Where where) try {
  if (input.predictions.size() != input.references.size())
    fail(unequal(input), where);
  add(editsOf(input, charactersOf), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double CharErrorRate::value() const { return rate(counts.values()); }

void WordErrorRate::update(const TextInput &input, Where where) try {
  if (input.predictions.size() != input.references.size())
    fail(unequal(input), where);
  add(editsOf(input, wordsOf), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double WordErrorRate::value() const { return rate(counts.values()); }

//===- ROUGE-L ------------------------------------------------------------===//

static size_t commonLength(const std::vector<std::string> &a,
                           const std::vector<std::string> &b) {
  std::vector<size_t> row(b.size() + 1);
  for (const std::string &word : a) {
    size_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t longest =
          word == b[j - 1] ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = std::exchange(row[j], longest);
    }
  }
  return row.back();
}

void RougeL::update(const TextInput &input, Where where) try {
  if (input.predictions.size() != input.references.size())
    fail(unequal(input), where);
  std::vector<double> sums(4);
  for (size_t i = 0; i < input.references.size(); ++i) {
    std::vector<std::string> predicted = plainWordsOf(input.predictions[i]);
    std::vector<std::string> reference = plainWordsOf(input.references[i]);
    double common = double(commonLength(predicted, reference));
    if (common > 0) {
      sums[0] += 2 * common / double(predicted.size() + reference.size());
      sums[1] += common / double(predicted.size());
      sums[2] += common / double(reference.size());
    }
    ++sums[3];
  }
  add(sums, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double RougeL::value() const {
  std::vector<double> sums = counts.values();
  return sums[3] == 0 ? nan : sums[0] / sums[3];
}

std::vector<Value> RougeL::values() const {
  std::vector<double> sums = counts.values();
  auto mean = [&](size_t i) { return sums[3] == 0 ? nan : sums[i] / sums[3]; };
  return {{described.name, mean(0)},
          {described.name + ".precision", mean(1)},
          {described.name + ".recall", mean(2)}};
}

} // namespace sinter::metrics
