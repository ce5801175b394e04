/// History: what a training's values were, in little memory.
#pragma once

#include <sinter/train/Events.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::train {

/// Neighbouring readings as one point. Where all are NaN or infinite, `count`
/// is 0 and a curve has a gap.
struct Point {
  int64_t x = 0; ///< of the last one
  double sum = 0, least = 0, most = 0;
  uint32_t count = 0, total = 0; ///< finite ones, and all

  double mean() const { return sum / count; }
  void add(int64_t at, double value);
  void merge(const Point &other);
};

/// A value over the steps of training: at most `most` points. When there are
/// more, two become one.
struct Curve {
  static constexpr size_t most = 1024;

  std::string name, unit;
  Better better = Better::neither;
  Role role = Role::metric;
  Split split = Split::train;
  bool isEpoch = false; ///< of whole epochs, or of steps

  std::vector<Point> points;
  uint32_t stride = 1; ///< readings in a point
  double last = 0, best = 0;
  int64_t bestEpoch = 0; ///< 0: none yet
  uint64_t readings = 0;

  void add(int64_t x, int64_t epoch, double value);
};

class History {
public:
  /// Takes steps, epochs, and the begin of a run: one that goes on has what is
  /// kept of `metrics.csv` in its folder.
  void on(const Event &event);

  const std::vector<Curve> &all() const { return curves; }
  /// Null where there is none.
  const Curve *find(std::string_view name, Split split, bool isEpoch) const;
  /// Names in the order in which they came, of one role.
  std::vector<std::string> names(Role role) const;
  /// Steps of training so far.
  int64_t trainSteps() const { return lastTrainStep; }

private:
  void begin(const RunBegin &run);
  void add(std::span<const Value> values, Split split, bool isEpoch,
           int64_t epoch);
  Curve &curveOf(const Value &value, Split split, bool isEpoch);

  std::vector<Curve> curves;
  int64_t lastTrainStep = 0;
  /// Where the curve of each value of an event was, by split and kind.
  std::array<std::vector<size_t>, 4> places;
};

} // namespace sinter::train
