/// Braille and ASCII charts.
#include "frontend/monitor/terminal/Plot.h"

#include "frontend/monitor/Figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace sinter::train {

// A cell has 2 by 4 dots in braille, 1 by 1 in ASCII.
static constexpr int dotColumns = 2, dotRows = 4;

Plot::Plot(int width, int height, bool isUnicode)
    : width(std::max(width - left, 8)), height(std::max(height - 1, 2)),
      isUnicode(isUnicode), dots(size_t(this->width * this->height)),
      marks(size_t(this->width * this->height)) {}

void Plot::setRange(const Curve *train, const Curve *valid) {
  for (const Curve *curve : {train, valid}) {
    if (!curve || curve->points.empty())
      continue;
    int64_t from = curve->points.front().x, end = curve->points.back().x;
    for (const Point &point : curve->points) {
      if (point.count == 0)
        continue;
      double value = point.mean();
      least = isEmpty ? value : std::min(least, value);
      most = isEmpty ? value : std::max(most, value);
      first = isEmpty ? from : std::min(first, from);
      last = isEmpty ? end : std::max(last, end);
      isEmpty = false;
    }
  }
  if (!isEmpty && most - least <= std::abs(most) * 1e-12) {
    double room = most == 0 ? 1 : std::abs(most) * 0.1;
    least -= room;
    most += room;
  }
  last = std::max(last, first + 1);
}

int Plot::columnOf(int64_t x, int columns) const {
  double share = double(x - first) / double(last - first);
  return std::clamp(int(std::lround(share * (columns - 1))), 0, columns - 1);
}

int Plot::rowOf(double value, int rows) const {
  // Halves first: the whole range may be more than a number can hold.
  double share = (most / 2 - value / 2) / (most / 2 - least / 2);
  return std::clamp(int(std::lround(share * (rows - 1))), 0, rows - 1);
}

void Plot::dot(int x, int y) {
  // Unicode 15, 15.8: dots 1, 2, 3, 7 at the left, 4, 5, 6, 8 at the right.
  static constexpr std::array<std::array<uint8_t, dotColumns>, dotRows> bits = {
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  if (isUnicode)
    dots[cell(y / dotRows, x / dotColumns)] |=
        bits[size_t(y % dotRows)][size_t(x % dotColumns)];
  else
    dots[cell(y, x)] = 1;
}

void Plot::drawLine(const Curve &curve) {
  int columns = isUnicode ? width * dotColumns : width;
  int rows = isUnicode ? height * dotRows : height;
  int x = -1, y = 0;
  for (const Point &point : curve.points) {
    if (point.count == 0) {
      x = -1; // a gap
      continue;
    }
    int toX = columnOf(point.x, columns), toY = rowOf(point.mean(), rows);
    int steps = x < 0 ? 0 : std::max(toX - x, std::abs(toY - y));
    for (int step = 0; step < steps; ++step)
      dot(x + (toX - x) * step / steps, y + (toY - y) * step / steps);
    dot(toX, toY);
    x = toX;
    y = toY;
  }
}

void Plot::drawMarks(const Curve &curve) {
  for (const Point &point : curve.points)
    if (point.count > 0)
      marks[cell(rowOf(point.mean(), height), columnOf(point.x, width))] = 1;
}

void Plot::draw(const Curve *train, const Curve *valid) {
  setRange(train, valid);
  if (isEmpty)
    return;
  if (train)
    drawLine(*train);
  if (valid)
    drawMarks(*valid);
}

static std::string braille(uint8_t dots) {
  return {char(0xE2), char(0xA0 | dots >> 6), char(0x80 | (dots & 0x3F))};
}

void Plot::addRow(int row, ScreenLine &line) const {
  int begin = line.width(), from = begin + left;
  if (row == height) {
    if (!isEmpty)
      line.to(from)
          .add(grouped(first), Style::quiet)
          .right(from + width, grouped(last), Style::quiet);
    line.to(from + width);
    return;
  }
  std::string number;
  if (!isEmpty && (row == 0 || row == height - 1))
    number = shortNumber(row == 0 ? most : least);
  line.right(from - 1, number, Style::quiet);
  line.to(from - 1).add(isUnicode ? "│" : "|", Style::quiet);
  if (isEmpty && row == height / 2)
    line.add("  nothing yet", Style::quiet);
  for (int column = 0; !isEmpty && column < width; ++column) {
    size_t at = cell(row, column);
    if (marks[at])
      line.add(isUnicode ? "●" : "o", Style::valid);
    else if (dots[at])
      line.add(isUnicode ? braille(dots[at]) : "*", Style::train);
    else
      line.add(" ");
  }
  line.to(from + width);
}

} // namespace sinter::train
