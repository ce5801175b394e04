/// Listeners on a thread of their own.
#include <sinter/train/Events.h>

#include "frontend/monitor/StepQueue.h"
#include "runtime/support/Exhausted.h"
#include "runtime/support/Fork.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

namespace sinter::train {

// The thread looks every so often by itself, so that a step wakes nobody.
static constexpr auto interval = std::chrono::milliseconds(100);

struct Background::Queue {
  explicit Queue(Options options) : options(options), forks(forkNumber()) {}

  void start();
  void run();
  void tell(StepQueue &batch, bool isAll);
  /// Waits until everything was told.
  void settle(std::unique_lock<std::mutex> &lock);
  /// Whether this is a child of the process that has the thread.
  bool isElsewhere() const { return forks != forkNumber(); }
  /// So much waiting makes the thread look at once.
  size_t enough() const { return std::min(size_t{1} << 20, options.limit / 2); }

  Options options;
  uint32_t forks;
  Listeners inner; ///< of the thread alone, once there is one
  std::mutex mutex;
  std::condition_variable arrived, done;
  StepQueue waiting;
  bool wantsAll = false, isEnding = false;
  std::vector<std::string> problems;
  std::atomic<bool> hasProblems = false;
  std::thread thread;
};

void Background::Queue::start() {
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Background::Queue::tell(StepQueue &batch, bool isAll) {
  size_t known = inner.failed.size();
  try {
    batch.drain([&](const Event &event) {
      inner.each(
          [](Listener &listener, const Event *given) { listener.on(*given); },
          &event);
    });
    if (isAll)
      inner.each([](Listener &each, const Event *) { each.flush(); }, nullptr);
    inner.each([](Listener &each, const Event *) { each.tick(); }, nullptr);
  } catch (...) {
    ifPossible([&] {
      inner.failed.push_back("a view of the training ended: "
                             "there is too little memory");
    });
    inner.list.clear();
  }
  if (inner.failed.size() == known)
    return;
  std::unique_lock lock(mutex);
  problems.insert(problems.end(), inner.failed.begin() + std::ptrdiff_t(known),
                  inner.failed.end());
  hasProblems = true;
}

void Background::Queue::run() {
  StepQueue batch;
  std::unique_lock lock(mutex);
  while (true) {
    arrived.wait_for(lock, interval, [&] {
      return wantsAll || isEnding || waiting.size() >= enough();
    });
    std::swap(batch, waiting);
    bool isAll = wantsAll, isLast = isEnding;
    done.notify_all(); // there is room
    lock.unlock();
    tell(batch, isAll || isLast);
    lock.lock();
    // Who waits for this adds nothing meanwhile.
    if (isAll) {
      wantsAll = false;
      done.notify_all();
    }
    if (isLast)
      return;
  }
}

void Background::Queue::settle(std::unique_lock<std::mutex> &lock) {
  wantsAll = true;
  arrived.notify_one();
  done.wait(lock, [&] { return !wantsAll; });
}

Background::Background(Options options)
    : queue(std::make_unique<Queue>(options)) {}

Background::Background(std::shared_ptr<Listener> listener) : Background() {
  add(std::move(listener));
}

Background::~Background() {
  if (queue->isElsewhere()) {
    // What the parent's thread was doing is not this process's to undo.
    [[maybe_unused]] Queue *theirs = queue.release();
    return;
  }
  if (!queue->thread.joinable())
    return;
  {
    std::unique_lock lock(queue->mutex);
    queue->isEnding = true;
    queue->arrived.notify_one();
  }
  queue->thread.join();
}

void Background::add(std::shared_ptr<Listener> listener) {
  queue->inner.add(std::move(listener));
}

void Background::on(const Event &event) {
  if (queue->isElsewhere())
    return;
  std::unique_lock lock(queue->mutex);
  if (!queue->thread.joinable())
    queue->start();
  size_t size = queue->waiting.size();
  if (size >= queue->options.limit) {
    if (queue->options.may_skip && std::holds_alternative<StepEnd>(event))
      return;
    queue->done.wait(lock, [&] {
      return queue->waiting.size() < queue->options.limit ||
             queue->options.may_skip;
    });
  }
  queue->waiting.add(event);
  if (size < queue->enough() && queue->waiting.size() >= queue->enough())
    queue->arrived.notify_one();
  if (std::holds_alternative<RunEnd>(event))
    queue->settle(lock);
}

void Background::flush() {
  if (queue->isElsewhere() || queue->options.may_skip)
    return;
  std::unique_lock lock(queue->mutex);
  if (queue->thread.joinable())
    queue->settle(lock);
}

std::vector<std::string> Background::take_problems() {
  if (!queue->hasProblems.load(std::memory_order_relaxed)) [[likely]]
    return {};
  std::unique_lock lock(queue->mutex);
  queue->hasProblems = false;
  return std::exchange(queue->problems, {});
}

} // namespace sinter::train
