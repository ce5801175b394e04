/// BatchQueue: makes numbered things on threads and gives them in order.
#pragma once

#include "runtime/support/Fork.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sinter::detail {

/// Used by one thread, its consumer. At most `ahead` things are made or in the
/// making that were not taken.
class BatchQueue {
public:
  /// Makes thing `number`. It may ask `stopped` whether to go on; what it gives
  /// after that is dropped.
  using Make = std::function<std::shared_ptr<void>(
      int64_t number, const std::function<bool()> &stopped)>;
  struct Options {
    int64_t first = 0;
    int64_t end = 0;     ///< after the last number
    int64_t workers = 0; ///< without one, `next` makes things itself
    int64_t ahead = 1;
  };

  /// Throws std::system_error when no thread can be started.
  BatchQueue(const Options &options, Make make);
  /// Waits for the threads, which stop at their next question.
  ~BatchQueue();
  BatchQueue(const BatchQueue &) = delete;

  /// The things in order, then null. An exception of one is thrown in its
  /// place.
  std::shared_ptr<void> next();
  /// Whether its threads are in this process, not in one that it was forked
  /// from. If not, nothing can be done with it, nor can it be destroyed.
  bool isHere() const { return threads.empty() || startedIn == forkNumber(); }

private:
  struct Slot {
    bool ready = false;
    std::shared_ptr<void> thing;
    std::exception_ptr failure;
  };
  void work();
  void stop();
  Slot &slot(int64_t number) {
    return slots[static_cast<size_t>(number % options.ahead)];
  }

  Options options;
  Make make;
  std::mutex mutex;
  std::condition_variable made, wanted;
  std::vector<Slot> slots; ///< of the numbers from `taken` on
  int64_t claimed;         ///< the next number to make
  int64_t taken;           ///< the next number to give
  bool stopping = false;
  std::vector<std::thread> threads;
  const uint32_t startedIn = forkNumber();
};

} // namespace sinter::detail
