/// Messages to the person who runs the program: one way for all of them.
#pragma once

#include <sinter/runtime/Error.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sinter {

enum class LogLevel : uint8_t {
  info,    ///< what took long, and where
  warning, ///< something that costs time or is not as it was asked for
};

/// Is given each message, without a line end.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

/// Installs what messages go to; an empty one brings the default back, which
/// prints `sinter: ...` to the standard error, as SINTER_LOG says. Thread-safe,
/// also in a callback. Messages come on the thread where they arise, from
/// several at once. What a callback throws is dropped, and what arises while it
/// runs on its thread goes to the default.
void setLog(LogCallback callback);

/// Gives `message` to the callback.
void log(LogLevel level, std::string_view message);

/// Counts a warning, and logs it where it is the first with this text.
void logWarning(std::string_view message);
/// Distinct and repeated warnings so far.
uint64_t warningCount();

/// Whether this thread is in a callback: it may record, not evaluate.
bool isLogging();

/// While it lives, messages of this thread wait. Whoever holds a lock that
/// recording takes makes one before the lock.
class LogHold {
public:
  LogHold();
  ~LogHold();
  LogHold(const LogHold &) = delete;
};

/// While it lives, what this thread does is done for that line of the user's.
class LogLine {
public:
  explicit LogLine(SiteId site);
  ~LogLine();
  LogLine(const LogLine &) = delete;

private:
  SiteId previous;
};

/// Times something from its construction on.
class SlowNotice {
public:
  /// Logs `WHAT took 1.2 s, for LINE` if it took more than a second; `what`
  /// makes the text.
  template <typename What> void done(What what) const {
    std::chrono::duration<double> took = Clock::now() - begin;
    if (took > limit) [[unlikely]]
      tell(what(), took.count());
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds limit{1};
  static void tell(const std::string &what, double seconds);

  Clock::time_point begin = Clock::now();
};

} // namespace sinter
