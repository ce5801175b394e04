/// GroupNorm, InstanceNorm and RMSNorm: normalizations with parameters.
#include <sinter/nn/Norms.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>

namespace sinter::nn {

static std::optional<Tensor> tensorOf(const Param &param) {
  return param.defined() ? std::optional(param.tensor()) : std::nullopt;
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels,
                     const GroupNormOptions &options, Where where) try
    : groups(groups), eps(options.eps) {
  detail::Arguments("group_norm", where)
      .positive("groups", groups)
      .positive("channels", channels)
      .divides("channels", channels, "groups", groups)
      .notNegative("eps", eps);
  if (!options.affine)
    return;
  ParamOptions param{.dtype = options.dtype};
  weight = Param("weight", {channels}, init::ones(), param, where);
  bias = Param("bias", {channels}, init::zeros(), param, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor GroupNorm::forward(const Tensor &x) const try {
  return group_norm(x, groups, {tensorOf(weight), tensorOf(bias), eps});
} catch (...) {
  detail::raiseExhausted({});
}

InstanceNorm::InstanceNorm(int64_t channels, const InstanceNormOptions &options,
                           Where where) try
    : eps(options.eps) {
  detail::Arguments("instance_norm", where)
      .positive("channels", channels)
      .notNegative("eps", eps);
  if (!options.affine)
    return;
  ParamOptions param{.dtype = options.dtype};
  weight = Param("weight", {channels}, init::ones(), param, where);
  bias = Param("bias", {channels}, init::zeros(), param, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor InstanceNorm::forward(const Tensor &x) const try {
  return instance_norm(x, {tensorOf(weight), tensorOf(bias), eps});
} catch (...) {
  detail::raiseExhausted({});
}

RMSNorm::RMSNorm(const Dims &shape, const RMSNormOptions &options,
                 Where where) try
    : shape(shape), eps(options.eps) {
  detail::Arguments call("rms_norm", where);
  call.notNegative("eps", eps.value_or(0));
  for (Dim size : shape)
    call.positive("shape", size.value);
  if (options.elementwise_affine)
    weight =
        Param("weight", shape, init::ones(), {.dtype = options.dtype}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor RMSNorm::forward(const Tensor &x) const try {
  return rms_norm(x, shape, tensorOf(weight), eps);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::nn
