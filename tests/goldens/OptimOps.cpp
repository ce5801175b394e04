/// Golden cases of optimizers, clipping and schedules of learning rates.
#include "tests/goldens/Call.h"
#include "tests/goldens/Optimizers.h"

#include <limits>

namespace sinter::goldens {

using namespace sinter::optim;
using OptimizerPtr = std::unique_ptr<Optimizer>;

//===- Optimizers ---------------------------------------------------------===//

static double beta(const Attrs &attrs, size_t which, double otherwise) {
  const Json *betas = attrs.find("betas");
  return betas ? betas->elements[which].number : otherwise;
}

template <typename Options> static Options common(const Attrs &a) {
  Options options;
  options.lr = a.number("lr", options.lr);
  if constexpr (requires { options.weight_decay; })
    options.weight_decay = a.number("weight_decay", options.weight_decay);
  if constexpr (requires { options.eps; })
    options.eps = a.number("eps", options.eps);
  if constexpr (requires { options.momentum; })
    options.momentum = a.number("momentum");
  if constexpr (requires { options.amsgrad; })
    options.amsgrad = a.flag("amsgrad");
  if constexpr (requires { options.beta1; }) {
    options.beta1 = beta(a, 0, options.beta1);
    options.beta2 = beta(a, 1, options.beta2);
  }
  options.maximize = a.flag("maximize");
  return options;
}

template <typename T, typename Options>
static OptimizerPtr plain(const Attrs &attrs) {
  return std::make_unique<T>(common<Options>(attrs));
}

static OptimizerPtr sgd(const Attrs &a) {
  auto options = common<SgdOptions>(a);
  options.nesterov = a.flag("nesterov");
  options.dampening = a.number("dampening");
  return std::make_unique<Sgd>(options);
}

static OptimizerPtr rmsprop(const Attrs &a) {
  auto options = common<RMSpropOptions>(a);
  options.alpha = a.number("alpha", options.alpha);
  options.centered = a.flag("centered");
  return std::make_unique<RMSprop>(options);
}

static OptimizerPtr adagrad(const Attrs &a) {
  auto options = common<AdagradOptions>(a);
  options.lr_decay = a.number("lr_decay");
  options.initial_accumulator_value = a.number("initial_accumulator_value");
  return std::make_unique<Adagrad>(options);
}

static OptimizerPtr adadelta(const Attrs &a) {
  auto options = common<AdadeltaOptions>(a);
  options.rho = a.number("rho", options.rho);
  return std::make_unique<Adadelta>(options);
}

// The suite's cases come from PyTorch 1.13; OptimizerTest compares with later
// versions.
static OptimizerPtr nadam(const Attrs &a) {
  auto options = common<NAdamOptions>(a);
  options.repeats_momentum = true;
  return std::make_unique<NAdam>(options);
}

OptimizerPtr makeOptimizer(std::string_view op, const Attrs &attrs) {
  using Make = OptimizerPtr (*)(const Attrs &);
  static const std::map<std::string, Make, std::less<>> table = {
      {"sgd", sgd},
      {"adam", plain<Adam, AdamOptions>},
      {"adamw", plain<AdamW, AdamWOptions>},
      {"adamax", plain<Adamax, AdamaxOptions>},
      {"nadam", nadam},
      {"radam", plain<RAdam, RAdamOptions>},
      {"rmsprop", rmsprop},
      {"adagrad", adagrad},
      {"adadelta", adadelta},
      {"rprop", plain<Rprop, RpropOptions>},
  };
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second(attrs);
}

/// The gradients of each step are given.
static Values steps(Optimizer &optimizer, const Call &c) {
  std::vector<Param> params;
  for (const char *name : {"p0", "p1"})
    params.emplace_back(c[name], name);
  Values values;
  for (int64_t step = 0; step < c.attrs.integer("steps"); ++step) {
    Gradients gradients;
    for (size_t i = 0; i < params.size(); ++i)
      gradients.set(params[i].cell()->id(),
                    c["g" + std::to_string(i) + "." + std::to_string(step)]);
    optimizer.step(params, std::move(gradients));
    for (size_t i = 0; i < params.size(); ++i)
      values["p" + std::to_string(i) + "." + std::to_string(step)] =
          params[i].tensor().detach();
  }
  return values;
}

static Values clipNorm(const Call &c) {
  Gradients gradients;
  for (const auto &[name, tensor] : c.inputs)
    gradients.add({Gradients::keyOf(tensor), tensor, tensor});
  double p = c.attrs.text("norm_type") == "inf"
                 ? std::numeric_limits<double>::infinity()
                 : c.attrs.number("norm_type");
  Values values;
  values["total_norm"] =
      clip_grad_norm(gradients, c.attrs.number("max_norm"), p);
  for (const auto &[name, tensor] : c.inputs)
    values[name] = gradients(tensor);
  return values;
}

std::optional<Values> recordOptim(const Case &golden, const Values &inputs) {
  if (golden.category != "optim")
    return std::nullopt;
  Call call{inputs, Attrs(golden.attrs)};
  if (golden.op == "clip_grad_norm")
    return clipNorm(call);
  OptimizerPtr optimizer = makeOptimizer(golden.op, call.attrs);
  return optimizer ? std::optional(steps(*optimizer, call)) : std::nullopt;
}

//===- Schedules ----------------------------------------------------------===//

static Schedule oneCycle(const Attrs &a) {
  OneCycleLrOptions options{.max_lr = a.number("max_lr"),
                            .total_steps = a.integer("total_steps")};
  options.pct_start = a.number("pct_start", options.pct_start);
  options.div_factor = a.number("div_factor", options.div_factor);
  options.final_div_factor =
      a.number("final_div_factor", options.final_div_factor);
  if (a.text("anneal_strategy") == "linear")
    options.anneal_strategy = Anneal::linear;
  return one_cycle_lr(options);
}

static Schedule cyclic(const Attrs &a) {
  // Their attribute base_lr is the optimizer's; the cycles' own is not said.
  CyclicLrOptions options{.base_lr = 0.01,
                          .max_lr = a.number("max_lr"),
                          .step_size_up = a.integer("step_size_up"),
                          .step_size_down = a.integer("step_size_down"),
                          .gamma = a.number("gamma", 1)};
  if (a.text("mode") == "triangular2")
    options.mode = CyclicMode::triangular2;
  if (a.text("mode") == "exp_range")
    options.mode = CyclicMode::exp_range;
  return cyclic_lr(options);
}

using MakeSchedule = Schedule (*)(const Attrs &);
static const std::map<std::string, MakeSchedule, std::less<>> &schedules() {
  static const std::map<std::string, MakeSchedule, std::less<>> table = {
      {"lr_step",
       [](const Attrs &a) {
         return step_lr({a.integer("step_size"), a.number("gamma")});
       }},
      {"lr_multistep",
       [](const Attrs &a) {
         return multi_step_lr({a.list("milestones"), a.number("gamma")});
       }},
      {"lr_exponential",
       [](const Attrs &a) { return exponential_lr(a.number("gamma")); }},
      {"lr_cosine",
       [](const Attrs &a) {
         return cosine_annealing_lr({a.integer("T_max"), a.number("eta_min")});
       }},
      {"lr_cosine_restarts",
       [](const Attrs &a) {
         return cosine_annealing_warm_restarts(
             {a.integer("T_0"), a.integer("T_mult"), a.number("eta_min")});
       }},
      {"lr_linear",
       [](const Attrs &a) {
         return linear_lr({a.number("start_factor"), a.number("end_factor"),
                           a.integer("total_iters")});
       }},
      {"lr_constant",
       [](const Attrs &a) {
         return constant_lr({a.number("factor"), a.integer("total_iters")});
       }},
      {"lr_polynomial",
       [](const Attrs &a) {
         return polynomial_lr({a.integer("total_iters"), a.number("power")});
       }},
      {"lr_one_cycle", oneCycle},
      {"lr_cyclic", cyclic},
      {"lr_warmup_then_cosine",
       [](const Attrs &a) {
         return warmup_lr(a.integer("warmup"),
                          cosine_annealing_lr({.T_max = a.integer("T_max")}),
                          a.number("start_factor"));
       }},
  };
  return table;
}

static Values plateau(const Attrs &a, Optimizer &optimizer) {
  ReduceLROnPlateau scheduler(optimizer, {.factor = a.number("factor"),
                                          .patience = a.integer("patience"),
                                          .threshold = a.number("threshold"),
                                          .cooldown = a.integer("cooldown")});
  std::vector<double> rates;
  for (const Json &metric : a.find("metrics")->elements) {
    rates.push_back(scheduler.lr());
    scheduler.step(metric.number);
  }
  return {{"lr", tensor(rates)}};
}

std::optional<Values> recordSchedule(const Case &golden, const Values &) {
  if (golden.category != "lr_schedule")
    return std::nullopt;
  Attrs attrs(golden.attrs);
  Sgd optimizer({.lr = attrs.number("base_lr")});
  if (golden.op == "lr_plateau")
    return plateau(attrs, optimizer);
  auto make = schedules().find(golden.op);
  if (make == schedules().end())
    return std::nullopt;
  Scheduler scheduler(optimizer, make->second(attrs));
  std::vector<double> rates;
  for (int64_t step = 0; step < attrs.integer("steps"); ++step) {
    rates.push_back(optimizer.lr());
    scheduler.step();
  }
  return Values{{"lr", tensor(rates)}};
}

} // namespace sinter::goldens
