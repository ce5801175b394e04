/// One thread, one queue.
#include "runtime/capi/Worker.h"

#include "runtime/capi/ThreadWait.h"
#include "runtime/support/Fork.h"

#include <utility>

using namespace sinter;
using namespace sinter::capi;

Worker::Worker() : madeIn(forkNumber()) {}

// The last reference may be the thread's own.
Worker::~Worker() {
  if (thread.joinable())
    thread.detach();
}

Status Worker::add(std::function<void()> job) {
  if (madeIn != forkNumber())
    return makeError(ErrorKind::invalid_argument,
                     "the session's thread is the parent process's: a child "
                     "opens sessions of its own");
  std::lock_guard lock(mutex);
  if (isStopping)
    return makeError(ErrorKind::invalid_argument, "the session was closed");
  jobs.push_back(std::move(job));
  if (!thread.joinable()) {
    try {
      thread = std::thread([self = shared_from_this()] { self->work(); });
    } catch (...) {
      jobs.pop_back();
      throw;
    }
  }
  changed.notify_one();
  return {};
}

void Worker::stop() {
  if (madeIn != forkNumber()) {
    if (thread.joinable())
      thread.detach(); // it is not there
    return;
  }
  {
    std::lock_guard lock(mutex);
    isStopping = true;
  }
  changed.notify_one();
  // Called by a job, of its own or of one that a job here waits for, it cannot.
  ThreadWait waiting(this);
  if (thread.joinable() && !waiting.isCircular() &&
      thread.get_id() != std::this_thread::get_id())
    thread.join();
}

void Worker::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return isStopping || !jobs.empty(); });
    if (jobs.empty())
      return;
    std::function<void()> job = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    job();
    job = {}; // what it holds may end with it
    lock.lock();
  }
}
