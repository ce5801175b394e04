/// BatchQueue: requests of many threads, handed out in batches.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

/// First in, first out. Nobody computes or copies under its lock.
template <typename T> class BatchQueue {
public:
  void add(T request) {
    {
      std::lock_guard lock(mutex);
      waiting.push_back(std::move(request));
    }
    changed.notify_one();
  }
  /// Waits for requests and takes all that are there, at most so many; none
  /// once the queue is closed and empty.
  std::vector<T> take(size_t most) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return isClosed || !waiting.empty(); });
    std::vector<T> batch;
    if (waiting.size() <= most) {
      batch.swap(waiting);
      return batch;
    }
    auto end = waiting.begin() + static_cast<std::ptrdiff_t>(most);
    batch.assign(std::move_iterator(waiting.begin()), std::move_iterator(end));
    waiting.erase(waiting.begin(), end);
    lock.unlock();
    changed.notify_one(); // there is more
    return batch;
  }
  void close() {
    {
      std::lock_guard lock(mutex);
      isClosed = true;
    }
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<T> waiting;
  bool isClosed = false;
};
