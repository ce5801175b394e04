/// GroupNorm, InstanceNorm and RMSNorm: normalizations with parameters.
#pragma once

#include <sinter/Module.h>
#include <sinter/Normalization.h>

#include <optional>
#include <source_location>

namespace sinter::nn {

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true; ///< whether there are weight and bias
  DType dtype = DType::f32;
};

/// `group_norm`. Names and first values are PyTorch's: `weight` ones, `bias`
/// zeros, both [channels].
class GroupNorm {
public:
  using Where = std::source_location;

  GroupNorm() = default;
  GroupNorm(int64_t groups, int64_t channels,
            const GroupNormOptions &options = {},
            Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight; ///< both empty without affine
  Param bias;
  int64_t groups = 1;
  double eps = 1e-5;

  SINTER_MODULE(GroupNorm, weight, bias)
};

struct InstanceNormOptions {
  double eps = 1e-5;
  bool affine = false; ///< whether there are weight and bias
  DType dtype = DType::f32;
};

/// `instance_norm`, of any number of space axes; it keeps no running
/// statistics. Names and first values as those of GroupNorm.
class InstanceNorm {
public:
  using Where = std::source_location;

  InstanceNorm() = default;
  explicit InstanceNorm(int64_t channels,
                        const InstanceNormOptions &options = {},
                        Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight; ///< both empty without affine
  Param bias;
  double eps = 1e-5;

  SINTER_MODULE(InstanceNorm, weight, bias)
};

struct RMSNormOptions {
  std::optional<double> eps = {}; ///< default: that of x's dtype
  bool elementwise_affine = true; ///< whether there is a weight
  DType dtype = DType::f32;
};

/// `rms_norm` over the last axis, or the last ones. The name and the first
/// values are PyTorch's: `weight` ones.
class RMSNorm {
public:
  using Where = std::source_location;

  RMSNorm() = default;
  explicit RMSNorm(int64_t size, const RMSNormOptions &options = {},
                   Where where = Where::current())
      : RMSNorm(Dims{size}, options, where) {}
  explicit RMSNorm(const Dims &shape, const RMSNormOptions &options = {},
                   Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight; ///< empty without elementwise_affine
  Dims shape;
  std::optional<double> eps;

  SINTER_MODULE(RMSNorm, weight)
};

} // namespace sinter::nn
