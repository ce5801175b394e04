/// GroupNorm, InstanceNorm and RMSNorm: normalizations with parameters.
#include <sinter/nn/Norms.h>

#include "frontend/Raise.h"

namespace sinter::nn {

static std::optional<Tensor> tensorOf(const Param &param) {
  return param ? std::optional(param.tensor()) : std::nullopt;
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels,
                     const GroupNormOptions &options, Where where)
    : groups(groups), eps(options.eps) {
  if (groups < 1 || channels % groups != 0)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "group_norm: " + std::to_string(channels) +
                                " channels are not " + std::to_string(groups) +
                                " equal groups",
                            "group_norm"),
                  where);
  if (!options.affine)
    return;
  ParamOptions param{.dtype = options.dtype};
  weight = Param("weight", {channels}, init::ones(), param, where);
  bias = Param("bias", {channels}, init::zeros(), param, where);
}

Tensor GroupNorm::forward(const Tensor &x) const {
  return group_norm(x, groups, {tensorOf(weight), tensorOf(bias), eps});
}

InstanceNorm::InstanceNorm(int64_t channels, const InstanceNormOptions &options,
                           Where where)
    : eps(options.eps) {
  if (!options.affine)
    return;
  ParamOptions param{.dtype = options.dtype};
  weight = Param("weight", {channels}, init::ones(), param, where);
  bias = Param("bias", {channels}, init::zeros(), param, where);
}

Tensor InstanceNorm::forward(const Tensor &x) const {
  return instance_norm(x, {tensorOf(weight), tensorOf(bias), eps});
}

RMSNorm::RMSNorm(const Dims &shape, const RMSNormOptions &options, Where where)
    : shape(shape), eps(options.eps) {
  if (options.elementwise_affine)
    weight =
        Param("weight", shape, init::ones(), {.dtype = options.dtype}, where);
}

Tensor RMSNorm::forward(const Tensor &x) const {
  return rms_norm(x, shape, tensorOf(weight), eps);
}

} // namespace sinter::nn
