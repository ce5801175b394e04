/// Updates: what happens between a loss and the parameters.
#pragma once

#include <sinter/Module.h>
#include <sinter/Record.h>
#include <sinter/Transforms.h>
#include <sinter/optim/Optimizer.h>
#include <sinter/optim/Scheduler.h>
#include <sinter/train/Accumulate.h>
#include <sinter/train/LearnerOptions.h>
#include <sinter/train/MixedPrecision.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>

namespace sinter::train {

/// Gradients that an optimizer is to take now; where `finite`, if there is one,
/// turns out to be true.
struct ReadyGradients {
  Gradients gradients;
  Tensor finite;

  template <typename T>
  void step(optim::Optimizer &optimizer, T &model, std::source_location where) {
    Gradients taken = std::move(gradients);
    if (finite.defined())
      optimizer.step_if(finite, model, std::move(taken), where);
    else
      optimizer.step(model, std::move(taken), where);
  }
};

/// What `Updates` does with the model as a whole.
struct ModelUpdates {
  using Where = std::source_location;
  std::function<void(GradientsAccumulator &, const Gradients &, Where)> add;
  /// What `sums` was, of `count` batches that gave gradients to these paths.
  std::function<GradientsAccumulator(const Record &sums, int64_t count,
                                     const std::vector<std::string> &paths,
                                     Where)>
      load_sums;
  std::function<void(optim::Optimizer &, ReadyGradients, Where)> step;
};

/// Takes losses to optimizers: gradients, their accumulation and clipping, the
/// loss scale, the step, the schedule. A step of a Learner that trains by
/// several optimizers has it as its third argument:
///
///     [&](Gan &gan, Batch &batch, sn::train::Updates &update) {
///       sn::Tensor judged = discriminator_loss(gan, batch);
///       update(judge, gan.discriminator, judged);
///       sn::Tensor forged = generator_loss(gan, batch);
///       update(forger, gan.generator, forged);
///       return GanOutput{judged + forged, ...};
///     }
class Updates {
public:
  using Where = std::source_location;
  /// Records updates of the Params of `part` (a module of the Learner's model,
  /// a Param, a vector of these) by an optimizer that the Learner knows, to
  /// make `loss` less.
  template <typename Part>
  void operator()(optim::Optimizer &optimizer, Part &part, const Tensor &loss,
                  Where where = Where::current()) {
    Entry &entry = entryOf(optimizer, where);
    autocast off({}, where);
    Gradients gradients = gradientsOf(loss, where);
    if (accumulate > 1)
      return gather(entry, detail::allFieldsOf(part), gradients, where);
    ReadyGradients ready = readied(std::move(gradients), where);
    ready.step(optimizer, part, where);
    stepped(entry);
  }

private:
  friend class LearnerCore;
  /// What belongs to one optimizer.
  struct Entry {
    std::string name;
    optim::Optimizer *optimizer;
    std::unique_ptr<optim::Scheduler> scheduler;
    /// Of batches since the last update.
    std::optional<GradientsAccumulator> sums;
    bool called = false; ///< in this batch
  };

  Entry &entryOf(optim::Optimizer &optimizer, Where where);
  /// Those of the loss, scaled or not on the way.
  Gradients gradientsOf(const Tensor &loss, Where where);
  /// Adds the gradients of some of the model, and updates when there are
  /// enough.
  void gather(Entry &entry, const detail::Fields &part,
              const Gradients &gradients, Where where);
  void applySums(Entry &entry, Where where);
  /// Clipped, and looked at if losses are scaled.
  ReadyGradients readied(Gradients gradients, Where where);
  void stepped(Entry &entry);
  /// The batch has no more to say: the scale follows. Whether anything was
  /// updated.
  bool batchDone(Where where);
  /// Updates by what was gathered of fewer batches, at the end of an epoch.
  bool finish(Where where);
  /// The loss scale and what was gathered, for a checkpoint.
  Record record() const;
  /// Takes it back; false where the loss scale is not in it.
  bool load(const Record &record, Where where);

  ModelUpdates model;
  int64_t accumulate = 1;
  double clipNorm = 0, clipValue = 0;
  std::optional<LossScaler> scaler;
  Tensor finite; ///< of all updates of this batch
  bool updated = false;
  std::deque<Entry> entries;
};

} // namespace sinter::train
