/// What the example prints: a progress bar and a table.
#include "examples/02_digits/Report.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

ProgressBar::ProgressBar(std::string label, int64_t total)
    : label(std::move(label)), total(total), terminal(isatty(STDOUT_FILENO)) {}

ProgressBar::~ProgressBar() {
  if (terminal)
    std::printf("\r\033[K");
}

void ProgressBar::show(int64_t done, const std::string &text) {
  constexpr int64_t width = 30;
  if (!terminal)
    return;
  int64_t filled = width * done / std::max<int64_t>(total, 1);
  std::string bar = std::string(filled, '=') + (filled < width ? ">" : "");
  bar.resize(width, ' ');
  std::printf("\r%s [%s] %s\033[K", label.c_str(), bar.c_str(), text.c_str());
  std::fflush(stdout);
}

void printTable(const std::vector<std::string> &headings,
                const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (size_t column = 0; column < headings.size(); ++column) {
    widths.push_back(headings[column].size());
    for (const auto &row : rows)
      widths[column] = std::max(widths[column], row[column].size());
  }
  auto print = [&](const std::vector<std::string> &cells) {
    for (size_t column = 0; column < cells.size(); ++column)
      std::printf("%s%*s", column ? "  " : "", static_cast<int>(widths[column]),
                  cells[column].c_str());
    std::printf("\n");
  };
  print(headings);
  for (const auto &row : rows)
    print(row);
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return text;
}
