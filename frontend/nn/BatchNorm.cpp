/// BatchNorm: channels normalized over the batch, with running statistics.
#include <sinter/nn/BatchNorm.h>

#include "frontend/Raise.h"
#include "frontend/ScanBodies.h"
#include "frontend/State.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

#include <utility>

namespace sinter::nn {

BatchNormBase::BatchNormBase(Ranks ranks, int64_t channels,
                             const BatchNormOptions &given, Where where) try
    : options(given), ranks(ranks) {
  detail::Arguments("batch_norm", where)
      .positive("channels", channels)
      .notNegative("eps", given.eps)
      .within("momentum", given.momentum.value_or(0), 0, 1);
  ParamOptions param{.dtype = given.dtype};
  if (given.affine) {
    weight = Param("weight", {channels}, init::ones(), param, where);
    bias = Param("bias", {channels}, init::zeros(), param, where);
  }
  if (!given.track_running_stats)
    return;
  param.requires_grad = false;
  running_mean = Param("running_mean", {channels}, init::zeros(), param, where);
  running_var = Param("running_var", {channels}, init::ones(), param, where);
  param.dtype = DType::i64;
  num_batches_tracked =
      Param("num_batches_tracked", {}, init::zeros(), param, where);
} catch (...) {
  detail::raiseExhausted(where);
}

static thread_local bool isCumulative = false;

cumulative_statistics::cumulative_statistics()
    : previous(std::exchange(isCumulative, true)) {}
cumulative_statistics::~cumulative_statistics() { isCumulative = previous; }

static std::optional<Tensor> tensorOf(const Param &param) {
  return param.defined() ? std::optional(param.tensor()) : std::nullopt;
}

static Tensor latest(const Param &statistic) {
  return detail::latestValue(statistic.cell(), SourceLine::current());
}

static void replace(const Param &statistic, const Tensor &value) {
  detail::updateCell(statistic.cell(), value.to(statistic.dtype()),
                     SourceLine::current());
}

void BatchNormBase::track(const Tensor &mean, const Tensor &var) const try {
  detail::refuseInScanBody("moves running statistics, which only a whole "
                           "sequence can",
                           SourceLine::current());
  no_grad guard;
  Tensor count = latest(num_batches_tracked) + 1;
  replace(num_batches_tracked, count);
  DType dtype = mean.dtype();
  // A fixed part of a batch reads the count, too: what evaluates the one
  // statistic evaluates all three, and no count is left behind.
  Tensor taken = 1.0 / count.to(dtype);
  if (options.momentum && !isCumulative)
    taken = where(count > 0,
                  full({}, scalar(*options.momentum), {dtype, mean.device()}),
                  taken);
  auto move = [&](const Param &statistic, const Tensor &now) {
    Tensor old = latest(statistic).to(dtype);
    replace(statistic, old + (now - old) * taken);
  };
  move(running_mean, mean.detach());
  move(running_var, var.detach());
} catch (...) {
  detail::raiseExhausted({});
}

Tensor BatchNormBase::forward(const Tensor &x) const try {
  if (x.rank() < ranks.least || x.rank() > ranks.most)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("batch_norm: expects {} to {} axes: {}",
                                        ranks.least, ranks.most,
                                        graph::typeString(*x.node())),
                            "batch_norm"),
                  SourceLine::current());
  Affine affine{tensorOf(weight), tensorOf(bias), options.eps};
  if (!mode.training && running_mean.defined())
    return batch_norm(x, running_mean, running_var, affine);
  auto [y, mean, var] = batch_norm(x, affine);
  // An empty batch tells nothing.
  if (mode.training && running_mean.defined() && x.numel() > 0)
    track(mean, var);
  return y;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::nn
