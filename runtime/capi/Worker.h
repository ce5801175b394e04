/// Worker: a thread that does one thing after the other.
#pragma once

#include "sinter/runtime/Result.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace sinter::capi {

/// All functions are thread-safe. Jobs must not throw.
class Worker : public std::enable_shared_from_this<Worker> {
public:
  Worker();
  ~Worker();
  Worker(const Worker &) = delete;

  /// An error in a child of the process that made the worker: threads do not
  /// follow a fork. The thread is started with the first job.
  Status add(std::function<void()> job);
  /// Ends when all jobs are done; waits for that, unless a job
  /// calls it or waits for the one that does. What
  /// is added later is an error.
  void stop();

private:
  void work();

  const uint32_t madeIn; ///< number of forks
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool isStopping = false;
  std::thread thread;
};

} // namespace sinter::capi
