/// Curves that grow without end in bounded memory.
#include "frontend/monitor/History.h"

#include "frontend/monitor/AppendFile.h"
#include "frontend/monitor/Kept.h"

#include <algorithm>
#include <cmath>

namespace sinter::train {

void Point::add(int64_t at, double value) {
  x = at;
  ++total;
  if (!std::isfinite(value))
    return;
  least = count ? std::min(least, value) : value;
  most = count ? std::max(most, value) : value;
  sum += value;
  ++count;
}

void Point::merge(const Point &other) {
  x = other.x;
  total += other.total;
  if (other.count == 0)
    return;
  least = count ? std::min(least, other.least) : other.least;
  most = count ? std::max(most, other.most) : other.most;
  sum += other.sum;
  count += other.count;
}

static bool isBetter(Better better, double value, double than) {
  return better == Better::lower ? value < than : value > than;
}

void Curve::add(int64_t x, int64_t epoch, double value) {
  last = value;
  ++readings;
  if (better != Better::neither && !std::isnan(value) &&
      (bestEpoch == 0 || isBetter(better, value, best))) {
    best = value;
    bestEpoch = epoch;
  }
  if (points.empty() || points.back().total >= stride) {
    if (points.size() == most) {
      for (size_t half = 0; half < most / 2; ++half) {
        points[half] = points[2 * half];
        points[half].merge(points[2 * half + 1]);
      }
      points.resize(most / 2);
      stride *= 2;
    }
    points.emplace_back();
  }
  points.back().add(x, value);
}

const Curve *History::find(std::string_view name, Split split,
                           bool isEpoch) const {
  auto found = std::ranges::find_if(curves, [&](const Curve &curve) {
    return curve.name == name && curve.split == split &&
           curve.isEpoch == isEpoch;
  });
  return found == curves.end() ? nullptr : &*found;
}

std::vector<std::string> History::names(Role role) const {
  std::vector<std::string> names;
  for (const Curve &curve : curves)
    if (curve.role == role && !std::ranges::count(names, curve.name))
      names.push_back(curve.name);
  return names;
}

Curve &History::curveOf(const Value &value, Split split, bool isEpoch) {
  if (const Curve *known = find(value.name, split, isEpoch))
    return curves[size_t(known - curves.data())];
  Curve &made = curves.emplace_back();
  made.name = value.name;
  made.unit = value.unit;
  made.better = value.better;
  made.role = value.role;
  made.split = split;
  made.isEpoch = isEpoch;
  return made;
}

void History::add(std::span<const Value> values, Split split, bool isEpoch,
                  int64_t epoch) {
  std::vector<size_t> &known = places[size_t(split) * 2 + (isEpoch ? 1 : 0)];
  for (size_t index = 0; index < values.size(); ++index) {
    if (index >= known.size() ||
        curves[known[index]].name != values[index].name) {
      known.resize(std::max(known.size(), index + 1));
      known[index] =
          size_t(&curveOf(values[index], split, isEpoch) - curves.data());
    }
    curves[known[index]].add(lastTrainStep, epoch, values[index].value);
  }
}

void History::begin(const RunBegin &run) {
  *this = {};
  if (!run.resume || run.folder.empty())
    return;
  eachLine(below(run.folder, "metrics.csv"), [&](std::string_view line) {
    CsvLine read;
    if (line == csvHead)
      return true;
    if (!readCsvLine(line, read) || !isKept(*run.resume, read.place))
      return false;
    if (read.place.split == Split::train)
      lastTrainStep = std::max(lastTrainStep, read.place.totalStep);
    curveOf(read.value, read.place.split, read.place.isEpoch)
        .add(lastTrainStep, read.place.epoch, read.value.value);
    return true;
  });
  lastTrainStep = run.resume->train_steps;
}

void History::on(const Event &event) {
  if (const auto *step = std::get_if<StepEnd>(&event)) {
    if (step->split == Split::train)
      lastTrainStep = step->total_step;
    add(step->values, step->split, false, step->epoch);
  } else if (const auto *epoch = std::get_if<EpochEnd>(&event)) {
    add(epoch->values, epoch->split, true, epoch->epoch);
  } else if (const auto *run = std::get_if<RunBegin>(&event)) {
    begin(*run);
  }
}

} // namespace sinter::train
