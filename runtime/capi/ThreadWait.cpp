/// A list of the waits; each thread has one at most.
#include "runtime/capi/ThreadWait.h"

#include "runtime/support/Fork.h"

#include <cstdint>
#include <mutex>

using namespace sinter;
using namespace sinter::capi;

static thread_local const void *markHere = nullptr;

ThreadMark::ThreadMark(const void *key) { markHere = key; }

ThreadMark::~ThreadMark() { markHere = nullptr; }

namespace {
struct Waits {
  ForkMutex mutex;
  ThreadWait *first = nullptr;
  uint32_t madeIn = forkNumber(); ///< a child has none of the threads
};
} // namespace

static Waits &waits() {
  static Waits &all = *new Waits;
  return all;
}

ThreadWait::ThreadWait(const void *key) : from(markHere), to(key) {
  if (!from || !to)
    return;
  Waits &all = waits();
  std::lock_guard lock(all.mutex);
  if (all.madeIn != forkNumber()) {
    all.first = nullptr;
    all.madeIn = forkNumber();
  }
  for (const void *at = to; at && !circular;) {
    circular = at == from;
    const ThreadWait *found = all.first;
    while (found && found->from != at)
      found = found->next;
    at = found ? found->to : nullptr;
  }
  if (circular)
    return;
  next = all.first;
  all.first = this;
  isListed = true;
}

ThreadWait::~ThreadWait() {
  if (!isListed)
    return;
  Waits &all = waits();
  std::lock_guard lock(all.mutex);
  ThreadWait **at = &all.first;
  while (*at && *at != this)
    at = &(*at)->next;
  if (*at)
    *at = next;
}
