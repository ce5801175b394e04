/// What g++ 12 and Debian's LLVM take of systems newer than glibc 2.34 and
/// GCC 11, for libraries that run there, too. Nothing of it comes out of them.
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include <pthread.h>
#include <sys/random.h>

/// A random word; LLVM makes names of temporary files of it. Of glibc 2.36.
extern "C" __attribute__((visibility("hidden"))) uint32_t
arc4random() noexcept {
  uint32_t word = 0;
  // So few bytes come at once; before the kernel has any, this waits.
  while (getrandom(&word, sizeof word, 0) != ssize_t(sizeof word))
    if (errno != EINTR)
      std::abort(); // a guess would be no random word
  return word;
}

/// std::condition_variable::wait(lock), by the name that compilers give it. Of
/// GCC 12; that of GCC 11 has another version.
extern "C" __attribute__((visibility("hidden"))) void
sinterWait(std::condition_variable *variable,
           std::unique_lock<std::mutex> *lock) //
    asm("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");

void sinterWait(std::condition_variable *variable,
                std::unique_lock<std::mutex> *lock) {
  if (pthread_cond_wait(variable->native_handle(),
                        lock->mutex()->native_handle()) != 0)
    std::abort(); // the mutex is not held
}
