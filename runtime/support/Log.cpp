/// The callback that messages go to, and the default one.
#include "sinter/runtime/Log.h"

#include "runtime/support/Exhausted.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Fork.h"
#include "runtime/support/LogTap.h"
#include "runtime/support/Printable.h"
#include "runtime/support/Sites.h"
#include "runtime/support/ThreadOwner.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sinter {

namespace {
struct Message {
  LogLevel level;
  std::string text;
};

struct Log {
  ForkMutex mutex;
  std::shared_ptr<const LogCallback> callback; ///< null: the default
  std::shared_ptr<const LogCallback> tap;      ///< in place of the default
  std::unordered_set<std::string> warned;
};

/// What a thread's messages depend on. Nothing is destroyed at its end: a
/// message may come while the process ends.
struct ThreadLog {
  unsigned holds = 0;
  bool isInside = false;
  SiteId line = 0;
  std::vector<Message> *waiting = nullptr;
};
} // namespace

static std::atomic<uint64_t> warnings{0};

static Log &theLog() {
  static Log *all = new Log; // outlives static tensors
  return *all;
}

static ThreadLog &threadLog() {
  constinit static SINTER_THREAD_LOCAL ThreadLog mine;
  return mine;
}

/// Warnings always, the rest where a person looks on, unless SINTER_LOG says.
static bool isPrinted(LogLevel level) {
  const std::string &least = flags().log;
  if (least == "off")
    return false;
  if (level == LogLevel::warning || least == "info")
    return true;
  static const bool isTerminal = ::isatty(STDERR_FILENO) == 1;
  return isTerminal && least != "warning";
}

static void print(LogLevel level, std::string_view message) {
  if (!isPrinted(level))
    return;
  const char *kind = level == LogLevel::warning ? "warning: " : "";
  std::fprintf(stderr, "sinter: %s%s\n", kind, printable(message).c_str());
}

void setLog(LogCallback callback) {
  std::shared_ptr<const LogCallback> made;
  if (callback)
    made = std::make_shared<const LogCallback>(std::move(callback));
  Log &all = theLog();
  std::unique_lock lock(all.mutex);
  std::swap(all.callback, made);
  lock.unlock(); // the old one may run code as it goes
}

static void deliverOrHold(LogLevel level, std::string_view message);

/// Whether it was taken: a message must not change what the program does, nor
/// be lost.
static bool give(const std::shared_ptr<const LogCallback> &callback,
                 LogLevel level, std::string_view message) {
  if (!callback)
    return false;
  ThreadLog &mine = threadLog();
  bool isTaken = false;
  mine.isInside = true;
  try {
    (*callback)(level, message);
    isTaken = true;
  } catch (...) {
    isTaken = false;
  }
  mine.isInside = false;
  return isTaken;
}

static void deliver(LogLevel level, std::string_view message) {
  std::shared_ptr<const LogCallback> callback, tap;
  if (!threadLog().isInside) {
    Log &all = theLog();
    std::lock_guard lock(all.mutex);
    callback = all.callback;
    tap = all.tap;
  }
  bool isTaken = give(callback, level, message);
  isTaken = give(tap, level, message) || isTaken;
  if (!isTaken)
    print(level, message);
}

/// Gives what was there before.
static std::shared_ptr<const LogCallback>
exchangeTap(std::shared_ptr<const LogCallback> tap) {
  Log &all = theLog();
  std::lock_guard lock(all.mutex);
  return std::exchange(all.tap, std::move(tap));
}

LogTap::LogTap(LogCallback callback)
    : previous(exchangeTap(
          std::make_shared<const LogCallback>(std::move(callback)))) {}

LogTap::~LogTap() { exchangeTap(std::move(previous)); }

// Without memory a message is lost, and nothing else.
void log(LogLevel level, std::string_view message) {
  ifPossible([&] { deliverOrHold(level, message); });
}

static void deliverOrHold(LogLevel level, std::string_view message) {
  ThreadLog &mine = threadLog();
  if (mine.holds == 0)
    return deliver(level, message);
  if (!mine.waiting)
    mine.waiting = new std::vector<Message>;
  mine.waiting->push_back({level, std::string(message)});
}

void logWarning(std::string_view message) {
  warnings.fetch_add(1, std::memory_order_relaxed);
  bool isNew = false;
  ifPossible([&] {
    constexpr size_t mostTexts = 1000;
    Log &all = theLog();
    std::lock_guard lock(all.mutex);
    isNew =
        all.warned.size() <= mostTexts && all.warned.emplace(message).second;
  });
  if (isNew)
    log(LogLevel::warning, message);
}

uint64_t warningCount() { return warnings.load(std::memory_order_relaxed); }

bool isLogging() { return threadLog().isInside; }

LogHold::LogHold() { ++threadLog().holds; }

LogHold::~LogHold() {
  ThreadLog &mine = threadLog();
  if (--mine.holds > 0 || !mine.waiting)
    return;
  std::unique_ptr<std::vector<Message>> waiting(
      std::exchange(mine.waiting, nullptr));
  for (const Message &message : *waiting)
    ifPossible([&] { deliver(message.level, message.text); });
}

LogLine::LogLine(SiteId site)
    : previous(std::exchange(threadLog().line, site)) {}

LogLine::~LogLine() { threadLog().line = previous; }

void SlowNotice::tell(const std::string &what, double seconds) {
  char took[32];
  std::snprintf(took, sizeof(took), " took %.1f s", seconds);
  std::string text = what + took;
  if (SiteId line = threadLog().line)
    text += ", for " + siteString(line);
  log(LogLevel::info, text);
}

} // namespace sinter
