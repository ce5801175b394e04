/// Average: the mean of a model's parameters over the steps of a training.
#pragma once

#include <sinter/Module.h>
#include <sinter/nn/BatchNorm.h>

#include <concepts>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sinter::train {

struct EmaOptions {
  /// Whether the decay rises to its value: it is at most (1 + n) / (10 + n) in
  /// the update after n others.
  bool warmup = false;
  /// Whether what is not trained (running statistics) is averaged as well, not
  /// copied.
  bool average_buffers = false;
};
struct SwaOptions {
  bool average_buffers = false; ///< as in EmaOptions
};

} // namespace sinter::train

namespace sinter::detail {

/// How much of the new values goes into the average, from the count of updates
/// before, a scalar of the device.
struct AverageRule {
  double decay = 0;
  bool warmup = false;
  bool isEqual = false; ///< all updates weigh the same
  bool averageBuffers = false;
};

/// Throws unless the decay is in [0, 1).
AverageRule emaRule(double decay, const train::EmaOptions &options,
                    std::source_location where);
/// The count of updates of a model's average.
Param averageCount(const Fields &fields, std::source_location where);
/// Records that the values of `average` come nearer to those of `model`, and
/// that there was one more update. The two have the same Params, or it is an
/// error.
void updateAverage(const Fields &average, const Fields &model,
                   const Param &count, const AverageRule &rule,
                   std::source_location where);
/// Records that the values of `to` become those of `from`.
void copyValues(const Fields &from, const Fields &to,
                std::source_location where);
/// Sets what batch norms of a module found to nothing; whether there is any.
bool resetStatistics(const Fields &fields, std::source_location where);

/// What a module is called with of a loader's batch: the batch, or what comes
/// first in it.
template <typename Batch> const auto &inputOf(const Batch &batch) {
  if constexpr (requires { std::get<0>(batch); })
    return std::get<0>(batch);
  else
    return batch;
}

} // namespace sinter::detail

namespace sinter::train {

/// Sets the running statistics of a model's batch norms to those of all batches
/// of a loader, which `forward(batch)` runs through the model: what an average
/// of weights needs, as nobody has ever seen its activations. As PyTorch's
/// swa_utils.update_bn. A model without such statistics is left alone. The
/// modes are those from before when it is done.
template <typename M, typename Loader, typename F>
void update_bn(M &model, Loader &&loader, F forward,
               std::source_location where = std::source_location::current()) {
  sinter::detail::Fields fields = sinter::detail::allFieldsOf(model);
  if (!sinter::detail::resetStatistics(fields, where))
    return;
  std::vector<bool> modes;
  for (Mode *mode : fields.modes)
    modes.push_back(std::exchange(mode->training, true));
  {
    no_grad guard;
    nn::cumulative_statistics all;
    for (auto &&batch : loader)
      eval({forward(batch)}, where);
  }
  for (size_t i = 0; i < modes.size(); ++i)
    fields.modes[i]->training = modes[i];
}
/// The same with `model(batch)`, or `model` of the first part of a batch.
template <typename M, typename Loader>
void update_bn(M &model, Loader &&loader,
               std::source_location where = std::source_location::current()) {
  update_bn(
      model, loader,
      [&](const auto &batch) { return model(sinter::detail::inputOf(batch)); },
      where);
}

/// What Ema and Swa share: a copy of a model whose parameters are a mean of
/// those that the model had. As PyTorch's swa_utils.AveragedModel, an update
/// averages parameters and copies what is not trained; the first one copies
/// all. Nothing runs in an update: recorded between the optimizer's step and
/// the next reading, it is part of the step's program, the same one each time.
///
/// A module: `visit`, `save` and `load` take the average and its count of
/// updates, so records and files hold them.
template <typename M> class Averaged {
public:
  using Where = std::source_location;

  /// The average. It predicts: `valid()` of the model.
  const M &model() const { return average; }
  M &model() { return average; }
  /// A copy of `model`, modes and all, with the averaged values.
  M apply(const M &model, Where where = Where::current()) const {
    M copy = sinter::detail::separateCopy(model);
    sinter::detail::copyValues(sinter::detail::allFieldsOf(average),
                               sinter::detail::allFieldsOf(copy), where);
    return copy;
  }
  /// Records an update with the values that `model` has, or gets by a step that
  /// was recorded.
  void update(const M &model, Where where = Where::current()) {
    sinter::detail::updateAverage(sinter::detail::allFieldsOf(average),
                                  sinter::detail::allFieldsOf(model),
                                  num_updates, rule, where);
  }
  /// `train::update_bn` of the average.
  template <typename Loader>
  void update_bn(Loader &&loader, Where where = Where::current()) {
    train::update_bn(average, loader, where);
  }
  template <typename Loader, typename F>
  void update_bn(Loader &&loader, F forward, Where where = Where::current()) {
    train::update_bn(average, loader, std::move(forward), where);
  }

  M average;
  Param num_updates; ///< i64, of rank 0

protected:
  Averaged(const M &model, const sinter::detail::AverageRule &rule, Where where)
      : average(model.valid()),
        num_updates(sinter::detail::averageCount(
            sinter::detail::allFieldsOf(average), where)),
        rule(rule) {}

private:
  sinter::detail::AverageRule rule;
};

/// The exponential mean: average = decay * average + (1 - decay) * parameter.
///
///     sn::train::Ema ema(model, 0.999);
///     ...
///       optimizer.step(model, loss.backward());
///       ema.update(model);
///     ...
///     ema.model()(x);
template <typename M> class Ema : public Averaged<M> {
public:
  using Where = std::source_location;

  /// The decay is in [0, 1).
  explicit Ema(const M &model, double decay = 0.999,
               const EmaOptions &options = {}, Where where = Where::current())
      : Averaged<M>(model, sinter::detail::emaRule(decay, options, where),
                    where) {}

  SINTER_MODULE(Ema, average, num_updates)
};

/// The mean of the values at all updates, of equal weight (Izmailov et al.,
/// 2018).
template <typename M> class Swa : public Averaged<M> {
public:
  using Where = std::source_location;

  explicit Swa(const M &model, const SwaOptions &options = {},
               Where where = Where::current())
      : Averaged<M>(
            model, {.isEqual = true, .averageBuffers = options.average_buffers},
            where) {}

  SINTER_MODULE(Swa, average, num_updates)
};

} // namespace sinter::train
