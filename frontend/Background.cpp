/// One thread, one queue; both outlive static tensors.
#include "frontend/Background.h"

#include "frontend/Counters.h"
#include "frontend/Numerics.h"
#include "frontend/Raise.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/support/BeforeExit.h"
#include "runtime/support/Exhausted.h"
#include "runtime/support/Flags.h"
#include "runtime/support/FloatingPoint.h"
#include "runtime/support/Fork.h"
#include "sinter/runtime/Log.h"

#include <sinter/Background.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace sinter {

using runtime::Key;

//===- The thread ---------------------------------------------------------===//

namespace {

struct Job {
  Key key;
  std::function<Status()> work;
};

class Worker {
public:
  static Worker *make();
  void add(Job job);
  void wait();
  /// Drops what has not begun and waits for what has. Once is enough.
  void stop();

private:
  bool knows(const Key &key) const;
  void run();
  void holdForFork();
  void startAfresh();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> queue;
  std::optional<Key> current;
  std::thread thread;
  bool stopping = false;
};

} // namespace

static Worker &worker() {
  static Worker *instance = Worker::make();
  return *instance;
}

// A child has no such thread: what it has begun ends before the fork, and what
// waits is the parent's.
Worker *Worker::make() {
  aroundFork([] { worker().holdForFork(); }, [] { worker().mutex.unlock(); },
             [] { worker().startAfresh(); });
  return new Worker;
}

bool Worker::knows(const Key &key) const {
  return current == key ||
         std::ranges::find(queue, key, &Job::key) != queue.end();
}

void Worker::add(Job job) {
  std::lock_guard lock(mutex);
  if (stopping || knows(job.key))
    return;
  if (!thread.joinable())
    thread = std::thread([this] { run(); });
  queue.push_back(std::move(job));
  waitBeforeExit([] { worker().stop(); });
  changed.notify_all();
}

void Worker::holdForFork() {
  mutex.lock();
  std::unique_lock lock(mutex, std::adopt_lock);
  changed.wait(lock, [&] { return !current; });
  lock.release();
}

void Worker::startAfresh() {
  queue.clear();
  new (&changed) std::condition_variable; // nobody waits here
  new (&thread) std::thread;
  mutex.unlock();
}

void Worker::run() {
  DefaultFloats floats;
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return stopping || !queue.empty(); });
    if (stopping)
      return;
    Job job = std::move(queue.front());
    queue.pop_front();
    current = job.key;
    lock.unlock();
    Status done = orExhausted(job.work);
    if (!done)
      logWarning("background: " + done.error().message +
                 "; the unfused program stays");
    detail::countBackground(done.ok());
    job.work = nullptr; // what it holds is freed before anyone hears of it
    lock.lock();
    current.reset();
    changed.notify_all();
  }
}

void Worker::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return queue.empty() && !current; });
}

void Worker::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
    queue.clear();
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

//===- Whether ------------------------------------------------------------===//

/// What the user set, or -1.
static std::atomic<int> chosen{-1};

static Status checkMode() {
  SINTER_TRY_ASSIGN(Numerics mode, detail::currentNumerics());
  if (mode != Numerics::exact)
    return {};
  return makeError(ErrorKind::invalid_argument,
                   "background: the unfused program that answers first may "
                   "round otherwise; the numerics mode exact refuses it");
}

void set_background_compile(bool on, std::source_location where) {
  if (on)
    detail::unwrap(checkMode(), where);
  chosen = on;
}

bool background_compile() {
  int set = chosen;
  return set < 0 ? flags().background : set != 0;
}

void wait_for_background() { worker().wait(); }

namespace detail {

Result<bool> compilesInBackground() {
  bool on = background_compile() && flags().fusion != "none";
  if (on)
    SINTER_TRY(checkMode());
  return on;
}

void compileInBackground(const Key &key, std::function<Status()> work) {
  if (auto hook = runtime::compilerHook(); !hook)
    logWarning("background: " + hook.error().message);
  else if (Status added = orExhausted([&]() -> Status {
             worker().add({key, std::move(work)});
             return {};
           });
           !added)
    logWarning("background: " + added.error().message +
               "; the unfused program stays");
}

} // namespace detail
} // namespace sinter
