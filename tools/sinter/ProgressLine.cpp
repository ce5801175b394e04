/// A thread draws the line, so that a part that takes long is seen, too.
#include "tools/sinter/ProgressLine.h"

#include "runtime/support/Progress.h"

#include <atomic>
#include <cstdio>
#include <system_error>
#include <unistd.h>

namespace sinter::cli {

static std::atomic<ProgressLine *> shown{nullptr};

ProgressLine::ProgressLine() {
  if (::isatty(STDERR_FILENO) != 1)
    return;
  shown = this;
  setProgressSink(told);
}

ProgressLine::~ProgressLine() {
  hide();
  {
    std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  if (drawer.joinable())
    drawer.join();
}

void ProgressLine::hide() {
  setProgressSink(nullptr);
  ProgressLine *line = shown.exchange(nullptr);
  if (!line)
    return;
  std::lock_guard lock(line->mutex);
  line->done = line->total = 0;
  line->wipe();
}

void ProgressLine::told(const char *what, size_t done, size_t total) {
  if (ProgressLine *line = shown)
    line->note(what, done, total);
}

void ProgressLine::note(const char *newWhat, size_t newDone, size_t newTotal) {
  std::lock_guard lock(mutex);
  what = newWhat;
  done = newDone;
  total = newTotal;
  if (done == total)
    wipe();
  if (drawer.joinable() || isOver || done == total)
    return;
  begin = std::chrono::steady_clock::now();
  try {
    drawer = std::thread([this] { draw(); });
  } catch (const std::system_error &) {
    isOver = true; // no thread, no line
  }
}

void ProgressLine::draw() {
  constexpr auto patience = std::chrono::milliseconds(500);
  constexpr auto interval = std::chrono::milliseconds(50);
  std::unique_lock lock(mutex);
  changed.wait_until(lock, begin + patience, [&] { return isOver; });
  size_t last = 0;
  while (!isOver) {
    if (done != total && (!isDrawn || done != last)) {
      last = done;
      std::fprintf(stderr, "\r%s %zu of %zu\033[K", what, done + 1, total);
      std::fflush(stderr);
      isDrawn = true;
    }
    changed.wait_for(lock, interval);
  }
}

void ProgressLine::wipe() {
  if (!isDrawn)
    return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  isDrawn = false;
}

} // namespace sinter::cli
