/// A table of text.
#include "examples/02_digits/Table.h"

#include <algorithm>
#include <cstdio>

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
