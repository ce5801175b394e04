/// Ctrl-C as a question that a loop asks.
#include "frontend/learner/Interrupt.h"

#include <atomic>
#include <csignal>

namespace sinter::train {

static std::atomic<bool> noted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
static struct sigaction before;

static void note(int signal) {
  if (!noted.exchange(true))
    return;
  sigaction(SIGINT, &before, nullptr);
  std::raise(signal);
}

Interrupt::Interrupt(bool wanted) {
  struct sigaction now = {};
  if (!wanted || sigaction(SIGINT, nullptr, &now) ||
      now.sa_handler == SIG_IGN || now.sa_handler == note)
    return;
  noted = false;
  before = now;
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  installed = !sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() {
  if (!installed)
    return;
  sigaction(SIGINT, &before, nullptr);
  noted = false;
}

bool Interrupt::asked() { return noted; }

} // namespace sinter::train
