/// Dashboard: a training on the terminal.
#pragma once

#include <sinter/train/Events.h>

#include <cstdio>
#include <memory>

namespace sinter::train {

/// On a terminal: bars of the epoch and the run, curves, a table of values,
/// devices, the last messages, at the terminal's size, at most ten times a
/// second. It is drawn below what stands there, without another screen, signal
/// handlers or a hidden cursor, so that nothing has to be put back, however the
/// process ends; the last picture stays. A program that prints in between
/// disturbs it: `Message` events are the way.
///
/// Elsewhere (a file, a pipe, TERM=dumb): lines, one when the run begins, for
/// each epoch, each message, and for readings, at most one in `line_seconds`.
///
/// NO_COLOR turns colours off; where LC_ALL, LC_CTYPE or LANG name no UTF-8,
/// letters are ASCII. While another program has the terminal, nothing is drawn.
/// Errors are of kind `io`. Belongs into a `Background` that may skip.
class Dashboard final : public Listener {
public:
  struct Options {
    std::FILE *stream = stdout;
    double line_seconds = 10; ///< between lines of readings, by events' times
    bool lines_only = false;  ///< also on a terminal
  };

  Dashboard() : Dashboard(Options{}) {}
  explicit Dashboard(Options options);
  ~Dashboard() override;

  void on(const Event &event) override;
  void flush() override;
  void tick() override;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sinter::train
