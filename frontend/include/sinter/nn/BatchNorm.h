/// BatchNorm: channels normalized over the batch, with running statistics.
#pragma once

#include <sinter/Module.h>
#include <sinter/Normalization.h>

#include <optional>
#include <source_location>
#include <utility>

namespace sinter::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  /// How much of a batch goes into the running statistics; without one they
  /// are the mean over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;              ///< whether there are weight and bias
  bool track_running_stats = true; ///< else the batch's own are always used
  DType dtype = DType::f32;
};

/// x [n, channels, space...]: in training normalized by the batch, which moves
/// the running statistics; in use by these. Names and first values are
/// PyTorch's: `weight` ones, `bias` zeros, `running_mean` zeros, `running_var`
/// ones, `num_batches_tracked`. Statistics are saved and loaded, never
/// trained; they change when the step does, in one program with it.
class BatchNorm {
public:
  using Where = std::source_location;

  BatchNorm() = default;
  explicit BatchNorm(int64_t channels, const BatchNormOptions &options = {},
                     Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight; ///< both empty without affine
  Param bias;
  Param running_mean; ///< all three empty without track_running_stats
  Param running_var;
  Param num_batches_tracked;
  BatchNormOptions options;
  Mode mode;

  SINTER_MODULE(BatchNorm, weight, bias, running_mean, running_var,
                num_batches_tracked, mode)

protected:
  /// The ranks of x that are taken.
  std::pair<int64_t, int64_t> ranks{2, 5};

private:
  void track(const Tensor &mean, const Tensor &var) const;
};

/// x [n, channels] or [n, channels, length].
class BatchNorm1d : public BatchNorm {
public:
  BatchNorm1d() { ranks = {2, 3}; }
  explicit BatchNorm1d(int64_t channels, const BatchNormOptions &options = {},
                       Where where = Where::current())
      : BatchNorm(channels, options, where) {
    ranks = {2, 3};
  }
  SINTER_MODULE(BatchNorm1d)
};

/// x [n, channels, height, width].
class BatchNorm2d : public BatchNorm {
public:
  BatchNorm2d() { ranks = {4, 4}; }
  explicit BatchNorm2d(int64_t channels, const BatchNormOptions &options = {},
                       Where where = Where::current())
      : BatchNorm(channels, options, where) {
    ranks = {4, 4};
  }
  SINTER_MODULE(BatchNorm2d)
};

} // namespace sinter::nn
