/// Plot: curves as letters.
#pragma once

#include "frontend/monitor/History.h"
#include "frontend/monitor/terminal/Screen.h"

#include <vector>

namespace sinter::train {

/// A drawing: rows of cells. Line charts of what is finite in the curves, over
/// the same steps; `width` and `height` are cells of it all, with the numbers
/// at the left and below (at least 20 and 4).
class Plot {
public:
  Plot(int width, int height, bool isUnicode);

  /// `train` is a line, `valid` are marks; either may be null.
  void draw(const Curve *train, const Curve *valid);
  /// Adds row `row` (from 0) to a line.
  void addRow(int row, ScreenLine &line) const;

private:
  void setRange(const Curve *train, const Curve *valid);
  void drawLine(const Curve &curve);
  void drawMarks(const Curve &curve);
  void dot(int x, int y);
  size_t cell(int row, int column) const {
    return size_t(row) * size_t(width) + size_t(column);
  }
  int columnOf(int64_t x, int columns) const;
  int rowOf(double value, int rows) const;

  static constexpr int left = 9; ///< cells of the numbers

  int width, height;
  bool isUnicode;
  int64_t first = 0, last = 1;
  double least = 0, most = 1;
  bool isEmpty = true;
  std::vector<uint8_t> dots; ///< of each cell, as in braille
  std::vector<char> marks;
};

} // namespace sinter::train
