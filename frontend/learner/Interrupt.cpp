/// Ctrl-C as a question that a loop asks.
#include "frontend/learner/Interrupt.h"

#include <atomic>

namespace sinter::train {

static std::atomic<bool> noted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

static void note(int) { noted = true; }

Interrupt::Interrupt(bool wanted) {
  if (!wanted || sigaction(SIGINT, nullptr, &before) ||
      before.sa_handler != SIG_DFL)
    return;
  noted = false;
  struct sigaction action = {};
  action.sa_handler = note;
  // The second one finds the handler gone.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  installed = !sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() {
  if (installed)
    sigaction(SIGINT, &before, nullptr);
  noted = false;
}

bool Interrupt::asked() { return noted; }

} // namespace sinter::train
