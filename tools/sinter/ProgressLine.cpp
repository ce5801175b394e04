/// A thread draws the line, so that a part that takes long is seen, too.
#include "tools/sinter/ProgressLine.h"

#include "runtime/support/Progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <ranges>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace sinter::cli {

using Clock = std::chrono::steady_clock;

namespace {

/// What is under way.
struct Step {
  std::string_view what; ///< text of the program itself
  size_t done, total;
  Clock::time_point begin;
};

/// The line. It stays when its object is gone: a thread that was told to go on
/// before may still tell of its steps.
struct Line {
  std::mutex mutex;
  std::condition_variable changed;
  std::thread drawer; ///< from the first step on
  Clock::duration patience = std::chrono::milliseconds(500);
  std::vector<Step> steps; ///< the innermost stands last
  Step drawn{};            ///< where isDrawn
  bool isShown = false, isDrawn = false, isOver = false;

  void note(std::string_view what, size_t done, size_t total);
  const Step *late() const;
  void draw();
  void wipe();
};

} // namespace

static Line &line() {
  static auto &held = *new Line;
  return held;
}

static void told(const char *what, size_t done, size_t total) {
  std::lock_guard lock(line().mutex);
  if (line().isShown)
    line().note(what, done, total);
}

ProgressLine::ProgressLine() {
  if (::isatty(STDERR_FILENO) != 1)
    return;
  Line &own = line();
  {
    std::lock_guard lock(own.mutex);
    // For tests, which cannot know how long something takes.
    if (const char *wait = std::getenv("SINTER_PROGRESS_WAIT"))
      own.patience = std::chrono::milliseconds(std::strtol(wait, nullptr, 10));
    own.isShown = true;
    own.isOver = false;
  }
  setProgressSink(told);
}

ProgressLine::~ProgressLine() {
  hide();
  Line &own = line();
  {
    std::lock_guard lock(own.mutex);
    own.isOver = true;
  }
  own.changed.notify_all();
  // None begins after hide.
  if (own.drawer.joinable())
    own.drawer.join();
}

void ProgressLine::hide() {
  setProgressSink(nullptr);
  Line &own = line();
  std::lock_guard lock(own.mutex);
  own.isShown = false;
  own.steps.clear();
  own.wipe();
}

void Line::note(std::string_view what, size_t done, size_t total) {
  auto step = std::ranges::find(steps, what, &Step::what);
  if (done == total) {
    if (step != steps.end())
      steps.erase(step);
    if (steps.empty())
      wipe();
    return;
  }
  if (step != steps.end()) {
    step->done = done;
    step->total = total;
    return;
  }
  steps.push_back({what, done, total, Clock::now()});
  changed.notify_all();
  if (drawer.joinable())
    return;
  try {
    drawer = std::thread([this] { draw(); });
  } catch (const std::system_error &) {
    isShown = false; // no thread, no line
    steps.clear();
  }
}

/// The innermost step that has taken long.
const Step *Line::late() const {
  Clock::time_point now = Clock::now();
  for (const Step &step : std::views::reverse(steps))
    if (now - step.begin >= patience)
      return &step;
  return nullptr;
}

void Line::draw() {
  constexpr auto interval = std::chrono::milliseconds(50);
  std::unique_lock lock(mutex);
  while (!isOver) {
    if (steps.empty()) {
      changed.wait(lock);
      continue;
    }
    const Step *step = late();
    if (!step) {
      changed.wait_until(lock, Clock::time_point(steps[0].begin + patience));
      continue;
    }
    bool isSame =
        isDrawn && step->what == drawn.what && step->done == drawn.done;
    if (!isSame) {
      drawn = *step;
      std::fprintf(stderr, "\r%.*s %zu of %zu\033[K", int(step->what.size()),
                   step->what.data(), step->done + 1, step->total);
      std::fflush(stderr);
      isDrawn = true;
    }
    changed.wait_for(lock, interval);
  }
}

void Line::wipe() {
  if (!isDrawn)
    return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  isDrawn = false;
}

} // namespace sinter::cli
