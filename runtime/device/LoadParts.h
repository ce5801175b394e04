/// LoadParts: the parts of an image, several at once.
#pragma once

#include "runtime/support/RunTogether.h"
#include "sinter/runtime/Result.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>

namespace sinter::runtime {

/// Runs `load(i)` for parts 0 to count - 1 on as many threads as there are
/// processors, this one among them: the first error, if there is one. `begin`
/// runs on each thread before its parts.
template <typename Begin, typename Load>
Status loadParts(size_t count, Begin begin, Load load) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Status first;
  auto work = [&] {
    begin();
    for (size_t i = next++; i < count; i = next++) {
      Status loaded = load(i);
      std::lock_guard lock(mutex);
      if (!loaded && first)
        first = std::move(loaded);
    }
  };
  runTogether(std::min<size_t>(
                  count, std::max(1u, std::thread::hardware_concurrency())),
              [&] { work(); });
  return first;
}

} // namespace sinter::runtime
