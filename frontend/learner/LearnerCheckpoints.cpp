/// Checkpoints of a run: what is in them, and how it goes on from there.
#include "frontend/learner/CheckpointFolder.h"
#include "frontend/learner/LearnerState.h"

#include <sinter/Random.h>

#include <fmt/format.h>

#include <utility>

namespace sinter::train {

static Record recordOf(const metrics::StateMap &states) {
  Record record;
  for (const auto &[name, tensor] : states)
    record.put(name, tensor);
  return record;
}

static metrics::StateMap statesOf(const Record &record) {
  metrics::StateMap states;
  for (const Record::Entry &entry : record.as_map())
    states.emplace(entry.name, record.get<Tensor>(entry.name));
  return states;
}

void LearnerCore::checkpoint(const LearnerParts &parts, State &run,
                             const std::string &why) {
  if (!folder || run.written == run.total)
    return;
  // One at a time; the one before is told of at once.
  for (const Event &event : folder->done(true))
    tell(event);
  listeners.flush();
  run.checkpointed = Clock::now();
  run.written = run.total;
  Checkpoint made;
  made.number = run.total;
  made.epoch = run.epoch;
  made.ends_epoch = run.step == 0;
  made.why = why;
  made.results = run.outcome.results;
  made.model.set("model", parts.model());
  for (const Updates::Entry &entry : update.entries) {
    made.optim.put(entry.name, *entry.optimizer);
    if (entry.scheduler)
      made.scheduler.put(entry.name, *entry.scheduler);
  }
  made.state.put("run", run);
  made.state.put("random", default_generator());
  if (parts.train.save)
    parts.train.save(made.state);
  made.state.set("updates", update.record());
  made.state.set("metrics", recordOf(parts.train.metrics->state(line)));
  for (const Extra &extra : extras)
    made.state.set("kept " + extra.name, extra.save());
  folder->write(std::move(made), line);
  if (!told.checkpoints.background)
    for (const Event &event : folder->done(true))
      tell(event);
}

std::vector<std::string> LearnerCore::resume(const LearnerParts &parts,
                                             State &run) {
  std::vector<std::string> warnings;
  std::optional<Checkpoint> found = folder->newest(warnings, line);
  if (!found)
    return warnings;
  found->state.get("run", run, line);
  bool beginsAgain = run.step > 0 && !run.trained && !parts.train.load;
  if (beginsAgain) {
    warnings.push_back(
        fmt::format("the loader has no cursor: epoch {} begins again, of which "
                    "{} steps were done",
                    run.epoch + 1, run.step));
    run.step = 0;
  }
  parts.load_model(found->model.at("model", line));
  for (Updates::Entry &entry : update.entries) {
    parts.load_optimizer(*entry.optimizer, found->optim.at(entry.name, line));
    if (entry.scheduler)
      found->scheduler.get(entry.name, *entry.scheduler, line);
  }
  if (!update.load(found->state.at("updates", line), line))
    warnings.emplace_back("the checkpoint has no loss scale: it begins anew");
  if (parts.train.load)
    parts.train.load(found->state);
  if (!beginsAgain)
    parts.train.metrics->load_state(statesOf(found->state.at("metrics", line)),
                                    line);
  for (const Extra &extra : extras)
    extra.load(found->state.at("kept " + extra.name, line));
  // The last: what else is made here may draw.
  found->state.get("random", default_generator(), line);
  run.outcome.results = found->results;
  run.outcome.resumed_from = run.written = found->number;
  stopByRules(run);
  return warnings;
}

} // namespace sinter::train
