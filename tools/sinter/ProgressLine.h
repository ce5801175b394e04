/// ProgressLine: one line of a terminal that says what takes so long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace sinter::cli {

/// While it lives, and the standard error is a terminal, steps that take more
/// than half a second are shown there, on one line that is gone when the step
/// ends.
class ProgressLine {
public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;

  /// Shows nothing any more.
  static void hide();

private:
  static void told(const char *what, size_t done, size_t total);
  void note(const char *what, size_t done, size_t total);
  void draw();
  void wipe();

  std::mutex mutex;
  std::condition_variable changed;
  std::thread drawer; ///< from the first step on
  const char *what = nullptr;
  size_t done = 0, total = 0; ///< a step is under way while they differ
  bool isDrawn = false, isOver = false;
  std::chrono::steady_clock::time_point begin; ///< of the first step
};

} // namespace sinter::cli
