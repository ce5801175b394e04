/// Regression: metrics of numbers, of images, and means of losses.
#pragma once

#include <sinter/metrics/MetricSet.h>
#include <sinter/metrics/Outputs.h>

#include <optional>

namespace sinter::metrics {

/// The mean of a loss over all items: that of batches counts by their items.
class MeanLoss {
public:
  using Where = std::source_location;

  explicit MeanLoss(std::string name = "loss");
  void update(const LossInput &input, Where where = Where::current());
  /// NaN without any item, and where any loss was.
  double value() const;
  void reset();
  std::vector<State *> states() const {
    return {&sum.total, &sum.lost, &items};
  }
  MetricInfo info() const { return described; }

private:
  MetricInfo described;
  mutable Sum sum;
  mutable State items;
};

struct PerplexityOptions {
  std::optional<int64_t> ignore_index = {};
  int64_t class_axis = -1; ///< of logits: the vocabulary
  std::string name = "perplexity";
};
/// e to the mean of -log(softmax(logits)) at the targets: logits
/// [batch, time, vocabulary], targets [batch, time].
class Perplexity {
public:
  using Where = std::source_location;

  explicit Perplexity(const PerplexityOptions &options = {});
  void update(const ClassInput &input, Where where = Where::current());
  double value() const;
  void reset();
  std::vector<State *> states() const {
    return {&sum.total, &sum.lost, &items, &wrong};
  }
  MetricInfo info() const { return described; }

private:
  PerplexityOptions options;
  MetricInfo described;
  int64_t classes = 0; ///< of the last batch, for messages
  mutable Sum sum;
  mutable State items, wrong;
};

/// What means of a function of errors share. A NaN that takes part makes the
/// value NaN, and so does that there is no item.
class ErrorMetric {
public:
  using Where = std::source_location;

  void update(const NumberInput &input, Where where = Where::current());
  double value() const;
  void reset();
  std::vector<State *> states() const {
    return {&sum.total, &sum.lost, &items};
  }
  MetricInfo info() const { return described; }

protected:
  explicit ErrorMetric(MetricInfo info);
  virtual ~ErrorMetric() = default;
  ErrorMetric(const ErrorMetric &) = default;
  ErrorMetric &operator=(const ErrorMetric &) = default;
  virtual Tensor term(const Tensor &error) const = 0;
  virtual double of_mean(double mean) const { return mean; }

private:
  MetricInfo described;
  mutable Sum sum;
  mutable State items;
};

/// The mean of squared errors.
class MeanSquaredError : public ErrorMetric {
public:
  explicit MeanSquaredError(std::string name = "mse")
      : ErrorMetric({std::move(name), "", false}) {}

protected:
  using ErrorMetric::ErrorMetric;
  Tensor term(const Tensor &error) const override;
};

/// The root of the mean of squared errors.
class RootMeanSquaredError : public MeanSquaredError {
public:
  explicit RootMeanSquaredError(std::string name = "rmse")
      : MeanSquaredError(MetricInfo{std::move(name), "", false}) {}

protected:
  double of_mean(double mean) const override;
};

/// The mean of absolute errors.
class MeanAbsoluteError : public ErrorMetric {
public:
  explicit MeanAbsoluteError(std::string name = "mae")
      : ErrorMetric({std::move(name), "", false}) {}

protected:
  Tensor term(const Tensor &error) const override;
};

/// Peak signal to noise of images (or anything): 10 log10(range^2 / mse).
class Psnr : public MeanSquaredError {
public:
  explicit Psnr(double range = 1, std::string name = "psnr",
                Where where = Where::current());

protected:
  double of_mean(double mean) const override;

private:
  double range;
};

/// 1 - sum of squared errors / sum of squared distances of targets from their
/// mean. Of several outputs [..., outputs] the mean over outputs. Targets that
/// are all equal give 0, or 1 where there is no error; fewer than two items
/// give NaN.
class R2Score {
public:
  using Where = std::source_location;

  explicit R2Score(int64_t outputs = 1, std::string name = "r2",
                   Where where = Where::current());
  void update(const NumberInput &input, Where where = Where::current());
  double value() const;
  void reset();
  std::vector<State *> states() const {
    return {&errors.total, &errors.lost, &mean, &spread, &items};
  }
  MetricInfo info() const { return described; }

private:
  int64_t outputs;
  MetricInfo described;
  mutable Sum errors;
  mutable State mean, spread, items;
};

struct SsimOptions {
  double range = 1;   ///< of the pixels' values
  int64_t size = 11;  ///< of the window, odd
  double sigma = 1.5; ///< of its Gaussian
  double k1 = 0.01, k2 = 0.03;
  std::string name = "ssim";
};
/// Structural similarity of images [n, channels, height, width] (Wang, Bovik,
/// Sheikh, Simoncelli, 2004), over windows that lie in the image: the mean of
/// the images' means.
class Ssim {
public:
  using Where = std::source_location;

  explicit Ssim(const SsimOptions &options = {},
                Where where = Where::current());
  void update(const NumberInput &input, Where where = Where::current());
  double value() const;
  void reset();
  std::vector<State *> states() const {
    return {&sum.total, &sum.lost, &items};
  }
  MetricInfo info() const { return described; }

private:
  SsimOptions options;
  MetricInfo described;
  mutable Sum sum;
  mutable State items;
};

} // namespace sinter::metrics
