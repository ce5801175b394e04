/// EventObject: what a `sinter_event` stands for.
#pragma once

#include "runtime/capi/Handles.h"
#include "runtime/support/Cancel.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace sinter::capi {

/// Something that was begun. Thread-safe.
class EventObject {
public:
  CancelFlag flag{false};

  /// Before it can begin: it is done by the thread that `key` is the mark of
  /// (ThreadMark), after what that thread does now.
  void doneBy(const void *key) { thread = key; }
  /// It has ended so.
  void finish(Status status);
  /// Whether it ended in time, and how; an error where it would wait for this
  /// thread itself (ThreadWait). Negative: without a limit; 0: looks only.
  Result<std::optional<Status>> wait(int64_t milliseconds);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> ended;
  std::atomic<const void *> thread{nullptr};
};

template <> struct HandleOf<EventObject> {
  using Type = sinter_event;
  static constexpr HandleKind kind = HandleKind::event;
};

} // namespace sinter::capi
