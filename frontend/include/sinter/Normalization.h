/// Normalization: brings parts of a tensor to a mean and a size, with PyTorch's
/// names and meanings. f16 and bf16 are computed in f32 and rounded once.
#pragma once

#include <sinter/BasicOps.h>

#include <optional>

namespace sinter {

/// What follows a normalization: times `weight`, plus `bias`.
struct Affine {
  std::optional<Tensor> weight = {};
  std::optional<Tensor> bias = {};
  double eps = 1e-5; ///< added to the variance
};

/// What batch_norm made of a batch, and what it found out about it.
struct BatchNormalized {
  Tensor y;
  Tensor mean; ///< [channels]
  Tensor var;  ///< [channels], unbiased, as running statistics want it
};

/// x [n, channels, space...], each channel brought to mean 0 and variance 1
/// over the batch and space. Weight and bias: [channels].
BatchNormalized batch_norm(const Arg &x, const Affine &affine = {});
/// The same with a mean and a variance [channels] from elsewhere.
Tensor batch_norm(const Arg &x, const Arg &mean, const Arg &var,
                  const Affine &affine = {});

/// Each sample's channels in `groups` parts, each brought to mean 0 and
/// variance 1. x [n, channels, space...]; weight and bias: [channels].
Tensor group_norm(const Arg &x, int64_t groups, const Affine &affine = {});

/// Each channel of each sample. x [n, channels, space...]; weight and bias:
/// [channels].
Tensor instance_norm(const Arg &x, const Affine &affine = {});

/// Over the last axes, which are of `shape`, as are weight and bias.
Tensor layer_norm(const Arg &x, const Dims &shape, const Affine &affine = {});

/// x * rsqrt(mean(x^2) + eps) * weight over the last axes, which are of
/// `shape`, as is the weight. Without an eps it is that of the dtype; there is
/// no bias.
Tensor rms_norm(const Arg &x, const Dims &shape,
                const std::optional<Tensor> &weight = {},
                std::optional<double> eps = {});

struct LocalResponseOptions {
  double alpha = 1e-4; ///< divided by the number of channels
  double beta = 0.75;
  double k = 1;
};
/// x / (k + alpha * mean of the squares of `size` channels around)^beta.
/// x [n, channels, space...].
Tensor local_response_norm(const Arg &x, int64_t size,
                           const LocalResponseOptions &options = {});

/// x by its p-norm along an axis, which is at least eps.
Tensor normalize(const Arg &x, double p = 2, int64_t axis = 1,
                 double eps = 1e-12);

} // namespace sinter
