/// What happens between a loss and the parameters.
#include <sinter/train/Updates.h>

#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/optim/Clip.h>

#include <fmt/format.h>

namespace sinter::train {

[[noreturn]] static void reject(const std::string &what,
                                std::source_location where) {
  sinter::detail::raise(
      makeError(ErrorKind::invalid_argument, "learner: " + what), where);
}

Updates::Entry &Updates::entryOf(optim::Optimizer &optimizer, Where where) {
  for (Entry &entry : entries)
    if (entry.optimizer == &optimizer)
      return entry;
  reject("a step updates by an optimizer that the Learner does not know: "
         "learner.optimizer(name, optimizer)",
         where);
}

Gradients Updates::gradientsOf(const Tensor &loss, Where where) {
  if (!scaler)
    return loss.backward(where);
  Gradients scaled = scaler->scaled(loss, where).backward(where);
  if (accumulate == 1)
    return scaled;
  // Each batch by the scale that it had.
  return scaler->unscaled(scaled, where).gradients;
}

ReadyGradients Updates::readied(Gradients gradients, Where where) {
  ReadyGradients ready;
  if (scaler) {
    // A sum is finite where all that it is made of was.
    if (accumulate == 1) {
      Unscaled found = scaler->unscaled(gradients, where);
      gradients = std::move(found.gradients);
      ready.finite = std::move(found.finite);
    } else {
      ready.finite = scaler->finite(gradients, where);
    }
    finite = finite.defined() ? finite && ready.finite : ready.finite;
  }
  if (clipNorm > 0)
    optim::clip_grad_norm(gradients, clipNorm, 2, where);
  if (clipValue > 0)
    optim::clip_grad_value(gradients, clipValue, where);
  ready.gradients = std::move(gradients);
  return ready;
}

void Updates::stepped(Entry &entry) {
  updated = true;
  if (entry.scheduler)
    entry.scheduler->step();
}

void Updates::gather(Entry &entry, const detail::Fields &part,
                     const Gradients &gradients, Where where) {
  if (std::exchange(entry.called, true))
    reject(fmt::format("a step updates twice by the optimizer '{}': where "
                       "gradients are accumulated, once a batch",
                       entry.name),
           where);
  Gradients own;
  for (const auto &[path, param] : part.params)
    if (const Tensor *gradient = gradients.find(*param))
      own.set(param->cell()->id(), *gradient);
  if (!entry.sums)
    entry.sums.emplace();
  model.add(*entry.sums, own, where);
  if (entry.sums->count() >= accumulate)
    applySums(entry, where);
}

void Updates::applySums(Entry &entry, Where where) {
  model.step(*entry.optimizer, readied(entry.sums->take_mean(where), where),
             where);
  stepped(entry);
}

bool Updates::batchDone(Where where) {
  if (Tensor all = std::exchange(finite, {}); all.defined())
    scaler->update(all, where);
  for (Entry &entry : entries)
    entry.called = false;
  return std::exchange(updated, false);
}

bool Updates::finish(Where where) {
  for (Entry &entry : entries)
    if (entry.sums && entry.sums->count() > 0)
      applySums(entry, where);
  return batchDone(where);
}

Record Updates::record() const {
  Record record;
  if (scaler)
    record.put("loss_scale", *scaler);
  for (const Entry &entry : entries) {
    if (!entry.sums || entry.sums->count() == 0)
      continue;
    Record own;
    own.put("batches", entry.sums->count());
    own.put("paths", entry.sums->paths());
    own.put("sums", *entry.sums);
    record.set("gradients " + entry.name, std::move(own));
  }
  return record;
}

bool Updates::load(const Record &record, Where where) {
  bool isWhole = !scaler || record.contains("loss_scale");
  if (scaler && isWhole)
    record.get("loss_scale", *scaler, where);
  for (Entry &entry : entries) {
    entry.sums.reset();
    const Record *own = record.find("gradients " + entry.name);
    if (!own)
      continue;
    entry.sums = model.load_sums(
        own->at("sums", where), own->get<int64_t>("batches", where),
        own->get<std::vector<std::string>>("paths", where), where);
  }
  return isWhole;
}

} // namespace sinter::train
