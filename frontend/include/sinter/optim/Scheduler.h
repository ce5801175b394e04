/// Scheduler: gives an optimizer the learning rate of each step.
#pragma once

#include <sinter/optim/Optimizer.h>
#include <sinter/optim/Schedules.h>

#include <cstdint>
#include <source_location>
#include <string>

namespace sinter {
class Record;
} // namespace sinter

namespace sinter::optim {

/// Sets the learning rate of an optimizer, which must outlive it. The rate is
/// an argument of programs: changing it compiles nothing.
///
///     sn::optim::Scheduler scheduler(adam, sn::optim::step_lr({.step_size =
///     30})); for (...) {
///       adam.step(model, loss.backward());
///       scheduler.step();
///     }
class Scheduler {
public:
  using Where = std::source_location;

  /// The optimizer's rate now is the base; it gets that of step 0.
  Scheduler(Optimizer &optimizer, Schedule schedule);

  /// After the optimizer's step: the rate of the next one.
  void step();
  /// How often that was.
  int64_t steps() const { return done; }
  double lr() const { return optimizer.lr(); }

  /// Writes the step and the base rate, which `load` reads and applies. The
  /// schedule itself is made again by who loads.
  void save(const std::string &file, Where where = Where::current()) const;
  void load(const std::string &file, Where where = Where::current());
  /// The same as a record.
  Record into_record(Where where = Where::current()) const;
  void load_record(const Record &record, Where where = Where::current());

private:
  Optimizer &optimizer;
  Schedule schedule;
  double base;
  int64_t done = 0;
};

enum class PlateauMode : uint8_t { min, max };
enum class ThresholdMode : uint8_t { rel, abs };

struct PlateauOptions {
  PlateauMode mode = PlateauMode::min; ///< whether less is better
  double factor = 0.1;
  int64_t patience = 10;   ///< steps without a better value that are let pass
  double threshold = 1e-4; ///< how much better a value must be
  ThresholdMode threshold_mode = ThresholdMode::rel;
  int64_t cooldown = 0; ///< steps after a reduction in which none is counted
  double min_lr = 0;
  double eps = 1e-8; ///< a smaller change is left out
};

/// Reduces the learning rate when a value no longer gets better.
class ReduceLROnPlateau {
public:
  using Where = std::source_location;

  explicit ReduceLROnPlateau(Optimizer &optimizer,
                             const PlateauOptions &options = {},
                             Where where = Where::current());

  void step(double metric);
  double lr() const { return optimizer.lr(); }

  /// Writes the state and the rate, which `load` reads and applies.
  void save(const std::string &file, Where where = Where::current()) const;
  void load(const std::string &file, Where where = Where::current());
  /// The same as a record.
  Record into_record(Where where = Where::current()) const;
  void load_record(const Record &record, Where where = Where::current());

private:
  bool isBetter(double metric) const;

  Optimizer &optimizer;
  PlateauOptions options;
  double best;
  int64_t bad = 0;
  int64_t cooling = 0;
};

} // namespace sinter::optim
