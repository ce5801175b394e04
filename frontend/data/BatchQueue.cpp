/// BatchQueue: makes numbered things on threads and gives them in order.
#include "frontend/data/BatchQueue.h"

#include <algorithm>
#include <utility>

namespace sinter::detail {

BatchQueue::BatchQueue(const Options &given, Make make)
    : options(given), make(std::move(make)), claimed(given.first),
      taken(given.first) {
  options.workers = std::min(options.workers, options.end - options.first);
  options.ahead = std::max(options.ahead, options.workers);
  if (options.workers <= 0)
    return;
  slots.resize(static_cast<size_t>(options.ahead));
  try {
    threads.reserve(static_cast<size_t>(options.workers));
    for (int64_t i = 0; i < options.workers; ++i)
      threads.emplace_back([this] { work(); });
  } catch (...) {
    stop();
    throw;
  }
}

BatchQueue::~BatchQueue() { stop(); }

void BatchQueue::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wanted.notify_all();
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}

void BatchQueue::work() {
  auto stopped = [this] {
    std::lock_guard lock(mutex);
    return stopping;
  };
  std::unique_lock lock(mutex);
  while (true) {
    wanted.wait(lock, [&] {
      return stopping || claimed == options.end ||
             claimed < taken + options.ahead;
    });
    if (stopping || claimed == options.end)
      return;
    int64_t number = claimed++;
    lock.unlock();
    Slot result;
    result.ready = true;
    try {
      result.thing = make(number, stopped);
    } catch (...) {
      result.failure = std::current_exception();
    }
    lock.lock();
    slot(number) = std::move(result);
    made.notify_one();
  }
}

std::shared_ptr<void> BatchQueue::next() {
  if (taken == options.end)
    return nullptr;
  if (threads.empty())
    return make(taken++, [] { return false; });
  Slot result;
  {
    std::unique_lock lock(mutex);
    made.wait(lock, [&] { return slot(taken).ready; });
    result = std::exchange(slot(taken), {});
    ++taken;
  }
  wanted.notify_all();
  if (result.failure)
    std::rethrow_exception(std::move(result.failure));
  return std::move(result.thing);
}

} // namespace sinter::detail
