/// What happened and when, for people.
#include "frontend/monitor/AppendFile.h"
#include "frontend/monitor/Figures.h"
#include "frontend/monitor/Kept.h"
#include "runtime/support/Printable.h"

#include <sinter/train/Logs.h>

#include <fmt/format.h>

namespace sinter::train {

struct ExperimentLog::State {
  std::string file;
  AppendFile output;

  void begin(const RunBegin &run);
  void add(double time, Level level, std::string_view text);
  void block(std::string_view title, const std::string &text);
  void add(const EpochEnd &epoch);
  void add(const RunEnd &end);
};

void ExperimentLog::State::add(double time, Level level,
                               std::string_view text) {
  std::string line =
      fmt::format("{} {:<7} ", timestamp(time), to_string(level));
  for (char letter : printable(text)) {
    line += letter;
    if (letter == '\n')
      line += "    ";
  }
  output.add(line + "\n");
}

void ExperimentLog::State::block(std::string_view title,
                                 const std::string &text) {
  if (text.empty())
    return;
  std::string lines = fmt::format("    {}:\n      ", title);
  for (char letter : printable(text)) {
    lines += letter;
    if (letter == '\n')
      lines += "      ";
  }
  lines.erase(lines.find_last_not_of(" \n") + 1);
  output.add(lines + "\n");
}

void ExperimentLog::State::begin(const RunBegin &run) {
  output = {};
  if (run.folder.empty())
    return;
  output = AppendFile(below(run.folder, file), !run.resume);
  if (run.resume)
    add(run.time, Level::info,
        fmt::format("{} goes on after epoch {}, at step {}; what was done "
                    "behind that is done again",
                    run.name, run.resume->epoch, run.resume->train_steps));
  else
    add(run.time, Level::info, run.name + " begins");
  block("config", run.config);
  block("model", run.model);
  block("devices", run.devices);
  block("hardware", run.hardware);
}

void ExperimentLog::State::add(const EpochEnd &epoch) {
  std::string text =
      fmt::format("epoch {} {}: {} steps, {}", epoch.epoch,
                  to_string(epoch.split), epoch.steps, duration(epoch.seconds));
  for (const Value &value : epoch.values)
    text += fmt::format(", {} {}", value.name, shortValue(value));
  add(epoch.time, Level::info, text);
}

void ExperimentLog::State::add(const RunEnd &end) {
  Level level = end.status == Status::failed        ? Level::error
                : end.status == Status::interrupted ? Level::warning
                                                    : Level::info;
  add(end.time, level,
      fmt::format("{}{}{} after {}; {} programs compiled in {}, {} found in "
                  "the caches",
                  to_string(end.status), end.why.empty() ? "" : ": ", end.why,
                  duration(end.seconds), end.programs,
                  duration(end.compile_seconds), end.cached));
  for (const DeviceUse &use : end.devices)
    add(end.time, Level::info,
        fmt::format("{}: {} in use, {} at most", use.device,
                    shortBytes(double(use.in_use)),
                    shortBytes(double(use.peak))));
  block("fusion", end.fusion);
  output.flush();
}

ExperimentLog::ExperimentLog(std::string file)
    : state(std::make_unique<State>()) {
  state->file = std::move(file);
}

ExperimentLog::~ExperimentLog() = default;

void ExperimentLog::on(const Event &event) {
  if (std::holds_alternative<StepEnd>(event))
    return;
  if (const auto *run = std::get_if<RunBegin>(&event))
    state->begin(*run);
  if (!state->output)
    return;
  if (const auto *epoch = std::get_if<EpochEnd>(&event))
    state->add(*epoch);
  else if (const auto *message = std::get_if<Message>(&event))
    state->add(message->time, message->level, message->text);
  else if (const auto *end = std::get_if<RunEnd>(&event))
    state->add(*end);
  else if (const auto *written = std::get_if<CheckpointWritten>(&event))
    state->add(written->time, Level::info,
               fmt::format("checkpoint {} ({}, {})", written->path,
                           shortBytes(double(written->bytes)), written->why));
  else if (const auto *removed = std::get_if<CheckpointRemoved>(&event))
    state->add(removed->time, Level::info,
               "checkpoint " + removed->path + " removed");
  else if (const auto *stop = std::get_if<Interrupted>(&event))
    state->add(stop->time, Level::warning, "interrupted: " + stop->why);
}

void ExperimentLog::flush() {
  if (state->output)
    state->output.flush();
}

void ExperimentLog::tick() { flush(); }

} // namespace sinter::train
