/// Progress: how far a training is, how fast, and what it said last.
#pragma once

#include "frontend/monitor/History.h"

#include <array>
#include <deque>
#include <optional>

namespace sinter::train {

/// How many steps a second were done lately.
class Rate {
public:
  void add(double time, int64_t steps);
  /// 0: not known.
  double get() const;
  void clear() { samples.clear(); }

private:
  struct Sample {
    double time;
    int64_t steps;
  };
  std::deque<Sample> samples;
};

class Progress {
public:
  void on(const Event &event);

  RunBegin run;
  std::optional<RunEnd> end;
  int64_t epoch = 0;
  Split split = Split::train;
  int64_t step = 0, steps = 0; ///< of the epoch and split
  double time = 0;             ///< of the last event
  std::vector<DeviceUse> devices;
  std::deque<Message> messages; ///< the last ones
  History history;

  double elapsed() const { return time - run.time; }
  /// Steps a second, of the split that runs.
  double rate() const { return rates.get(); }
  /// Of the whole run, 0 to 1; nothing where its length is not known.
  std::optional<double> share() const;
  /// Seconds that are left; nothing where that is not known.
  std::optional<double> epochLeft() const;
  std::optional<double> runLeft() const;

private:
  void say(Level level, std::string text);
  void add(const StepEnd &event);

  Rate rates;
  int64_t trainSteps = 0, validSteps = 0; ///< of an epoch; 0: not known
  std::array<int64_t, 2> done = {};       ///< steps of the whole run, by split
  double firstShare = 0;                  ///< where this process began
};

} // namespace sinter::train
