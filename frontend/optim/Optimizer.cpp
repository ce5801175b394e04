/// Optimizer: what every optimizer does with parameters, gradients and state.
#include <sinter/optim/Optimizer.h>

#include "frontend/Capture.h"
#include "frontend/Pending.h"
#include "frontend/Raise.h"
#include "frontend/State.h"
#include "runtime/graph/Builders.h"
#include "runtime/support/FloatingPoint.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/ModuleFile.h>
#include <sinter/SourceScope.h>

#include <atomic>
#include <bit>
#include <utility>

namespace sinter::optim {

namespace {

/// Dtype of moments and of the arithmetic of an update.
DType computeType(DType param) {
  return param == DType::f64 ? DType::f64 : DType::f32;
}

/// A moment: `first` until the first update.
runtime::CellRef makeMoment(const Param &param, const std::string &name,
                            double first) {
  runtime::CellSpec spec{.dtype = computeType(param.dtype()),
                         .dims = param.shape(),
                         .device = param.device(),
                         .requiresGrad = false,
                         .name = param.name() + "." + name};
  auto filled = [dims = spec.dims, dtype = spec.dtype, device = spec.device,
                 first] {
    return graph::full(dims, Number(first), dtype, device);
  };
  return runtime::Cell::lazy(std::move(spec), filled);
}

uint64_t nextNumber() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

} // namespace

Optimizer::Optimizer(std::string kind, std::vector<Moment> moments, double rate)
    : number(nextNumber()), kind(std::move(kind)), moments(std::move(moments)),
      rate(rate) {}

int64_t Optimizer::State::steps() const try {
  int64_t here = moments.empty() ? 0 : moments.front()->version();
  return loadedSteps + here;
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Optimizer::scalarOf(const Update &update, double value) try {
  DType dtype = update.compute;
  DeviceId device = update.value.device();
  size_t place = nextPlace++;
  for (const Scalar &made : scalars)
    if (made.group == update.group && made.place == place &&
        made.value == value && made.tensor.dtype() == dtype &&
        made.tensor.device() == device)
      return made.tensor;
  uint64_t bits = dtype == DType::f64
                      ? std::bit_cast<uint64_t>(value)
                      : std::bit_cast<uint32_t>(static_cast<float>(value));
  Tensor made(graph::NodeFactory::scalar(dtype, bits, device));
  scalars.push_back({update.group, place, value, made});
  return made;
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Optimizer::scalarOf(const Update &update, const StepNumber &number) try {
  if (number.in_file().defined())
    return number.in_file().to(update.compute);
  return scalarOf(update, number.value());
} catch (...) {
  detail::raiseExhausted({});
}

double Optimizer::decayOf(const Update &update, double common) const try {
  return groups[update.group].weightDecay.value_or(common);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Optimizer::gradientOf(const Update &update, double weightDecay,
                             bool maximize) try {
  Tensor gradient = maximize ? -update.gradient : update.gradient;
  if (weightDecay == 0)
    return gradient;
  return gradient + update.value * scalarOf(update, weightDecay);
} catch (...) {
  detail::raiseExhausted({});
}

Tensor Optimizer::runningMean(const Update &update, const Tensor &mean,
                              const Tensor &value, double beta) try {
  Tensor kept = scalarOf(update, beta), taken = scalarOf(update, 1 - beta);
  return axpby(mean, kept, value, taken);
} catch (...) {
  detail::raiseExhausted({});
}

Optimizer::State &Optimizer::stateOf(const Param &param) try {
  auto [found, isNew] = states.try_emplace(param.cell()->id());
  State &state = found->second;
  if (isNew) {
    state.parameter = param.cell();
    for (const auto &[name, first] : moments)
      state.moments.push_back(makeMoment(param, name, first));
  }
  state.recordId = param.record_id();
  return state;
} catch (...) {
  detail::raiseExhausted({});
}

void Optimizer::set_lr(double value, Where where) try {
  detail::Arguments(kind, where).notNegative("lr", value);
  rate = value;
} catch (...) {
  detail::raiseExhausted(where);
}

void Optimizer::dropDead() try {
  auto isDead = [](const auto &entry) {
    return entry.second.parameter.expired();
  };
  std::erase_if(states, isDead);
  std::erase_if(groupOf, isDead);
} catch (...) {
  detail::raiseExhausted({});
}

void Optimizer::addGroup(const detail::Fields &fields,
                         const std::function<bool(std::string_view)> &selects,
                         const GroupOptions &options,
                         std::source_location where) try {
  auto reject = [&](std::string what) {
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "add_group: " + std::move(what), "add_group"),
                  where);
  };
  detail::Arguments("add_group", where)
      .notNegative("lr", options.lr.value_or(0))
      .notNegative("weight_decay", options.weight_decay.value_or(0));
  if (!takesGroups())
    reject(kind + " has neither a rate nor weight decay");
  if (options.lr && rate == 0)
    reject("the optimizer's rate is 0: no other is in proportion to it");
  dropDead();
  std::vector<const Param *> chosen;
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    if ((selects && !selects(path)) ||
        detail::firstWithCell(fields.params, i) != i)
      continue;
    if (groupOf.contains(param->cell()->id()))
      reject("'" + (path.empty() ? param->name() : path) +
             "' is in a group already");
    chosen.push_back(param);
  }
  if (chosen.empty())
    reject("there is no parameter to put in it");
  for (const Param *param : chosen)
    groupOf[param->cell()->id()] = {param->cell(), groups.size()};
  groups.push_back({options.lr ? *options.lr / rate : 1, options.weight_decay});
} catch (...) {
  detail::raiseExhausted(where);
}

void Optimizer::stepParam(const Param &param, const Tensor &gradient,
                          std::source_location where) try {
  State &state = stateOf(param);
  stepping = param.cell();
  detail::Capture *capture = detail::Capture::current();
  if (capture)
    for (size_t i = 0; i < moments.size(); ++i)
      capture->nameState(state.moments[i], param.cell(), moments[i].name);
  Update update;
  update.compute = computeType(param.dtype());
  update.value = param.own_value(where).to(update.compute, where);
  update.gradient = gradient.to(update.compute, where);
  for (const runtime::CellRef &moment : state.moments)
    update.moments.push_back(detail::readCell(moment, where));
  update.step = state.steps() + 1;
  taken = state.taken;
  if (auto found = groupOf.find(param.cell()->id()); found != groupOf.end())
    update.group = found->second.group;
  update.lr =
      StepNumber(rate, capture ? capture->rateOf(number, update.value.device())
                               : Tensor()) *
      groups[update.group].rateFactor;
  nextPlace = 0;
  if (taken)
    countOf(update); // for files, whoever asks for it
  Tensor before = update.value;
  std::vector<Tensor> momentsBefore = update.moments;
  Tensor value = ifTaken(record(update), before);
  detail::updateCell(param.cell(), value.to(param.dtype(), where), where);
  for (size_t i = 0; i < state.moments.size(); ++i)
    detail::updateCell(state.moments[i],
                       ifTaken(update.moments[i], momentsBefore[i]), where);
} catch (...) {
  detail::raiseExhausted(where);
}

/// In a jitted function the step is host code of each call: its numbers (the
/// rate, the count of steps) are other ones each time.
void Optimizer::captureStep(const std::vector<const Param *> &params,
                            const std::vector<Tensor> &gradients,
                            std::source_location where) try {
  std::vector<detail::CellUse> cells;
  for (const Param *param : params)
    cells.push_back({param->cell(), param->record_id()});
  std::vector<Tensor> inputs = gradients;
  bool isConditional = condition.defined();
  if (isConditional)
    inputs.push_back(condition);
  auto step = [this, where,
               isConditional](std::span<const detail::CellUse> uses,
                              std::span<const Tensor> values) {
    std::vector<Param> views;
    Gradients given;
    for (size_t i = 0; i < uses.size(); ++i) {
      views.push_back(Param::of_cell(uses[i].cell, uses[i].recordId));
      given.set(uses[i].cell->id(), values[i]);
    }
    if (isConditional)
      stepFieldsIf(values.back(), detail::fieldsOf(views), given, where);
    else
      stepFields(detail::fieldsOf(views), given, where);
  };
  detail::Capture::current()->addEffect(std::move(cells), inputs, step);
} catch (...) {
  detail::raiseExhausted(where);
}

void Optimizer::stepFields(const detail::Fields &fields,
                           const Gradients &gradients,
                           std::source_location where) try {
  detail::SourceScope scope(where);
  DefaultFloats floats; // rates and the like are computed here
  no_grad guard;
  dropDead();
  scalars.clear();
  counted.clear();
  bool wanted = false;
  std::vector<const Param *> params;
  std::vector<Tensor> found;
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const Param &param = *fields.params[i].value;
    if (!param.requires_grad() || detail::firstWithCell(fields.params, i) != i)
      continue;
    wanted = true;
    const Tensor *gradient = gradients.find(param);
    if (!gradient)
      continue;
    params.push_back(&param);
    found.push_back(*gradient);
  }
  if (wanted && params.empty())
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "step: the gradients hold none of the model's "
                            "parameters",
                            "step"),
                  where);
  detail::Capture *capture = detail::Capture::current();
  if (capture && capture->use() == detail::CaptureUse::replay)
    return captureStep(params, found, where);
  stepped.clear();
  if (capture)
    for (const Param *param : params)
      stepped += std::to_string(param->cell()->id()) + " ";
  shareTakenSteps(params);
  for (size_t i = 0; i < params.size(); ++i)
    stepParam(*params[i], std::exchange(found[i], Tensor()), where);
  stepping = {};
  endTakenSteps(params);
  scalars.clear();
  detail::noteStepEnd(where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::optim
