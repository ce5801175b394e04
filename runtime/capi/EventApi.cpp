/// Events: wait, cancel, close.
#include "runtime/capi/EventObject.h"
#include "runtime/capi/ThreadWait.h"

#include <algorithm>
#include <chrono>
#include <utility>

using namespace sinter;
using namespace sinter::capi;

void EventObject::finish(Status status) {
  {
    std::lock_guard lock(mutex);
    ended.emplace(std::move(status));
  }
  changed.notify_all();
}

Result<std::optional<Status>> EventObject::wait(int64_t milliseconds) {
  constexpr int64_t longest = int64_t(1) << 40; // some decades
  std::unique_lock lock(mutex);
  auto isEnded = [&] { return ended.has_value(); };
  if (isEnded() || milliseconds == 0)
    return ended;
  // A wait with a limit is none that others could wait for without end, but
  // may close a circle of those.
  std::optional<ThreadWait> waiting(thread);
  if (waiting->isCircular())
    return invalid("event: it is done once this callback is over, which cannot "
                   "wait for it");
  if (milliseconds > 0)
    waiting.reset();
  if (milliseconds < 0)
    changed.wait(lock, isEnded);
  else
    changed.wait_for(lock,
                     std::chrono::milliseconds(std::min(milliseconds, longest)),
                     isEnded);
  return ended;
}

extern "C" {

sinter_status sinter_event_wait(sinter_event *event, int64_t milliseconds,
                                int32_t *done) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<EventObject>(event));
    if (!done)
      return invalid("done is null");
    SINTER_TRY_ASSIGN(std::optional<Status> ended, object->wait(milliseconds));
    *done = ended.has_value();
    return ended ? *std::move(ended) : Status();
  });
}

sinter_status sinter_event_cancel(sinter_event *event) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(auto object, fromHandle<EventObject>(event));
    object->flag.store(true);
    return {};
  });
}

sinter_status sinter_event_close(sinter_event *event) {
  return guarded([&]() -> Status {
    if (!event)
      return {};
    SINTER_TRY_ASSIGN(auto object, closeHandle<EventObject>(event));
    return {};
  });
}

} // extern "C"
