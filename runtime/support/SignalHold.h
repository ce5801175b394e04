/// SignalHold: writing without the signals that writing may raise.
#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <pthread.h>

namespace sinter {

/// While it lives, a pipe whose reader went and a limit of files' sizes are
/// errors of this thread's calls, and end no process.
class SignalHold {
public:
  SignalHold() {
    sigemptyset(&held);
    for (int signal : signals)
      sigaddset(&held, signal);
    sigpending(&before);
    pthread_sigmask(SIG_BLOCK, &held, &mask);
  }
  SignalHold(const SignalHold &) = delete;
  ~SignalHold() {
    // What came because of this is taken; what waited before goes on waiting.
    for (int signal : signals) {
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, signal);
      timespec now = {};
      if (!sigismember(&before, signal))
        while (sigtimedwait(&one, nullptr, &now) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }

private:
  static constexpr std::array signals = {SIGPIPE, SIGXFSZ};
  sigset_t held, before, mask;
};

} // namespace sinter
