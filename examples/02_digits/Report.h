/// What the example prints: a progress bar and a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Draws `label [=====>    ] text` over the last one; on a terminal only.
class ProgressBar {
public:
  ProgressBar(std::string label, int64_t total);
  ~ProgressBar(); ///< wipes the line
  ProgressBar(const ProgressBar &) = delete;
  void show(int64_t done, const std::string &text);

private:
  std::string label;
  int64_t total;
  bool terminal;
};

/// Prints rows under their headings, in columns as wide as they need.
void printTable(const std::vector<std::string> &headings,
                const std::vector<std::vector<std::string>> &rows);

/// `value` with so many decimals.
std::string fixed(double value, int decimals);
