/// Handlers for the time of compilations.
#include "compiler/guard/CrashGuard.h"

#include <array>
#include <mutex>

#include <signal.h>

namespace sinter::compiler {

static constexpr std::array signals = {SIGSEGV, SIGBUS, SIGABRT};

namespace {
/// Under the lock; the handler reads `host` while there is a guard.
struct Installed {
  std::mutex mutex;
  unsigned guards = 0;
  std::array<struct sigaction, signals.size()> host;
};
} // namespace

static Installed &installed() {
  static auto *instance = new Installed;
  return *instance;
}

static thread_local CrashGuard *innermost = nullptr;

/// As if this handler were not there.
static void passOn(int signal, siginfo_t *info, void *context) {
  size_t place = 0;
  while (signals[place] != signal)
    ++place;
  const struct sigaction &host = installed().host[place];
  if (host.sa_flags & SA_SIGINFO)
    return host.sa_sigaction(signal, info, context);
  if (host.sa_handler == SIG_IGN)
    return;
  if (host.sa_handler != SIG_DFL)
    return host.sa_handler(signal);
  // What faulted does so again; what was sent is sent again.
  sigaction(signal, &host, nullptr);
  if (info->si_code <= 0)
    raise(signal);
}

static void onSignal(int signal, siginfo_t *info, void *context) {
  if (innermost)
    siglongjmp(innermost->escape, signal);
  passOn(signal, info, context);
}

CrashGuard::CrashGuard() : outer(innermost) {
  Installed &all = installed();
  std::lock_guard lock(all.mutex);
  if (all.guards++ == 0) {
    struct sigaction own = {};
    own.sa_sigaction = onSignal;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &own, &all.host[i]);
  }
  innermost = this;
}

CrashGuard::~CrashGuard() {
  innermost = outer;
  Installed &all = installed();
  std::lock_guard lock(all.mutex);
  if (--all.guards == 0)
    for (size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &all.host[i], nullptr);
}

} // namespace sinter::compiler
