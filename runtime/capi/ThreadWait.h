/// ThreadWait: which of the threads that call callbacks waits for which.
#pragma once

namespace sinter::capi {

/// While it lives, this thread is the one that does what has the mark `key`.
class ThreadMark {
public:
  explicit ThreadMark(const void *key);
  ~ThreadMark();
  ThreadMark(const ThreadMark &) = delete;
};

/// While it lives, this thread waits for the end of what the thread with the
/// mark `key` does.
class ThreadWait {
public:
  /// Threads without a mark wait as they like: no other one waits for them.
  explicit ThreadWait(const void *key);
  ~ThreadWait();
  ThreadWait(const ThreadWait &) = delete;

  /// The other one is this thread, or waits for this one in turn, perhaps
  /// through others. Such a wait has no end, and is not begun.
  bool isCircular() const { return circular; }

private:
  const void *from, *to;
  ThreadWait *next = nullptr;
  bool circular = false, isListed = false;
};

} // namespace sinter::capi
