/// EventObject: what a `sinter_event` stands for.
#pragma once

#include "runtime/capi/Handles.h"
#include "runtime/support/Cancel.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace sinter::capi {

/// Something that was begun. Thread-safe.
class EventObject {
public:
  CancelFlag flag{false};

  /// This thread is the one that does it.
  void beginHere();
  /// It has ended so.
  void finish(Status status);
  /// Whether it ended in time, and how; an error where this thread is the one
  /// that it would wait for. Negative: without a limit.
  Result<std::optional<Status>> wait(int64_t milliseconds);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> ended;
  std::thread::id runner;
};

template <> struct HandleOf<EventObject> {
  using Type = sinter_event;
  static constexpr HandleKind kind = HandleKind::event;
};

} // namespace sinter::capi
