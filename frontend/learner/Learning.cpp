/// The loops of a training, and what they keep.
#include "frontend/learner/CheckpointFolder.h"
#include "frontend/learner/Interrupt.h"

#include "frontend/Raise.h"
#include "runtime/params/ReplaceFile.h"

#include <sinter/Random.h>
#include <sinter/Stats.h>
#include <sinter/train/LearnerCore.h>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

namespace sinter::train {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] static void failGiven(std::string message,
                                   std::source_location where) {
  sinter::detail::raise({.kind = ErrorKind::invalid_argument,
                         .message = "learner: " + std::move(message)},
                        where);
}

//===- The state of a run
//---------------------------------------------------===//

/// The value of an early stopping rule so far.
struct RuleState {
  double best = NAN;
  int64_t bad = 0;
  SINTER_RECORD(RuleState, best, bad)
};

/// What a run knows of itself; all but the clocks is in checkpoints.
struct LearnerCore::State {
  int64_t epoch = 0;      ///< whole ones
  int64_t step = 0;       ///< batches of this epoch that were trained on
  int64_t total = 0;      ///< of all epochs
  int64_t validTotal = 0; ///< batches of validation of all epochs
  bool trained = false;   ///< of this epoch only the validation is missing
  std::vector<RuleState> rules;
  SINTER_RECORD(State, epoch, step, total, validTotal, trained, rules)

  Outcome outcome;
  Clock::time_point began = Clock::now(), checkpointed = began;
  int64_t lastLogged = 0;
  Clock::time_point logged = began;
  Status status = Status::finished;
  bool ended = false;
  int64_t written = -1; ///< the number of the last checkpoint
};

double Outcome::operator()(std::string_view name, Split split) const {
  for (const Result &result : results)
    if (result.name == name && result.split == split)
      return result.value;
  std::string known;
  for (const Result &result : results)
    known += fmt::format("{}{} '{}'", known.empty() ? "" : ", ",
                         to_string(result.split), result.name);
  failGiven(fmt::format("there is no {} '{}' among the results: {}",
                        to_string(split), name,
                        known.empty() ? "there are none" : known),
            {});
}

//===- What it is made of
//---------------------------------------------------===//

static void checkOptions(const LearnerOptions &options,
                         std::source_location where) {
  auto refuse = [&](bool wrong, const char *name, auto value,
                    const char *what) {
    if (wrong)
      failGiven(fmt::format("{} is {}, but {}", name, value, what), where);
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
  refuse(options.checkpoints.every_steps % options.accumulate != 0,
         "checkpoints.every_steps", options.checkpoints.every_steps,
         "it is a multiple of accumulate");
}

LearnerCore::LearnerCore(LearnerOptions options, Where where)
    : told(std::move(options)), line(where) {
  checkOptions(told, where);
  update.accumulate = told.accumulate;
  update.clipNorm = told.clip_norm;
  update.clipValue = told.clip_value;
}

LearnerCore::~LearnerCore() = default;

void LearnerCore::add_optimizer(std::string name, optim::Optimizer &optimizer,
                                std::optional<optim::Schedule> schedule,
                                Where where) {
  for (const Updates::Entry &entry : update.entries)
    if (entry.name == name || entry.optimizer == &optimizer)
      failGiven(fmt::format("the optimizer '{}' is there already", name),
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
    failGiven("the optimizer has a schedule already", where);
  entry.scheduler =
      std::make_unique<optim::Scheduler>(*entry.optimizer, std::move(schedule));
}

void LearnerCore::add_listener(std::shared_ptr<Listener> listener) {
  listeners.add(std::move(listener));
}

void LearnerCore::add_monitors(const MonitorOptions &options) {
  train::add_monitors(listeners, options);
}

void LearnerCore::add_state(std::string name, std::function<Record()> save,
                            std::function<void(const Record &)> load) {
  extras.push_back({std::move(name), std::move(save), std::move(load)});
}

void LearnerCore::stop(std::string why) {
  stopping = true;
  stopReason = std::move(why);
}

void LearnerCore::throwNoValidStep(Where where) {
  failGiven("a step of three arguments cannot validate: "
            "learner.valid_step(function) gives what does",
            where);
}

void LearnerCore::settle(const metrics::MetricGroup &metrics, Where where) {
  bool hasState = false;
  for (size_t i = 0; i < metrics.size(); ++i)
    for (const metrics::State *state : metrics[i].states())
      hasState |= state->defined();
  if (!hasState)
    failGiven("a step whose output has no field `loss` needs a metric of the "
              "training, which is what is evaluated",
              where);
  metrics.settle(where);
}

//===- Values
//---------------------------------------------------------------===//

static Better betterOf(const metrics::MetricInfo &info) {
  if (!info.higher_is_better)
    return Better::neither;
  return *info.higher_is_better ? Better::higher : Better::lower;
}

/// A metric whose unit is `%` is a share; who watches is told the percents.
static std::vector<Value> inUnits(std::vector<Value> values) {
  for (Value &value : values)
    if (value.unit == "%")
      value.value *= 100;
  return values;
}

std::vector<Value> LearnerCore::valuesOf(const metrics::MetricGroup &metrics,
                                         Split split, int64_t steps,
                                         double seconds) {
  std::vector<Value> values;
  std::vector<metrics::MetricInfo> infos = metrics.infos();
  for (const metrics::Value &one : metrics.values(line)) {
    Value value{.name = one.name, .value = one.value};
    for (const metrics::MetricInfo &info : infos)
      if (one.name == info.name || one.name.starts_with(info.name + ".")) {
        value.unit = info.unit;
        value.better = betterOf(info);
      }
    values.push_back(std::move(value));
  }
  if (split == Split::valid)
    return values;
  for (const Updates::Entry &entry : update.entries)
    values.push_back({.name = entry.name == "optimizer"
                                  ? "learning rate"
                                  : "learning rate." + entry.name,
                      .value = entry.optimizer->lr(),
                      .role = Role::learning_rate});
  if (seconds > 0 && steps > 0)
    values.push_back({.name = "steps",
                      .value = static_cast<double>(steps) / seconds,
                      .unit = "steps/s",
                      .better = Better::higher,
                      .role = Role::system});
  return values;
}

//===- Checkpoints
//----------------------------------------------------------===//

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
  made.state.set("metrics", recordOf(parts.train.metrics->state(line)));
  for (const Extra &extra : extras)
    made.state.set("kept " + extra.name, extra.save());
  folder->write(std::move(made), line);
  for (const Event &event : folder->done(false))
    tell(event);
}

void LearnerCore::resume(const LearnerParts &parts, State &run) {
  std::vector<std::string> warnings;
  std::optional<Checkpoint> found = folder->newest(warnings, line);
  for (std::string &text : warnings)
    tell(Message{.level = Level::warning, .text = std::move(text)});
  if (!found)
    return;
  found->state.get("run", run, line);
  if (run.step > 0 && !parts.train.load)
    failGiven("the checkpoint is within an epoch, but the loader cannot go "
              "there: it has no cursor",
              line);
  parts.load_model(found->model.at("model", line));
  for (Updates::Entry &entry : update.entries) {
    parts.load_optimizer(*entry.optimizer, found->optim.at(entry.name, line));
    if (entry.scheduler)
      found->scheduler.get(entry.name, *entry.scheduler, line);
  }
  found->state.get("random", default_generator(), line);
  if (parts.train.load)
    parts.train.load(found->state);
  parts.train.metrics->load_state(statesOf(found->state.at("metrics", line)),
                                  line);
  for (const Extra &extra : extras)
    extra.load(found->state.at("kept " + extra.name, line));
  run.outcome.results = found->results;
  run.outcome.resumed_from = run.written = found->number;
}

//===- Loops
//----------------------------------------------------------------===//

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

void LearnerCore::splitDone(const LearnerParts::Data &data, State &run,
                            Split split, double seconds) {
  std::vector<Value> values = valuesOf(*data.metrics, split, run.step, seconds);
  std::erase_if(run.outcome.results,
                [&](const Result &result) { return result.split == split; });
  for (const Value &value : values)
    if (value.role == Role::metric)
      run.outcome.results.push_back({.split = split,
                                     .name = value.name,
                                     .value = value.value,
                                     .better = value.better});
  bool isTraining = split == Split::train;
  values = inUnits(std::move(values));
  tell(EpochEnd{.split = split,
                .epoch = run.epoch + 1,
                .steps = isTraining ? run.step : data.steps,
                .total_step = isTraining ? run.total : run.validTotal,
                .seconds = seconds,
                .values = values});
  data.metrics->reset();
}

void LearnerCore::stepDone(const LearnerParts &parts, State &run, Split split) {
  const LearnerParts::Data &data =
      split == Split::train ? parts.train : *parts.valid;
  bool isLogged = split == Split::train && told.log_every > 0 &&
                  run.total % told.log_every == 0;
  std::vector<Value> values;
  if (isLogged) {
    values = inUnits(valuesOf(*data.metrics, split, run.total - run.lastLogged,
                              secondsSince(run.logged)));
    run.lastLogged = run.total;
    run.logged = Clock::now();
  }
  StepEnd event{.split = split,
                .epoch = run.epoch + 1,
                .step = run.step,
                .steps = data.steps,
                .total_step =
                    split == Split::train ? run.total : run.validTotal,
                .values = values};
  tell(event);
  if (split == Split::valid || !folder || !update.settled())
    return;
  const CheckpointOptions &when = told.checkpoints;
  if (when.every_steps > 0 && run.total % when.every_steps == 0)
    checkpoint(parts, run, "every steps");
  else if (when.every_minutes > 0 &&
           secondsSince(run.checkpointed) >= 60 * when.every_minutes)
    checkpoint(parts, run, "every minutes");
  else if (when.when && when.when(event))
    checkpoint(parts, run, "as asked");
}

void LearnerCore::trainEpoch(const LearnerParts &parts, State &run) {
  auto began = Clock::now();
  parts.set_training(true);
  parts.train.begin();
  bool isWhole = false;
  while (!interrupted(run)) {
    if (!parts.train.step()) {
      isWhole = true;
      break;
    }
    ++run.step;
    ++run.total;
    stepDone(parts, run, Split::train);
  }
  if (isWhole) {
    update.finish(line);
    parts.train.end();
    run.trained = true;
    splitDone(parts.train, run, Split::train, secondsSince(began));
  }
}

void LearnerCore::validate(const LearnerParts &parts, State &run) {
  if (!parts.valid)
    return;
  auto began = Clock::now();
  State shown = run;
  shown.step = 0;
  parts.set_training(false);
  parts.valid->begin();
  while (parts.valid->step()) {
    ++shown.step;
    ++shown.validTotal;
    stepDone(parts, shown, Split::valid);
    if (told.interruptible && Interrupt::asked()) {
      // It is done again as a whole.
      parts.valid->end();
      parts.valid->metrics->reset();
      interrupted(run);
      return;
    }
  }
  parts.valid->end();
  run.validTotal = shown.validTotal;
  splitDone(*parts.valid, run, Split::valid, secondsSince(began));
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
      failGiven(fmt::format("early stopping asks for the {} metric '{}', which "
                            "is not there",
                            to_string(rule.split), rule.metric),
                line);
    if (std::isnan(state.best) ||
        found->gain_over(state.best) > rule.min_delta) {
      state = {.best = found->value, .bad = 0};
    } else if (++state.bad > rule.patience) {
      run.status = Status::stopped;
      run.ended = true;
      run.outcome.why =
          fmt::format("{} {} was not better for {} epochs",
                      to_string(rule.split), rule.metric, state.bad);
    }
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
  if (told.seed)
    manual_seed(*told.seed);
  if (!told.folder.empty()) {
    folder = std::make_unique<CheckpointFolder>(told.folder + "/checkpoint",
                                                told.checkpoints, line);
    if (!told.resume && !folder->empty())
      failGiven(fmt::format("the folder '{}' has checkpoints of another run: "
                            "name another one, or resume",
                            told.folder),
                line);
    if (!told.config.empty())
      writeText(told.folder + "/config.json", told.config, line);
    resume(parts, run);
  }
  RunBegin event{.name = told.name,
                 .folder = told.folder,
                 .config = told.config,
                 .epochs = told.epochs,
                 .train_steps = parts.train.steps,
                 .valid_steps = parts.valid ? parts.valid->steps : 0,
                 .parameters = parts.parameters};
  if (run.outcome.resumed_from)
    event.resume = Resume{.epoch = run.epoch,
                          .train_steps = run.total,
                          .valid_steps = run.validTotal};
  tell(event);
  run.logged = Clock::now();
  run.lastLogged = run.total;
}

Outcome LearnerCore::end(const LearnerParts &parts, State &run) {
  if (update.settled())
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
  Stats stats = sinter::stats();
  tell(RunEnd{.status = outcome.status,
              .why = outcome.why,
              .seconds = outcome.seconds,
              .programs = stats.compiles,
              .cached = stats.memory_hits + stats.disk_hits,
              .compile_seconds = stats.compile_milliseconds / 1000});
  return outcome;
}

Outcome LearnerCore::evaluate(const LearnerParts &parts, Where where) {
  line = where;
  State run;
  run.epoch = -1;
  validate(parts, run);
  parts.set_training(true);
  Outcome outcome = std::move(run.outcome);
  outcome.seconds = secondsSince(run.began);
  return outcome;
}

Outcome LearnerCore::fit(const LearnerParts &parts, Where where) {
  line = where;
  stopping = false;
  Interrupt interrupt(told.interruptible);
  State run;
  begin(parts, run);
  try {
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
  } catch (const std::exception &error) {
    tell(RunEnd{.status = Status::failed,
                .why = error.what(),
                .seconds = secondsSince(run.began)});
    throw;
  }
}

} // namespace sinter::train
