/// The loops of a training, and what they keep.
#include "frontend/Raise.h"
#include "frontend/learner/CheckpointFolder.h"
#include "frontend/learner/Interrupt.h"
#include "frontend/learner/LearnerState.h"
#include "frontend/learner/Machine.h"
#include "frontend/learner/MessageRelay.h"
#include "runtime/files/ReplaceFile.h"

#include <sinter/Random.h>

#include <fmt/format.h>

#include <utility>

namespace sinter::train {

//===- What it is made of -------------------------------------------------===//

static void checkOptions(const LearnerOptions &options,
                         std::source_location where) {
  auto refuse = [&](bool wrong, const char *name, auto value,
                    const char *what) {
    if (wrong)
      failLearner(fmt::format("{} is {}, but {}", name, value, what), where);
  };
  refuse(options.epochs < 0, "epochs", options.epochs, "it is at least 0");
  refuse(options.max_steps < 0, "max_steps", options.max_steps,
         "it is at least 0");
  refuse(options.accumulate < 1, "accumulate", options.accumulate,
         "it is at least 1");
  refuse(options.log_every < 0, "log_every", options.log_every,
         "it is at least 0");
  refuse(!(options.clip_norm >= 0), "clip_norm", options.clip_norm,
         "it is at least 0");
  refuse(!(options.clip_value >= 0), "clip_value", options.clip_value,
         "it is at least 0");
  refuse(options.checkpoints.keep_last < 1, "checkpoints.keep_last",
         options.checkpoints.keep_last, "it is at least 1");
}

LearnerCore::LearnerCore(LearnerOptions options, Where where)
    : told(std::move(options)), line(where) {
  checkOptions(told, where);
  update.accumulate = told.accumulate;
  update.clipNorm = told.clip_norm;
  update.clipValue = told.clip_value;
  if (told.loss_scale || told.autocast == DType::f16)
    update.scaler.emplace(told.loss_scale.value_or(LossScalerOptions{}), where);
}

LearnerCore::~LearnerCore() = default;

void LearnerCore::add_optimizer(std::string name, optim::Optimizer &optimizer,
                                std::optional<optim::Schedule> schedule,
                                Where where) {
  for (const Updates::Entry &entry : update.entries)
    if (entry.name == name || entry.optimizer == &optimizer)
      failLearner(fmt::format("the optimizer '{}' is there already", name),
                  where);
  Updates::Entry &entry = update.entries.emplace_back();
  entry.name = std::move(name);
  entry.optimizer = &optimizer;
  if (schedule)
    entry.scheduler =
        std::make_unique<optim::Scheduler>(optimizer, std::move(*schedule));
}

void LearnerCore::set_schedule(optim::Schedule schedule, Where where) {
  Updates::Entry &entry = update.entries.front();
  if (entry.scheduler)
    failLearner("the optimizer has a schedule already", where);
  entry.scheduler =
      std::make_unique<optim::Scheduler>(*entry.optimizer, std::move(schedule));
}

void LearnerCore::add_listener(std::shared_ptr<Listener> listener) {
  listeners.add(std::move(listener));
}

void LearnerCore::add_monitors(const MonitorOptions &options) {
  train::add_monitors(listeners, options);
  isShown = true;
}

void LearnerCore::add_state(std::string name, std::function<Record()> save,
                            std::function<void(const Record &)> load) {
  for (const Extra &extra : extras)
    if (extra.name == name)
      failLearner(fmt::format("checkpoints keep a '{}' already", name), line);
  extras.push_back({std::move(name), std::move(save), std::move(load)});
}

std::string LearnerCore::add_average(const AverageOptions &options,
                                     std::function<void()> update,
                                     std::function<void(bool)> validate,
                                     Where where) {
  if (options.from_epoch < 1)
    failLearner(fmt::format("an average's from_epoch is {}, but it is at least "
                            "1",
                            options.from_epoch),
                where);
  averages.push_back({options, std::move(update), std::move(validate)});
  return averages.size() == 1 ? "average"
                              : fmt::format("average {}", averages.size());
}

void LearnerCore::stop(std::string why) {
  stopping = true;
  stopReason = std::move(why);
}

void LearnerCore::throwNoValidStep(Where where) {
  failLearner("a step of three arguments cannot validate: "
              "learner.valid_step(function) gives what does",
              where);
}

//===- Loops --------------------------------------------------------------===//

bool LearnerCore::interrupted(State &run) {
  if (run.ended)
    return true;
  if (told.interruptible && Interrupt::asked()) {
    tell(Interrupted{.why = "SIGINT"});
    run.status = Status::interrupted;
    run.outcome.why = "SIGINT";
    run.ended = true;
  } else if (stopping) {
    run.status = Status::stopped;
    run.outcome.why = stopReason;
    run.ended = true;
  } else if (told.max_steps > 0 && run.total >= told.max_steps) {
    run.outcome.why = "max_steps";
    run.ended = true;
  }
  return run.ended;
}

std::vector<Value> LearnerCore::ratesOf(int64_t steps, double seconds) {
  std::vector<Value> values;
  for (const Updates::Entry &entry : update.entries)
    values.push_back({.name = entry.name == "optimizer"
                                  ? "learning rate"
                                  : "learning rate." + entry.name,
                      .value = entry.optimizer->lr(),
                      .role = Role::learning_rate});
  if (update.scaler)
    values.push_back({.name = "loss scale",
                      .value = update.scaler->scale.tensor(line).item<double>(),
                      .role = Role::system});
  if (seconds > 0 && steps > 0)
    values.push_back({.name = "steps",
                      .value = static_cast<double>(steps) / seconds,
                      .unit = "steps/s",
                      .better = Better::higher,
                      .role = Role::system});
  return values;
}

void LearnerCore::trainDone(const SplitData &data, State &run, double seconds) {
  std::vector<Value> values = valuesOf(*data.metrics, line);
  putResults(run.outcome.results, Split::train, values);
  for (Value &rate : ratesOf(run.step, seconds))
    values.push_back(std::move(rate));
  values = inUnits(std::move(values));
  tell(EpochEnd{.split = Split::train,
                .epoch = run.epoch + 1,
                .steps = run.step,
                .total_step = run.total,
                .seconds = seconds,
                .values = values});
  data.metrics->reset();
}

// Readings of a GPU take as long as a short step, and change slowly.
void LearnerCore::reportDevices(State &run) {
  if (listeners.empty() || (run.reported && secondsSince(*run.reported) < 1))
    return;
  tell(DeviceReport{.devices = machine->uses()});
  run.reported = Clock::now();
}

void LearnerCore::stepDone(const LearnerParts &parts, State &run) {
  const CheckpointOptions &when = told.checkpoints;
  // Reading metrics waits for the device, so somebody has to ask.
  bool isLogged = told.log_every > 0 && run.total % told.log_every == 0 &&
                  (!listeners.empty() || (folder && when.when));
  std::vector<Value> values;
  if (isLogged) {
    values = valuesOf(*parts.train.metrics, line);
    for (Value &rate :
         ratesOf(run.total - run.lastLogged, secondsSince(run.logged)))
      values.push_back(std::move(rate));
    values = inUnits(std::move(values));
    run.lastLogged = run.total;
    run.logged = Clock::now();
  }
  StepEnd event{.split = Split::train,
                .epoch = run.epoch + 1,
                .step = run.step,
                .steps = parts.train.steps,
                .total_step = run.total,
                .values = values};
  tell(event);
  if (isLogged)
    reportDevices(run);
  if (!folder)
    return;
  for (const Event &done : folder->done(false))
    tell(done);
  if (when.every_steps > 0 && run.total % when.every_steps == 0)
    checkpoint(parts, run, "every steps");
  else if (when.every_minutes > 0 &&
           secondsSince(run.checkpointed) >= 60 * when.every_minutes)
    checkpoint(parts, run, "every minutes");
  else if (when.when && when.when(event))
    checkpoint(parts, run, "as asked");
}

void LearnerCore::average(bool isEndOfEpoch) {
  for (Average &one : averages)
    if (one.options.by_epoch == isEndOfEpoch &&
        current->epoch + 1 >= one.options.from_epoch)
      one.update();
}

void LearnerCore::recorded() {
  if (update.batchDone(line))
    average(false);
}

void LearnerCore::chooseValidated() {
  for (Average &one : averages)
    if (one.options.validates)
      one.validate(current->epoch + 1 >= one.options.from_epoch);
}

void LearnerCore::trainEpoch(const LearnerParts &parts, State &run) {
  auto began = Clock::now();
  int64_t before = run.total;
  parts.set_training(true);
  machine->training();
  parts.train.begin();
  bool isWhole = false;
  while (!interrupted(run)) {
    if (!parts.train.step()) {
      isWhole = true;
      break;
    }
    ++run.step;
    ++run.total;
    stepDone(parts, run);
  }
  machine->trained(run.total - before);
  if (!isWhole)
    return;
  if (update.finish(line))
    average(false);
  average(true);
  parts.train.end();
  run.trained = true;
  trainDone(parts.train, run, secondsSince(began));
}

void LearnerCore::validate(const LearnerParts &parts, State &run) {
  if (!parts.valid)
    return;
  chooseValidated();
  parts.set_training(false);
  PassPlace place{.epoch = run.epoch + 1,
                  .total = run.validTotal,
                  .isInterruptible = told.interruptible};
  std::optional<int64_t> steps = evaluatePass(
      *parts.valid, place, [this](const Event &event) { tell(event); },
      run.outcome.results, line);
  if (steps)
    run.validTotal += *steps;
  else
    interrupted(run);
}

void LearnerCore::checkStopRules(State &run) {
  run.rules.resize(told.early_stopping.size());
  for (size_t i = 0; i < run.rules.size(); ++i) {
    const EarlyStopping &rule = told.early_stopping[i];
    RuleState &state = run.rules[i];
    const Result *found = nullptr;
    for (const Result &result : run.outcome.results)
      if (result.name == rule.metric && result.split == rule.split)
        found = &result;
    if (!found)
      failLearner(
          fmt::format("early stopping asks for the {} metric '{}', which "
                      "is not there",
                      to_string(rule.split), rule.metric),
          line);
    if (std::isnan(state.best) ||
        found->gain_over(state.best) > rule.min_delta) {
      state = {.best = found->value, .bad = 0};
    } else {
      ++state.bad;
    }
  }
  stopByRules(run);
}

void LearnerCore::stopByRules(State &run) {
  if (run.rules.size() != told.early_stopping.size())
    return;
  for (size_t i = 0; i < run.rules.size(); ++i) {
    const EarlyStopping &rule = told.early_stopping[i];
    int64_t bad = run.rules[i].bad;
    if (bad <= rule.patience)
      continue;
    run.status = Status::stopped;
    run.ended = true;
    run.outcome.why = fmt::format("{} {} was not better for {} epochs",
                                  to_string(rule.split), rule.metric, bad);
  }
}

void LearnerCore::endEpoch(const LearnerParts &parts, State &run) {
  ++run.epoch;
  run.step = 0;
  run.trained = false;
  checkStopRules(run);
  int64_t every = told.checkpoints.every_epochs;
  if (every > 0 && run.epoch % every == 0)
    checkpoint(parts, run, "end of epoch");
}

static void writeText(const std::string &path, const std::string &text,
                      std::source_location where) {
  std::span<const std::byte> part = std::as_bytes(std::span(text));
  sinter::detail::unwrap(runtime::replaceFile(path, {&part, 1}), where);
}

void LearnerCore::begin(const LearnerParts &parts, State &run) {
  std::vector<std::string> warnings;
  if (told.seed)
    manual_seed(*told.seed);
  if (!told.folder.empty()) {
    folder = std::make_unique<CheckpointFolder>(told.folder + "/checkpoint",
                                                told.checkpoints, line);
    if (!told.resume && !folder->empty())
      failLearner(fmt::format("the folder '{}' has checkpoints of another run: "
                              "name another one, or resume",
                              told.folder),
                  line);
    if (!told.config.empty())
      writeText(told.folder + "/config.json", told.config, line);
    warnings = resume(parts, run);
  }
  RunBegin event{.name = told.name,
                 .folder = told.folder,
                 .config = told.config,
                 .model = parts.facts.summary,
                 .devices = listeners.empty() ? "" : machine->devices(),
                 .hardware = listeners.empty() ? "" : Machine::hardware(),
                 .epochs = told.epochs,
                 .train_steps = parts.train.steps,
                 .valid_steps = parts.valid ? parts.valid->steps : 0,
                 .parameters = parts.facts.parameters};
  if (run.outcome.resumed_from)
    event.resume = Resume{.epoch = run.epoch,
                          .train_steps = run.total,
                          .valid_steps = run.validTotal};
  tell(event);
  for (std::string &text : warnings)
    tell(Message{.level = Level::warning, .text = std::move(text)});
  run.logged = Clock::now();
  run.lastLogged = run.total;
}

Outcome LearnerCore::end(const LearnerParts &parts, State &run) {
  checkpoint(parts, run, "last");
  if (folder)
    for (const Event &event : folder->done(true))
      tell(event);
  parts.set_training(true);
  Outcome outcome = std::move(run.outcome);
  outcome.status = run.status;
  outcome.epochs = run.epoch;
  outcome.steps = run.total;
  outcome.seconds = secondsSince(run.began);
  RunEnd event{
      .status = outcome.status, .why = outcome.why, .seconds = outcome.seconds};
  if (!listeners.empty()) {
    event.devices = machine->uses();
    machine->tell(event);
  }
  tell(event);
  return outcome;
}

void LearnerCore::tell(const Event &event) {
  tellWithMessages(listeners, relay.get(), event);
}

Outcome LearnerCore::evaluate(const LearnerParts &parts, Where where) {
  line = where;
  auto began = Clock::now();
  Outcome outcome;
  parts.set_training(false);
  evaluatePass(
      *parts.valid, {.epoch = 0, .isInterruptible = false},
      [this](const Event &event) { tell(event); }, outcome.results, where);
  parts.set_training(true);
  outcome.seconds = secondsSince(began);
  return outcome;
}

Outcome LearnerCore::runEpochs(const LearnerParts &parts, State &run) {
  while (run.epoch < told.epochs && !interrupted(run)) {
    tell(EpochBegin{.epoch = run.epoch + 1,
                    .train_steps = parts.train.steps,
                    .valid_steps = parts.valid ? parts.valid->steps : 0});
    if (!run.trained)
      trainEpoch(parts, run);
    if (!run.trained)
      break;
    validate(parts, run);
    if (run.ended && run.status == Status::interrupted)
      break;
    endEpoch(parts, run);
  }
  return end(parts, run);
}

Outcome LearnerCore::fit(const LearnerParts &parts, Where where) {
  line = where;
  stopping = false;
  update.model = parts.updates;
  Interrupt interrupt(told.interruptible);
  State run;
  struct Running {
    LearnerCore &core;
    ~Running() {
      core.current = nullptr;
      core.relay.reset();
    }
  } running{*this};
  current = &run;
  machine = std::make_unique<Machine>(parts.facts.devices);
  if (isShown)
    relay = std::make_unique<MessageRelay>();
  begin(parts, run);
  try {
    return runEpochs(parts, run);
  } catch (const std::exception &error) {
    tell(RunEnd{.status = Status::failed,
                .why = error.what(),
                .seconds = secondsSince(run.began)});
    throw;
  }
}

} // namespace sinter::train
