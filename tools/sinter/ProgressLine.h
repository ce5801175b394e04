/// ProgressLine: one line of a terminal that says what takes so long.
#pragma once

namespace sinter::cli {

/// While it lives, and the standard error is a terminal, steps that take more
/// than half a second are shown there, on one line that is gone when the step
/// ends. There is one at a time.
class ProgressLine {
public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;

  /// Shows nothing any more.
  static void hide();
};

} // namespace sinter::cli
