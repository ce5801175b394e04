/// Warnings, printed once each.
#include "runtime/support/Log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_set>

namespace sinter {

static std::atomic<uint64_t> count{0};

void logWarning(std::string_view message) {
  static std::mutex mutex;
  static std::unordered_set<std::string> printed;
  count.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(mutex);
  if (printed.size() > 1000 || !printed.emplace(message).second)
    return;
  std::fprintf(stderr, "sinter: warning: %.*s\n",
               static_cast<int>(message.size()), message.data());
}

uint64_t warningCount() { return count.load(std::memory_order_relaxed); }

} // namespace sinter
