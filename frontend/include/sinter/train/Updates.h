/// Updates: what happens between a loss and the parameters.
#pragma once

#include <sinter/Module.h>
#include <sinter/Record.h>
#include <sinter/Transforms.h>
#include <sinter/optim/Optimizer.h>
#include <sinter/optim/Scheduler.h>
#include <sinter/train/LearnerOptions.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>

namespace sinter::train {

/// Takes losses to optimizers: gradients, their accumulation and clipping, the
/// step, the schedule. A step of a Learner that trains by several optimizers
/// has it as its third argument:
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
  /// Records updates of the Params of `part` (a module, a Param, a vector of
  /// these) by an optimizer that the Learner knows, to make `loss` less.
  template <typename Part>
  void operator()(optim::Optimizer &optimizer, Part &part, const Tensor &loss,
                  Where where = Where::current()) {
    Entry &entry = entryOf(optimizer, where);
    entry.apply = [&part, &optimizer](Gradients &&gradients, Where line) {
      optimizer.step(part, std::move(gradients), line);
    };
    gather(entry, loss, where);
  }

private:
  friend class LearnerCore;
  /// What belongs to one optimizer.
  struct Entry {
    std::string name;
    optim::Optimizer *optimizer;
    std::unique_ptr<optim::Scheduler> scheduler;
    std::function<void(Gradients &&, Where)> apply;
    /// The sum of the gradients of batches since the last update.
    Gradients waiting;
    int64_t batches = 0;
    int64_t updates = 0;
  };

  Entry &entryOf(optim::Optimizer &optimizer, Where where);
  /// Adds the gradients of a loss, and updates when there are enough.
  void gather(Entry &entry, const Tensor &loss, Where where);
  void apply(Entry &entry, Where where);
  /// Updates by what was gathered of fewer batches, at the end of an epoch.
  void finish(Where where);
  /// Whether no gradients wait.
  bool settled() const;

  int64_t accumulate = 1;
  double clipNorm = 0, clipValue = 0;
  std::deque<Entry> entries;
};

} // namespace sinter::train
