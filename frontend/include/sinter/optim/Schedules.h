/// Schedules: learning rates as functions of the step, with PyTorch's names
/// and meanings.
#pragma once

#include <sinter/Held.h>

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace sinter::optim {

/// A learning rate for each step, from a base rate. A value without state.
class Schedule {
public:
  using Rate = std::function<double(double base, int64_t step)>;
  Schedule(std::string name, Rate rate)
      : ownName(std::move(name)), rate(std::move(rate)) {}

  /// The rate of a step; the first is number 0.
  double operator()(double base, int64_t step) const {
    if (!rate)
      detail::throwEmpty("schedule", {});
    return rate(base, step);
  }
  /// Says in files whose state they hold.
  const std::string &name() const { return ownName; }

private:
  std::string ownName;
  Rate rate;
};

/// Those below check their options, as optimizers do.

/// base * function(step).
Schedule lambda_lr(std::function<double(int64_t step)> function);

struct ConstantLrOptions {
  double factor = 1.0 / 3;
  int64_t total_iters = 5;
};
/// base * factor for total_iters steps, then base. Without options, base.
Schedule constant_lr();
Schedule
constant_lr(const ConstantLrOptions &options,
            std::source_location where = std::source_location::current());

struct LinearLrOptions {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  int64_t total_iters = 5;
};
/// From base * start_factor to base * end_factor in total_iters steps.
Schedule
linear_lr(const LinearLrOptions &options = {},
          std::source_location where = std::source_location::current());

struct StepLrOptions {
  int64_t step_size = 1;
  double gamma = 0.1;
};
/// base * gamma^n after n times step_size steps.
Schedule step_lr(const StepLrOptions &options,
                 std::source_location where = std::source_location::current());

struct MultiStepLrOptions {
  std::vector<int64_t> milestones;
  double gamma = 0.1;
};
/// base * gamma^n after n of the milestones.
Schedule
multi_step_lr(const MultiStepLrOptions &options,
              std::source_location where = std::source_location::current());

/// base * gamma^step.
Schedule
exponential_lr(double gamma,
               std::source_location where = std::source_location::current());

struct PolynomialLrOptions {
  int64_t total_iters = 5;
  double power = 1;
};
/// base * (1 - step / total_iters)^power, then 0.
Schedule
polynomial_lr(const PolynomialLrOptions &options = {},
              std::source_location where = std::source_location::current());

struct CosineAnnealingLrOptions {
  int64_t T_max = 1;
  double eta_min = 0;
};
/// Half a cosine from base to eta_min in T_max steps, and back.
Schedule cosine_annealing_lr(
    const CosineAnnealingLrOptions &options,
    std::source_location where = std::source_location::current());

struct CosineRestartsOptions {
  int64_t T_0 = 1;    ///< steps of the first fall
  int64_t T_mult = 1; ///< how much longer each is than the one before
  double eta_min = 0;
};
/// Half a cosine from base to eta_min, again and again.
Schedule cosine_annealing_warm_restarts(
    const CosineRestartsOptions &options,
    std::source_location where = std::source_location::current());

enum class Anneal : uint8_t { cos, linear };

struct OneCycleLrOptions {
  double max_lr = 0.1;
  int64_t total_steps = 1;
  double pct_start = 0.3; ///< the part of the steps in which the rate rises
  Anneal anneal_strategy = Anneal::cos;
  double div_factor = 25; ///< begins at max_lr / div_factor; base is not read
  double final_div_factor = 1e4; ///< ends at that by final_div_factor
  bool three_phase = false; ///< falls to the beginning first, then to the end
};
/// One rise and fall. Momenta stay as they are.
Schedule
one_cycle_lr(const OneCycleLrOptions &options,
             std::source_location where = std::source_location::current());

enum class CyclicMode : uint8_t { triangular, triangular2, exp_range };

struct CyclicLrOptions {
  double base_lr = 0.001; ///< in place of the base rate
  double max_lr = 0.01;
  int64_t step_size_up = 2000;
  int64_t step_size_down = 0; ///< 0: as step_size_up
  CyclicMode mode = CyclicMode::triangular;
  double gamma = 1; ///< of exp_range
};
/// Rises and falls, by less each time unless it is triangular. Momenta stay as
/// they are.
Schedule
cyclic_lr(const CyclicLrOptions &options,
          std::source_location where = std::source_location::current());

struct NoamLrOptions {
  int64_t d_model = 512;
  int64_t warmup = 4000;
};
/// base * d_model^-0.5 * min(n^-0.5, n * warmup^-1.5), n the step from 1.
Schedule noam_lr(const NoamLrOptions &options = {},
                 std::source_location where = std::source_location::current());

/// Each schedule from its milestone on, which is its step 0; the first begins
/// at once. There is a milestone less than there are schedules.
Schedule
sequential_lr(std::vector<Schedule> schedules, std::vector<int64_t> milestones,
              std::source_location where = std::source_location::current());

/// A linear rise from base * start_factor in `steps` steps, then another
/// schedule.
Schedule
warmup_lr(int64_t steps, Schedule then, double start_factor = 0,
          std::source_location where = std::source_location::current());

} // namespace sinter::optim
