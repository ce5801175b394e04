/// Charts of one or two curves.
#include "frontend/monitor/SvgChart.h"

#include "frontend/monitor/Figures.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sinter::train {

std::string escapedHtml(std::string_view text) {
  std::string made;
  for (char letter : printable(text)) {
    switch (letter) {
    case '<':
      made += "&lt;";
      break;
    case '>':
      made += "&gt;";
      break;
    case '&':
      made += "&amp;";
      break;
    case '"':
      made += "&quot;";
      break;
    case '\'':
      made += "&#39;";
      break;
    default:
      made += letter;
    }
  }
  return made;
}

namespace {

class Chart {
public:
  Chart(const Curve *train, const Curve *valid);

  std::string draw();

private:
  static constexpr double width = 640, height = 240, left = 66, right = 12,
                          top = 10, bottom = 26;

  double x(int64_t step) const {
    return left +
           (width - left - right) * double(step - first) / double(last - first);
  }
  double y(double value) const {
    // Halves first: the whole range may be more than a number can hold.
    return top + (height - top - bottom) * (most / 2 - value / 2) /
                     (most / 2 - least / 2);
  }
  void addAxes();
  void addBand(const Curve &curve);
  void addLine(const Curve &curve);
  void addMarks(const Curve &curve);
  template <typename... T>
  void add(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(picture), format,
                   std::forward<T>(values)...);
  }

  const Curve *train, *valid;
  int64_t first = 0, last = 1;
  double least = 0, most = 1;
  bool isEmpty = true;
  std::string picture;
};

} // namespace

Chart::Chart(const Curve *train, const Curve *valid)
    : train(train), valid(valid) {
  for (const Curve *curve : {train, valid}) {
    if (!curve)
      continue;
    for (const Point &point : curve->points) {
      if (point.count == 0)
        continue;
      least = isEmpty ? point.least : std::min(least, point.least);
      most = isEmpty ? point.most : std::max(most, point.most);
      first = isEmpty ? point.x : std::min(first, point.x);
      last = isEmpty ? point.x : std::max(last, point.x);
      isEmpty = false;
    }
  }
  if (most - least <= std::abs(most) * 1e-12) {
    double room = most == 0 ? 1 : std::abs(most) * 0.1;
    least -= room;
    most += room;
  }
  last = std::max(last, first + 1);
}

void Chart::addAxes() {
  constexpr int parts = 4;
  for (int part = 0; part <= parts; ++part) {
    double share = double(part) / parts;
    double value = most * share + least * (1 - share);
    add("<line class=\"rule\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        left, y(value), width - right, y(value), left - 6, y(value) + 4,
        shortNumber(value));
    int64_t step = first + int64_t(double(last - first) * share);
    add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>", x(step),
        height - 8,
        part == 0       ? "start"
        : part == parts ? "end"
                        : "middle",
        grouped(step));
  }
}

void Chart::addBand(const Curve &curve) {
  if (curve.stride < 2)
    return;
  std::string path, back;
  for (const Point &point : curve.points) {
    if (point.count == 0)
      continue;
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", x(point.x),
                        y(point.most));
    back = fmt::format("L{:.1f},{:.1f}", x(point.x), y(point.least)) + back;
  }
  add("<path class=\"band {}\" d=\"{}{}Z\"/>", to_string(curve.split), path,
      back);
}

void Chart::addLine(const Curve &curve) {
  std::string path;
  bool isGap = true;
  for (const Point &point : curve.points) {
    if (point.count > 0)
      path += fmt::format("{}{:.1f},{:.1f}", isGap ? "M" : "L", x(point.x),
                          y(point.mean()));
    isGap = point.count == 0;
  }
  add("<path class=\"curve {}\" d=\"{}\"/>", to_string(curve.split), path);
}

void Chart::addMarks(const Curve &curve) {
  constexpr size_t most = 100;
  if (curve.points.size() > most)
    return;
  for (const Point &point : curve.points)
    if (point.count > 0)
      add("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\">"
          "<title>{} at step {}: {}</title></circle>",
          to_string(curve.split), x(point.x), y(point.mean()),
          to_string(curve.split), grouped(point.x), shortNumber(point.mean()));
}

std::string Chart::draw() {
  add("<svg viewBox=\"0 0 {} {}\" role=\"img\">", width, height);
  if (isEmpty) {
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">no finite "
        "values</text></svg>",
        width / 2, height / 2);
    return picture;
  }
  addAxes();
  for (const Curve *curve : {train, valid})
    if (curve && !curve->points.empty())
      addBand(*curve);
  for (const Curve *curve : {train, valid}) {
    if (!curve || curve->points.empty())
      continue;
    addLine(*curve);
    if (curve->isEpoch)
      addMarks(*curve);
  }
  add("</svg>");
  return picture;
}

std::string svgChart(const Curve *train, const Curve *valid) {
  return Chart(train, valid).draw();
}

} // namespace sinter::train
