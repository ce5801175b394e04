/// Following the events of a run.
#include "frontend/monitor/Progress.h"

#include "frontend/monitor/Figures.h"

#include <algorithm>

namespace sinter::train {

void Rate::add(double time, int64_t steps) {
  constexpr double apart = 0.2, longest = 10;
  if (!samples.empty() &&
      (steps < samples.back().steps || time < samples.back().time))
    samples.clear(); // another epoch, or another clock
  if (samples.size() >= 2 &&
      samples.back().time - samples[samples.size() - 2].time < apart)
    samples.back() = {time, steps};
  else
    samples.push_back({time, steps});
  while (samples.size() > 2 && time - samples.front().time > longest)
    samples.pop_front();
}

double Rate::get() const {
  if (samples.size() < 2)
    return 0;
  double seconds = samples.back().time - samples.front().time;
  return seconds > 0
             ? double(samples.back().steps - samples.front().steps) / seconds
             : 0;
}

void Progress::say(Level level, std::string text) {
  constexpr size_t most = 50;
  messages.push_back({.level = level, .text = std::move(text), .time = time});
  if (messages.size() > most)
    messages.pop_front();
}

void Progress::add(const StepEnd &event) {
  if (event.split != split || event.epoch != epoch)
    rates.clear();
  split = event.split;
  epoch = event.epoch;
  step = event.step;
  steps = event.steps;
  done[size_t(split)] = event.total_step;
  rates.add(event.time, event.total_step);
}

void Progress::on(const Event &event) {
  history.on(event);
  std::visit(
      [&](const auto &each) {
        if constexpr (requires { each.time; })
          time = each.time;
      },
      event);
  if (const auto *stepEnd = std::get_if<StepEnd>(&event)) {
    add(*stepEnd);
  } else if (const auto *begin = std::get_if<RunBegin>(&event)) {
    History restored = std::move(history);
    *this = {};
    history = std::move(restored);
    run = *begin;
    time = run.time;
    trainSteps = run.train_steps;
    validSteps = run.valid_steps;
    if (run.resume) {
      epoch = run.resume->epoch;
      done = {run.resume->train_steps, run.resume->valid_steps};
    }
    firstShare = share().value_or(0);
  } else if (const auto *epochBegin = std::get_if<EpochBegin>(&event)) {
    epoch = epochBegin->epoch;
    split = Split::train;
    step = 0;
    steps = epochBegin->train_steps;
    trainSteps = std::max(trainSteps, epochBegin->train_steps);
    validSteps = std::max(validSteps, epochBegin->valid_steps);
    rates.clear();
  } else if (const auto *epochEnd = std::get_if<EpochEnd>(&event)) {
    (epochEnd->split == Split::train ? trainSteps : validSteps) =
        epochEnd->steps;
    split = epochEnd->split;
    step = steps = epochEnd->steps;
    int64_t &counted = done[size_t(split)];
    counted = std::max(counted, epochEnd->total_step);
  } else if (const auto *report = std::get_if<DeviceReport>(&event)) {
    devices = report->devices;
  } else if (const auto *message = std::get_if<Message>(&event)) {
    say(message->level, message->text);
  } else if (const auto *written = std::get_if<CheckpointWritten>(&event)) {
    say(Level::info, "checkpoint " + written->path +
                         (written->why.empty() ? "" : ": " + written->why));
  } else if (const auto *stop = std::get_if<Interrupted>(&event)) {
    say(Level::warning, stop->why + ": ends after this step");
  } else if (const auto *runEnd = std::get_if<RunEnd>(&event)) {
    end = *runEnd;
    if (!end->devices.empty())
      devices = end->devices;
  }
}

std::optional<double> Progress::share() const {
  if (run.epochs <= 0)
    return {};
  auto all = double(trainSteps + validSteps) * double(run.epochs);
  double share =
      all > 0 ? double(done[0] + done[1]) / all
              : double(std::max<int64_t>(epoch - 1, 0)) / double(run.epochs);
  return std::clamp(share, 0.0, 1.0);
}

std::optional<double> Progress::epochLeft() const {
  if (end || steps <= 0 || rate() <= 0)
    return {};
  return double(steps - step) / rate();
}

std::optional<double> Progress::runLeft() const {
  std::optional<double> now = share();
  if (end || !now || *now <= firstShare || elapsed() <= 0)
    return {};
  return elapsed() * (1 - *now) / (*now - firstShare);
}

} // namespace sinter::train
