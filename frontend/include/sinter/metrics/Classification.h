/// Classification: metrics of predicted classes. Means and what becomes of
/// classes that are absent are those of torchmetrics 1.
#pragma once

#include <sinter/metrics/MetricSet.h>
#include <sinter/metrics/Outputs.h>

#include <optional>

namespace sinter::metrics {

enum class Task : uint8_t {
  multiclass, ///< one of several classes
  binary,     ///< one label, there or not
  multilabel, ///< several labels
};

/// How the numbers of classes become one.
enum class Average : uint8_t {
  micro,    ///< all decisions count the same
  macro,    ///< the mean over classes
  weighted, ///< the mean by how often a class is the true one
  none,     ///< they do not: one value for each class
};

struct ClassOptions {
  Task task = Task::multiclass;
  int64_t classes = 0;                 ///< or labels; not for a binary task
  std::optional<Average> average = {}; ///< default: as the metric says
  /// A score above it is a label that is there; binary and multilabel.
  double threshold = 0.5;
  /// Whether scores are logits, of which the sigmoid is compared.
  bool from_logits = true;
  /// Targets of this number take no part.
  std::optional<int64_t> ignore_index = {};
  int64_t class_axis = 1; ///< of scores; -1 for [batch, time, vocabulary]
  std::string name = {};  ///< default: the metric's
};

/// What decisions and truths of each class amount to, or of all in one.
struct ClassCounts {
  std::vector<double> hits;      ///< predicted, and true
  std::vector<double> predicted; ///< true or not
  std::vector<double> actual;    ///< predicted or not
  std::vector<double> items;     ///< decisions; one number, but for multilabel
};

/// What the metrics of this header share: they count on the device and divide
/// on the host. Counts are exact (i64). Where nothing divides, the value is 0,
/// and a class that is neither predicted nor true is left out of a mean over
/// classes; without any item the value is NaN. NaN among the scores of an item
/// counts as the largest, so the class of the first NaN is predicted; in binary
/// and multilabel tasks it is no prediction. A target that is no class is an
/// Error of what reads the value.
class ClassMetric {
public:
  using Where = std::source_location;

  /// Records the counts of a batch. An Error names the metric where shapes or
  /// dtypes do not fit.
  void update(const ClassInput &input, Where where = Where::current());
  /// The one number; the mean over classes where they are several.
  double value() const;
  /// One value for each class with `Average::none`, else the one.
  std::vector<Value> values() const;
  void reset();
  std::vector<State *> states() const;
  MetricInfo info() const { return described; }

protected:
  ClassMetric(MetricInfo info, const ClassOptions &options, Average average,
              Where where);
  virtual ~ClassMetric() = default;
  ClassMetric(const ClassMetric &) = default;
  ClassMetric &operator=(const ClassMetric &) = default;

  /// The number of one class (or of all) by its counts.
  virtual double ratio(double hits, double predicted, double actual,
                       double items) const = 0;

  ClassOptions options;
  Average average;

private:
  ClassCounts counts() const;
  std::vector<double> perClass(const ClassCounts &counts) const;

  MetricInfo described;
  mutable State hits, predicted, actual, items, wrong;
};

/// How many are right. Averages: micro (the default), macro, weighted, none.
class Accuracy : public ClassMetric {
public:
  explicit Accuracy(const ClassOptions &options, Where where = Where::current())
      : ClassMetric({"accuracy", "%", true, 2}, options, Average::micro,
                    where) {}

protected:
  double ratio(double hits, double predicted, double actual,
               double items) const override;
};

/// How many of the predicted are right. The default average is macro.
class Precision : public ClassMetric {
public:
  explicit Precision(const ClassOptions &options,
                     Where where = Where::current())
      : ClassMetric({"precision", "", true}, options, Average::macro, where) {}

protected:
  double ratio(double hits, double predicted, double actual,
               double items) const override;
};

/// How many of the true are found. The default average is macro.
class Recall : public ClassMetric {
public:
  explicit Recall(const ClassOptions &options, Where where = Where::current())
      : ClassMetric({"recall", "", true}, options, Average::macro, where) {}

protected:
  double ratio(double hits, double predicted, double actual,
               double items) const override;
};

/// The harmonic mean of precision and recall, of which recall counts beta times
/// as much. The default average is macro.
class FBeta : public ClassMetric {
public:
  FBeta(double beta, const ClassOptions &options,
        Where where = Where::current());

protected:
  double ratio(double hits, double predicted, double actual,
               double items) const override;

private:
  double beta;
};

/// FBeta of beta 1.
class F1 : public FBeta {
public:
  explicit F1(const ClassOptions &options, Where where = Where::current())
      : FBeta(1, options, where) {}
};

/// How many decisions are wrong: labels of multilabel tasks one by one. The
/// default average is micro.
class HammingDistance : public ClassMetric {
public:
  explicit HammingDistance(const ClassOptions &options,
                           Where where = Where::current())
      : ClassMetric({"hamming", "", false}, options, Average::micro, where) {}

protected:
  double ratio(double hits, double predicted, double actual,
               double items) const override;
};

/// Dice's coefficient of regions: 2 |A B| / (|A| + |B|), over all pixels of all
/// images. The default average is macro.
class Dice : public ClassMetric {
public:
  explicit Dice(const ClassOptions &options, Where where = Where::current())
      : ClassMetric({"dice", "", true}, options, Average::macro, where) {}

protected:
  double ratio(double hits, double predicted, double actual,
               double items) const override;
};

/// Intersection over union, Jaccard's index: |A B| / |A or B|. The default
/// average is macro.
class Iou : public ClassMetric {
public:
  explicit Iou(const ClassOptions &options, Where where = Where::current())
      : ClassMetric({"iou", "", true}, options, Average::macro, where) {}

protected:
  double ratio(double hits, double predicted, double actual,
               double items) const override;
};

struct TopKOptions {
  int64_t classes = 0;
  std::optional<int64_t> ignore_index = {};
  int64_t class_axis = 1;
  std::string name = {};
};
/// How many targets are among the k largest scores; of equal scores the first
/// come first. A NaN is larger than any number, and never right.
class TopKAccuracy {
public:
  using Where = std::source_location;

  TopKAccuracy(int64_t k, const TopKOptions &options,
               Where where = Where::current());
  void update(const ClassInput &input, Where where = Where::current());
  double value() const;
  void reset();
  std::vector<State *> states() const { return {&hits, &items, &wrong}; }
  MetricInfo info() const { return described; }

private:
  int64_t k;
  ClassOptions options;
  MetricInfo described;
  mutable State hits, items, wrong;
};

/// How often class i was taken for class j; of a binary task i and j are 0
/// and 1.
class ConfusionMatrix {
public:
  using Where = std::source_location;

  explicit ConfusionMatrix(const ClassOptions &options,
                           Where where = Where::current());
  void update(const ClassInput &input, Where where = Where::current());
  /// The part of items on the diagonal.
  double value() const;
  /// Every count: `confusion.2.1` was a 2 and taken for a 1.
  std::vector<Value> values() const;
  /// The counts by rows of the true class.
  std::vector<int64_t> matrix() const;
  void reset();
  std::vector<State *> states() const { return {&counts, &wrong}; }
  MetricInfo info() const { return described; }

private:
  ClassOptions options;
  MetricInfo described;
  mutable State counts, wrong;
};

} // namespace sinter::metrics
