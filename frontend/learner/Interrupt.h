/// Interrupt: Ctrl-C as a question that a loop asks.
#pragma once

#include <csignal>

namespace sinter::train {

/// While one lives, the first SIGINT is noted and the second has its effect.
/// Does nothing where somebody else handles SIGINT, or ignores it.
class Interrupt {
public:
  explicit Interrupt(bool wanted);
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;

  static bool asked();

private:
  bool installed = false;
  struct sigaction before = {};
};

} // namespace sinter::train
