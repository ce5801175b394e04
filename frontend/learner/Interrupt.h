/// Interrupt: Ctrl-C as a question that a loop asks.
#pragma once

namespace sinter::train {

/// While one lives, the first SIGINT is noted, and the second goes to whoever
/// took it before: the system, or code generators, which remove their files.
/// Does nothing where SIGINT is ignored. One at a time counts.
class Interrupt {
public:
  explicit Interrupt(bool wanted);
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;

  static bool asked();

private:
  bool installed = false;
};

} // namespace sinter::train
