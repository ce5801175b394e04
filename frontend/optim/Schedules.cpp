/// Learning rates as functions of the step.
#include <sinter/optim/Schedules.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter::optim {

/// From `from` at part 0 to `to` at part 1.
static double line(double from, double to, double part) {
  return from + (to - from) * part;
}
/// The same along half a cosine.
static double wave(double from, double to, double part) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

//===- Plain ones ---------------------------------------------------------===//

Schedule lambda_lr(std::function<double(int64_t)> function) try {
  return {"lambda_lr",
          [function = std::move(function)](double base, int64_t step) {
            return base * function(step);
          }};
} catch (...) {
  detail::raiseExhausted({});
}

Schedule constant_lr() try {
  return {"constant_lr", [](double base, int64_t) { return base; }};
} catch (...) {
  detail::raiseExhausted({});
}

Schedule constant_lr(const ConstantLrOptions &options,
                     std::source_location where) try {
  detail::Arguments("constant_lr", where)
      .notNegative("factor", options.factor)
      .atLeast(0, "total_iters", options.total_iters);
  return {"constant_lr", [options](double base, int64_t step) {
            return step < options.total_iters ? base * options.factor : base;
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule linear_lr(const LinearLrOptions &options,
                   std::source_location where) try {
  detail::Arguments("linear_lr", where)
      .notNegative("start_factor", options.start_factor)
      .notNegative("end_factor", options.end_factor)
      .positive("total_iters", options.total_iters);
  return {"linear_lr", [options](double base, int64_t step) {
            double part = std::min(1.0, double(step) / options.total_iters);
            return base * line(options.start_factor, options.end_factor, part);
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule step_lr(const StepLrOptions &options, std::source_location where) try {
  detail::Arguments("step_lr", where)
      .positive("step_size", options.step_size)
      .notNegative("gamma", options.gamma);
  return {"step_lr", [options](double base, int64_t step) {
            int64_t times = step / options.step_size;
            return base * std::pow(options.gamma, double(times));
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule multi_step_lr(const MultiStepLrOptions &options,
                       std::source_location where) try {
  detail::Arguments call("multi_step_lr", where);
  call.notNegative("gamma", options.gamma);
  for (int64_t milestone : options.milestones)
    call.atLeast(0, "a milestone", milestone);
  return {"multi_step_lr", [options](double base, int64_t step) {
            auto passed = std::ranges::count_if(
                options.milestones,
                [&](int64_t milestone) { return milestone <= step; });
            return base * std::pow(options.gamma, double(passed));
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule exponential_lr(double gamma, std::source_location where) try {
  detail::Arguments("exponential_lr", where).notNegative("gamma", gamma);
  return {"exponential_lr", [gamma](double base, int64_t step) {
            return base * std::pow(gamma, double(step));
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule polynomial_lr(const PolynomialLrOptions &options,
                       std::source_location where) try {
  detail::Arguments("polynomial_lr", where)
      .positive("total_iters", options.total_iters)
      .notNegative("power", options.power);
  return {"polynomial_lr", [options](double base, int64_t step) {
            double part = std::min(1.0, double(step) / options.total_iters);
            return base * std::pow(1 - part, options.power);
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule noam_lr(const NoamLrOptions &options, std::source_location where) try {
  detail::Arguments("noam_lr", where)
      .positive("d_model", options.d_model)
      .positive("warmup", options.warmup);
  return {"noam_lr", [options](double base, int64_t step) {
            double n = double(step + 1), warmup = double(options.warmup);
            return base / std::sqrt(double(options.d_model)) *
                   std::min(1 / std::sqrt(n), n / (warmup * std::sqrt(warmup)));
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Waves --------------------------------------------------------------===//

Schedule cosine_annealing_lr(const CosineAnnealingLrOptions &options,
                             std::source_location where) try {
  detail::Arguments("cosine_annealing_lr", where)
      .positive("T_max", options.T_max)
      .notNegative("eta_min", options.eta_min);
  return {"cosine_annealing_lr", [options](double base, int64_t step) {
            return wave(base, options.eta_min, double(step) / options.T_max);
          }};
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule cosine_annealing_warm_restarts(const CosineRestartsOptions &options,
                                        std::source_location where) try {
  detail::Arguments("cosine_annealing_warm_restarts", where)
      .positive("T_0", options.T_0)
      .positive("T_mult", options.T_mult)
      .notNegative("eta_min", options.eta_min);
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
} catch (...) {
  detail::raiseExhausted(where);
}

namespace {
/// A part of a cycle: to `rate` at `end`.
struct Phase {
  double end, rate;
};
} // namespace

Schedule one_cycle_lr(const OneCycleLrOptions &options,
                      std::source_location where) try {
  detail::Arguments("one_cycle_lr", where)
      .notNegative("max_lr", options.max_lr)
      .positive("total_steps", options.total_steps)
      .within("pct_start", options.pct_start, 0, 1)
      .aboveZero("div_factor", options.div_factor)
      .aboveZero("final_div_factor", options.final_div_factor);
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
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule cyclic_lr(const CyclicLrOptions &options,
                   std::source_location where) try {
  detail::Arguments("cyclic_lr", where)
      .notNegative("base_lr", options.base_lr)
      .notNegative("max_lr", options.max_lr)
      .positive("step_size_up", options.step_size_up)
      .atLeast(0, "step_size_down", options.step_size_down)
      .notNegative("gamma", options.gamma);
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
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Compositions -------------------------------------------------------===//

Schedule sequential_lr(std::vector<Schedule> schedules,
                       std::vector<int64_t> milestones,
                       std::source_location where) try {
  if (schedules.empty() || milestones.size() + 1 != schedules.size() ||
      !std::ranges::is_sorted(milestones))
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "sequential_lr: needs a milestone between any two "
                            "schedules, in ascending order",
                            "sequential_lr"),
                  where);
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
} catch (...) {
  detail::raiseExhausted(where);
}

Schedule warmup_lr(int64_t steps, Schedule then, double start_factor,
                   std::source_location where) try {
  detail::Arguments("warmup_lr", where)
      .positive("steps", steps)
      .notNegative("start_factor", start_factor);
  return sequential_lr({linear_lr({.start_factor = start_factor,
                                   .end_factor = 1,
                                   .total_iters = steps},
                                  where),
                        std::move(then)},
                       {steps}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::optim
