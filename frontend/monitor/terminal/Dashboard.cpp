/// When to draw, and when to write lines.
#include <sinter/train/Dashboard.h>

#include "frontend/monitor/terminal/DashboardPicture.h"
#include "runtime/support/Printable.h"

#include <chrono>

namespace sinter::train {

struct Dashboard::State {
  using Clock = std::chrono::steady_clock;
  static constexpr auto interval = std::chrono::milliseconds(100);

  explicit State(Options options) : options(options), screen(options.stream) {}

  void draw(bool isLast);
  void write(const Event &event);
  /// Whether a reading has its line now.
  bool isDue(const StepEnd &step);

  Options options;
  Progress progress;
  Screen screen;
  Look look;
  bool isRunning = false;
  Clock::time_point drawn, told;
  double toldTime = 0; ///< of the last event
  double lineTime = 0;
};

void Dashboard::State::draw(bool isLast) {
  Clock::time_point now = Clock::now();
  if (!isLast && now - drawn < interval)
    return;
  drawn = now;
  if (isInBackground(options.stream))
    return;
  look = lookOf(options.stream);
  screen.draw(pictureOf(progress, look), look);
}

bool Dashboard::State::isDue(const StepEnd &step) {
  if (step.values.empty() || step.time - lineTime < options.line_seconds)
    return false;
  lineTime = step.time;
  return true;
}

void Dashboard::State::write(const Event &event) {
  std::string text;
  if (const auto *run = std::get_if<RunBegin>(&event)) {
    lineTime = run->time;
    text = beginLine(progress);
  } else if (const auto *step = std::get_if<StepEnd>(&event)) {
    if (isDue(*step))
      text = stepLine(progress, *step);
  } else if (const auto *epoch = std::get_if<EpochEnd>(&event)) {
    text = epochLine(progress, *epoch);
  } else if (std::holds_alternative<Message>(event) ||
             std::holds_alternative<CheckpointWritten>(event) ||
             std::holds_alternative<Interrupted>(event)) {
    const Message &said = progress.messages.back();
    if (said.level >= Level::warning)
      text = std::string(to_string(said.level)) + ": ";
    text += printable(said.text) + "\n";
  } else if (progress.end) {
    text = endLine(progress);
  }
  if (!text.empty())
    writeTo(options.stream, text);
}

Dashboard::Dashboard(Options options)
    : state(std::make_unique<State>(options)) {}

Dashboard::~Dashboard() {
  // A run that never ended: what it came to is shown.
  if (!state->isRunning || !state->look.isTerminal)
    return;
  try {
    state->draw(true);
  } catch (...) {
    // The terminal is gone, and nobody is left to tell.
    state->isRunning = false;
  }
}

void Dashboard::on(const Event &event) {
  state->progress.on(event);
  state->told = State::Clock::now();
  state->toldTime = state->progress.time;
  if (std::holds_alternative<RunBegin>(event)) {
    state->look = lookOf(state->options.stream);
    if (state->options.lines_only)
      state->look.isTerminal = false;
    state->isRunning = true;
  }
  if (!state->isRunning)
    return;
  bool isEnd = std::holds_alternative<RunEnd>(event);
  if (state->look.isTerminal)
    state->draw(isEnd);
  else
    state->write(event);
  if (isEnd)
    state->isRunning = false;
}

void Dashboard::flush() {
  if (state->isRunning && state->look.isTerminal)
    state->draw(true);
}

void Dashboard::tick() {
  if (!state->isRunning || !state->look.isTerminal)
    return;
  // The clock goes on while a step takes long.
  std::chrono::duration<double> since = State::Clock::now() - state->told;
  state->progress.time = state->toldTime + since.count();
  state->draw(false);
}

} // namespace sinter::train
