/// What the main thread owns goes first.
#include "runtime/support/BeforeExit.h"
#include "runtime/support/Fork.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

using namespace sinter;

namespace {

/// Functions, each one once.
class Waits {
public:
  /// Whether it is new.
  bool add(void (*wait)()) {
    if (std::ranges::find(all, wait) != all.end())
      return false;
    all.push_back(wait);
    return true;
  }
  void call() const {
    for (void (*wait)() : all)
      wait();
  }

private:
  std::vector<void (*)()> all;
};

/// Those of the main thread, called at its end.
struct MainThread : Waits {
  ~MainThread() { call(); }
};

} // namespace

void sinter::waitBeforeExit(void (*wait)()) {
  static auto &mutex = *new ForkMutex;
  static auto &told = *new Waits;
  {
    std::lock_guard lock(mutex);
    if (told.add(wait))
      std::atexit(wait);
  }
  if (::syscall(SYS_gettid) != ::getpid())
    return;
  thread_local MainThread mine;
  mine.add(wait);
}
