/// ProgressBar: how far a long loop has come, on a terminal only.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sinter::data {

/// Draws `label [=====>    ] text` over the last one, at most twenty times a
/// second. Writes nothing where the stream is no terminal.
class ProgressBar {
public:
  ProgressBar(std::string label, int64_t total, std::FILE *stream = stdout);
  /// Wipes the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;

  /// `done` of `total` steps; the last one is always drawn.
  void show(int64_t done, const std::string &text = {});

private:
  using Clock = std::chrono::steady_clock;

  std::string label;
  int64_t total;
  std::FILE *stream;
  bool terminal;
  bool drawn = false;
  Clock::time_point last;
};

} // namespace sinter::data
