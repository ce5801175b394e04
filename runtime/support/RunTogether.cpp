/// Threads for the time of one call.
#include "runtime/support/RunTogether.h"

#include "runtime/support/Exhausted.h"
#include "runtime/support/FloatingPoint.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

using namespace sinter;

namespace {

/// What the threads of one call share.
struct Shared {
  void (*work)(void *);
  void *context;
  std::mutex mutex;
  std::exception_ptr first;

  void run() {
    try {
      work(context);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!first)
        first = std::current_exception();
    }
  }
};

/// As many helpers as there can be; they are waited for.
class Helpers {
public:
  Helpers(size_t count, Shared &shared) {
    ifPossible([&] {
      threads.reserve(count);
      for (size_t i = 0; i < count; ++i)
        threads.emplace_back([&shared] {
          DefaultFloats floats;
          shared.run();
        });
    });
  }
  ~Helpers() {
    for (std::thread &thread : threads)
      thread.join();
  }
  Helpers(const Helpers &) = delete;

private:
  std::vector<std::thread> threads;
};

} // namespace

void sinter::detail::runTogether(size_t threads, void (*work)(void *),
                                 void *context) {
  Shared shared{work, context, {}, nullptr};
  {
    Helpers helpers(threads > 1 ? threads - 1 : 0, shared);
    shared.run();
  }
  if (shared.first)
    std::rethrow_exception(shared.first);
}
