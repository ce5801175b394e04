/// What happens between a loss and the parameters.
#include <sinter/train/Updates.h>

#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/optim/Clip.h>

#include <fmt/format.h>

namespace sinter::train {

Updates::Entry &Updates::entryOf(optim::Optimizer &optimizer, Where where) {
  for (Entry &entry : entries)
    if (entry.optimizer == &optimizer)
      return entry;
  sinter::detail::raise(
      {.kind = ErrorKind::invalid_argument,
       .message = "learner: a step updates by an optimizer that the Learner "
                  "does not know: learner.optimizer(name, optimizer)"},
      where);
}

void Updates::gather(Entry &entry, const Tensor &loss, Where where) {
  Gradients gradients =
      accumulate == 1
          ? loss.backward(where)
          : (loss * (1.0 / static_cast<double>(accumulate))).backward(where);
  if (entry.batches++ == 0)
    entry.waiting = std::move(gradients);
  else
    entry.waiting.accumulate(gradients);
  if (entry.batches >= accumulate)
    apply(entry, where);
}

void Updates::apply(Entry &entry, Where where) {
  Gradients gradients = std::exchange(entry.waiting, {});
  entry.batches = 0;
  if (clipNorm > 0)
    optim::clip_grad_norm(gradients, clipNorm, 2, where);
  if (clipValue > 0)
    optim::clip_grad_value(gradients, clipValue, where);
  entry.apply(std::move(gradients), where);
  ++entry.updates;
  if (entry.scheduler)
    entry.scheduler->step();
}

void Updates::finish(Where where) {
  for (Entry &entry : entries)
    if (entry.batches > 0)
      apply(entry, where);
}

bool Updates::settled() const {
  for (const Entry &entry : entries)
    if (entry.batches > 0)
      return false;
  return true;
}

} // namespace sinter::train
