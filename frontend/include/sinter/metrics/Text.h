/// Text: metrics of texts, computed on the host. Texts are UTF-8; a byte that
/// is part of no character counts as one.
#pragma once

#include <sinter/metrics/MetricSet.h>

#include <string>
#include <vector>

namespace sinter::metrics {

/// Texts and what they should have been, one each.
struct TextInput {
  std::vector<std::string> predictions;
  std::vector<std::string> references;
};

/// Texts, and for each one or more that it may be.
struct TranslationInput {
  std::vector<std::string> predictions;
  std::vector<std::vector<std::string>> references;
};

/// What metrics of texts share: counts, which are summed over all texts.
class TextMetric {
public:
  using Where = std::source_location;

  MetricInfo info() const { return described; }
  void reset() { counts.reset(); }
  std::vector<State *> states() const { return {&counts}; }

protected:
  TextMetric(MetricInfo info, int64_t numCounts);
  void add(const std::vector<double> &more, Where where);
  [[noreturn]] void fail(const std::string &what, Where where) const;

  MetricInfo described;
  mutable State counts;
};

/// Characters inserted, deleted and replaced, by the characters of the
/// references (Levenshtein's distance). NaN without references; it can be more
/// than 1.
class CharErrorRate : public TextMetric {
public:
  explicit CharErrorRate(std::string name = "cer")
      : TextMetric({std::move(name), "%", false, 2}, 2) {}
  void update(const TextInput &input, Where where = Where::current());
  double value() const;
};

/// The same of words, which blanks part.
class WordErrorRate : public TextMetric {
public:
  explicit WordErrorRate(std::string name = "wer")
      : TextMetric({std::move(name), "%", false, 2}, 2) {}
  void update(const TextInput &input, Where where = Where::current());
  double value() const;
};

/// What becomes of n-grams of which none matches.
enum class BleuSmoothing : uint8_t {
  none, ///< the value is 0
  exp,  ///< the k-th such precision is 1 / (2^k * n-grams), as NIST's mteval
        ///< and sacrebleu
};
struct BleuOptions {
  int64_t order = 4; ///< n-grams of 1 to so many words; 1..8
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::string name = "bleu";
};
/// BLEU of a corpus (Papineni, Roukos, Ward, Zhu, 2002), in 0..1: the geometric
/// mean of clipped n-gram precisions times the brevity penalty. Blanks part
/// words (sacrebleu's tokenizer `none`). Of several references the one nearest
/// in length counts for brevity, of two the shorter.
class Bleu : public TextMetric {
public:
  explicit Bleu(const BleuOptions &options = {},
                Where where = Where::current());
  void update(const TranslationInput &input, Where where = Where::current());
  void update(const TextInput &input, Where where = Where::current());
  double value() const;

private:
  BleuOptions options;
};

/// ROUGE-L (Lin, 2004): the longest common subsequence of words by their
/// number, the mean over texts of F1, precision and recall. Words are runs of
/// the letters a to z and digits, in lower case, without stemming, as those of
/// the package rouge-score; other characters part them.
class RougeL : public TextMetric {
public:
  explicit RougeL(std::string name = "rouge_l")
      : TextMetric({std::move(name), "", true}, 4) {}
  void update(const TextInput &input, Where where = Where::current());
  /// The F1.
  double value() const;
  /// `rouge_l`, `rouge_l.precision`, `rouge_l.recall`.
  std::vector<Value> values() const;
};

} // namespace sinter::metrics
