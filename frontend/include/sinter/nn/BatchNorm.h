/// BatchNorm: channels normalized over the batch, with running statistics.
#pragma once

#include <sinter/Module.h>
#include <sinter/Normalization.h>

#include <optional>
#include <source_location>

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

/// What BatchNorm, BatchNorm1d and BatchNorm2d share.
class BatchNormBase {
public:
  using Where = std::source_location;

  Tensor forward(const Tensor &x) const;

  Param weight; ///< both empty without affine
  Param bias;
  Param running_mean; ///< all three empty without track_running_stats
  Param running_var;
  Param num_batches_tracked;
  BatchNormOptions options;
  Mode mode;

protected:
  /// The ranks of x that are taken.
  struct Ranks {
    int64_t least, most;
  };
  explicit BatchNormBase(Ranks ranks) : ranks(ranks) {}
  BatchNormBase(Ranks ranks, int64_t channels, const BatchNormOptions &options,
                Where where);

private:
  void track(const Tensor &mean, const Tensor &var) const;

  Ranks ranks;
};

/// x [n, channels, space...]: in training normalized by the batch, which moves
/// the running statistics; in use by these. Names and first values are
/// PyTorch's: `weight` ones, `bias` zeros, `running_mean` zeros, `running_var`
/// ones, `num_batches_tracked`. Statistics are saved and loaded, never
/// trained; they change when the step does, in one program with it.
class BatchNorm : public BatchNormBase {
public:
  BatchNorm() : BatchNormBase({2, 5}) {}
  explicit BatchNorm(int64_t channels, const BatchNormOptions &options = {},
                     Where where = Where::current())
      : BatchNormBase({2, 5}, channels, options, where) {}

  SINTER_MODULE(BatchNorm, weight, bias, running_mean, running_var,
                num_batches_tracked, mode)
};

/// BatchNorm of x [n, channels] or [n, channels, length].
class BatchNorm1d : public BatchNormBase {
public:
  BatchNorm1d() : BatchNormBase({2, 3}) {}
  explicit BatchNorm1d(int64_t channels, const BatchNormOptions &options = {},
                       Where where = Where::current())
      : BatchNormBase({2, 3}, channels, options, where) {}

  SINTER_MODULE(BatchNorm1d, weight, bias, running_mean, running_var,
                num_batches_tracked, mode)
};

/// BatchNorm of x [n, channels, height, width].
class BatchNorm2d : public BatchNormBase {
public:
  BatchNorm2d() : BatchNormBase({4, 4}) {}
  explicit BatchNorm2d(int64_t channels, const BatchNormOptions &options = {},
                       Where where = Where::current())
      : BatchNormBase({4, 4}, channels, options, where) {}

  SINTER_MODULE(BatchNorm2d, weight, bias, running_mean, running_var,
                num_batches_tracked, mode)
};

/// While it lives, batch norms of this thread in training take the mean over
/// all batches into their running statistics, whatever their momentum is.
class cumulative_statistics {
public:
  cumulative_statistics();
  ~cumulative_statistics();
  cumulative_statistics(const cumulative_statistics &) = delete;

private:
  bool previous;
};

} // namespace sinter::nn
