/// Learning rates as functions of the step.
#include <sinter/optim/Schedules.h>

#include "frontend/Raise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter::optim {

/// Schedules are made by plain calls: an error has no line but its own name.
[[noreturn]] static void reject(const char *name, const char *what) {
  detail::raise(makeError(ErrorKind::invalid_argument,
                          std::string(name) + ": " + what, name),
                SourceLine());
}

static void require(bool holds, const char *name, const char *what) {
  if (!holds)
    reject(name, what);
}

/// From `from` at part 0 to `to` at part 1.
static double line(double from, double to, double part) {
  return from + (to - from) * part;
}
/// The same along half a cosine.
static double wave(double from, double to, double part) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

//===- Plain ones ---------------------------------------------------------===//

Schedule lambda_lr(std::function<double(int64_t)> function) {
  return {"lambda_lr",
          [function = std::move(function)](double base, int64_t step) {
            return base * function(step);
          }};
}

Schedule constant_lr() {
  return {"constant_lr", [](double base, int64_t) { return base; }};
}

Schedule constant_lr(const ConstantLrOptions &options) {
  return {"constant_lr", [options](double base, int64_t step) {
            return step < options.total_iters ? base * options.factor : base;
          }};
}

Schedule linear_lr(const LinearLrOptions &options) {
  require(options.total_iters > 0, "linear_lr", "total_iters is not positive");
  return {"linear_lr", [options](double base, int64_t step) {
            double part = std::min(1.0, double(step) / options.total_iters);
            return base * line(options.start_factor, options.end_factor, part);
          }};
}

Schedule step_lr(const StepLrOptions &options) {
  require(options.step_size > 0, "step_lr", "step_size is not positive");
  return {"step_lr", [options](double base, int64_t step) {
            int64_t times = step / options.step_size;
            return base * std::pow(options.gamma, double(times));
          }};
}

Schedule multi_step_lr(const MultiStepLrOptions &options) {
  return {"multi_step_lr", [options](double base, int64_t step) {
            auto passed = std::ranges::count_if(
                options.milestones,
                [&](int64_t milestone) { return milestone <= step; });
            return base * std::pow(options.gamma, double(passed));
          }};
}

Schedule exponential_lr(double gamma) {
  return {"exponential_lr", [gamma](double base, int64_t step) {
            return base * std::pow(gamma, double(step));
          }};
}

Schedule polynomial_lr(const PolynomialLrOptions &options) {
  require(options.total_iters > 0, "polynomial_lr",
          "total_iters is not positive");
  return {"polynomial_lr", [options](double base, int64_t step) {
            double part = std::min(1.0, double(step) / options.total_iters);
            return base * std::pow(1 - part, options.power);
          }};
}

Schedule noam_lr(const NoamLrOptions &options) {
  require(options.d_model > 0 && options.warmup > 0, "noam_lr",
          "d_model and warmup are not positive");
  return {"noam_lr", [options](double base, int64_t step) {
            double n = double(step + 1), warmup = double(options.warmup);
            return base / std::sqrt(double(options.d_model)) *
                   std::min(1 / std::sqrt(n), n / (warmup * std::sqrt(warmup)));
          }};
}

//===- Waves --------------------------------------------------------------===//

Schedule cosine_annealing_lr(const CosineAnnealingLrOptions &options) {
  require(options.T_max > 0, "cosine_annealing_lr", "T_max is not positive");
  return {"cosine_annealing_lr", [options](double base, int64_t step) {
            return wave(base, options.eta_min, double(step) / options.T_max);
          }};
}

Schedule cosine_annealing_warm_restarts(const CosineRestartsOptions &options) {
  require(options.T_0 > 0 && options.T_mult > 0,
          "cosine_annealing_warm_restarts", "T_0 and T_mult are not positive");
  return {"cosine_annealing_warm_restarts",
          [options](double base, int64_t step) {
            int64_t length = options.T_0, at = step;
            if (options.T_mult == 1)
              at = step % length;
            else
              for (; at >= length; length *= options.T_mult)
                at -= length;
            return wave(base, options.eta_min, double(at) / double(length));
          }};
}

namespace {
/// A part of a cycle: to `rate` at `end`.
struct Phase {
  double end, rate;
};
} // namespace

Schedule one_cycle_lr(const OneCycleLrOptions &options) {
  require(options.total_steps > 0, "one_cycle_lr",
          "total_steps is not positive");
  double total = double(options.total_steps);
  double first = options.max_lr / options.div_factor;
  double last = first / options.final_div_factor;
  double peak = options.pct_start * total - 1;
  std::vector<Phase> phases{{peak, options.max_lr}};
  if (options.three_phase)
    phases.push_back({2 * peak, first});
  phases.push_back({total - 1, last});
  bool isLinear = options.anneal_strategy == Anneal::linear;
  auto rate = [=](double, int64_t step) {
    double begin = 0, from = first;
    for (const auto &[end, to] : phases) {
      if (double(step) <= end) {
        double part = end > begin ? (double(step) - begin) / (end - begin) : 1;
        return isLinear ? line(from, to, part) : wave(from, to, part);
      }
      begin = end;
      from = to;
    }
    return last;
  };
  return {"one_cycle_lr", rate};
}

Schedule cyclic_lr(const CyclicLrOptions &options) {
  require(options.step_size_up > 0 && options.step_size_down >= 0, "cyclic_lr",
          "step sizes are not positive");
  double up = double(options.step_size_up);
  double down = options.step_size_down ? double(options.step_size_down) : up;
  auto rate = [=](double, int64_t step) {
    double cycle = std::floor(double(step) / (up + down));
    double at = double(step) - cycle * (up + down);
    double height = at <= up ? at / up : 1 - (at - up) / down;
    double scale = options.mode == CyclicMode::triangular2
                       ? std::pow(0.5, cycle)
                   : options.mode == CyclicMode::exp_range
                       ? std::pow(options.gamma, double(step))
                       : 1;
    return line(options.base_lr, options.max_lr, height * scale);
  };
  return {"cyclic_lr", rate};
}

//===- Compositions -------------------------------------------------------===//

Schedule sequential_lr(std::vector<Schedule> schedules,
                       std::vector<int64_t> milestones) {
  require(!schedules.empty() && milestones.size() + 1 == schedules.size() &&
              std::ranges::is_sorted(milestones),
          "sequential_lr",
          "needs a milestone between any two schedules, in ascending order");
  std::string name = "sequential_lr(";
  for (const Schedule &schedule : schedules)
    name += (&schedule == schedules.data() ? "" : ",") + schedule.name();
  auto rate = [schedules = std::move(schedules),
               milestones = std::move(milestones)](double base, int64_t step) {
    size_t which =
        std::ranges::upper_bound(milestones, step) - milestones.begin();
    int64_t begin = which == 0 ? 0 : milestones[which - 1];
    return schedules[which](base, step - begin);
  };
  return {name + ")", std::move(rate)};
}

Schedule warmup_lr(int64_t steps, Schedule then, double start_factor) {
  return sequential_lr({linear_lr({.start_factor = start_factor,
                                   .end_factor = 1,
                                   .total_iters = steps}),
                        std::move(then)},
                       {steps});
}

} // namespace sinter::optim
