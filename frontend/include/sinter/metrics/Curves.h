/// Curves: areas under curves of thresholds.
#pragma once

#include <sinter/metrics/Classification.h>

#include <optional>

namespace sinter::metrics {

struct CurveOptions {
  Task task = Task::binary;
  int64_t classes = 0; ///< or labels; not for a binary task
  /// Average::macro or Average::none.
  Average average = Average::macro;
  /// 0 keeps every score: the value is exact, and memory grows with the items,
  /// by 4 bytes for each score and 1 for each target. Else scores are counted
  /// in so many parts of equal width of [0, 1], whatever the number of items;
  /// `bound` says how far off the value may be.
  int64_t bins = 0;
  /// Whether scores are logits: of multiclass tasks the softmax counts, else
  /// the sigmoid.
  bool from_logits = true;
  std::optional<int64_t> ignore_index = {};
  int64_t class_axis = 1;
  std::string name = {};
};

/// What the metrics of this header share. Of several classes each is one
/// against the rest, and the value is the mean of those that have a value: a
/// class has none (NaN) where no item or every item is of it. With exact scores
/// a class has none either where one of its scores is NaN; with bins a NaN is
/// an Error of what reads, as a target that is no class is.
class CurveMetric {
public:
  using Where = std::source_location;

  void update(const ClassInput &input, Where where = Where::current());
  double value() const;
  std::vector<Value> values() const;
  /// The value is at most so far from that of exact scores; 0 without bins.
  double bound() const;
  void reset();
  std::vector<State *> states() const;
  StateMap state() const;
  void load_state(const StateMap &from);
  MetricInfo info() const { return described; }

  /// Items of one score, or of one part of [0, 1].
  struct Level {
    double positives = 0;
    double negatives = 0;
  };
  /// The least and the greatest value that an order of the items in each level
  /// can give; equal scores are no order.
  struct Range {
    double least, middle, greatest;
  };

protected:
  CurveMetric(MetricInfo info, const CurveOptions &options, Where where);
  virtual ~CurveMetric() = default;
  CurveMetric(const CurveMetric &) = default;
  CurveMetric &operator=(const CurveMetric &) = default;

  /// Of levels by falling score.
  virtual Range area(const std::vector<Level> &levels) const = 0;

private:
  struct Batch {
    State scores, targets;
  };
  int64_t numClasses() const;
  std::vector<Range> ranges() const;
  std::vector<std::vector<Level>> levels() const;
  std::vector<std::vector<Level>> keptLevels() const;
  void count(const Tensor &scores, const Tensor &isClass, const Tensor &valid,
             Where where);
  void keep(const Tensor &scores, const Tensor &isClass, const Tensor &valid,
            Where where);

  CurveOptions options;
  MetricInfo described;
  mutable State positives, negatives, wrong, noNumber;
  mutable std::vector<Batch> batches;
};

/// Area under the curve of true against false positives: how often a positive
/// has the greater score of a pair, an equal one counting half.
class Auroc : public CurveMetric {
public:
  explicit Auroc(const CurveOptions &options = {},
                 Where where = Where::current())
      : CurveMetric({"auroc", "", true}, options, where) {}

protected:
  Range area(const std::vector<Level> &levels) const override;
};

/// Area under the curve of precision against recall, as average precision: the
/// sum of precisions times what each threshold adds to recall.
class AveragePrecision : public CurveMetric {
public:
  explicit AveragePrecision(const CurveOptions &options = {},
                            Where where = Where::current())
      : CurveMetric({"pr_auc", "", true}, options, where) {}

protected:
  Range area(const std::vector<Level> &levels) const override;
};

} // namespace sinter::metrics
