/// Steps that are taken or not as the device finds.
#include <sinter/optim/Optimizer.h>

#include "frontend/Capture.h"
#include "frontend/Raise.h"
#include "frontend/State.h"
#include "frontend/optim/TakenNumbers.h"
#include "runtime/graph/Builders.h"

#include <sinter/BasicOps.h>
#include <sinter/SourceScope.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sinter::optim {

namespace {

/// What is set during one call, also if that throws.
class Setting {
public:
  Setting(Tensor &place, const Tensor &value) : place(place) { place = value; }
  ~Setting() { place = Tensor(); }
  Setting(const Setting &) = delete;

private:
  Tensor &place;
};

} // namespace

runtime::CellRef takenNumber(const std::string &name, double value,
                             DeviceId device) {
  runtime::CellSpec spec{.dtype = DType::f64,
                         .dims = {},
                         .device = device,
                         .requiresGrad = false,
                         .name = name};
  auto first = [value, device] {
    return graph::full(Dims(), Number(value), DType::f64, device);
  };
  return runtime::Cell::lazy(std::move(spec), first);
}

void Optimizer::stepFieldsIf(const Tensor &given, const detail::Fields &fields,
                             const Gradients &gradients,
                             std::source_location where) try {
  auto reject = [&](const char *what) {
    detail::raise(makeError(ErrorKind::invalid_argument,
                            std::string("step_if: ") + what, "step_if"),
                  where);
  };
  if (!given.defined() || given.dtype() != DType::boolean || given.rank() != 0)
    reject("the condition is no bool of rank 0");
  detail::Capture *capture = detail::Capture::current();
  if (capture && capture->use() == detail::CaptureUse::file)
    reject("a step that is recorded for a file is always taken");
  if (!countsOnDevice())
    reject((kind + " computes numbers of its count of steps that the device "
                   "does not")
               .c_str());
  Setting setting(condition, given);
  stepFields(fields, gradients, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Optimizer::ifTaken(const Tensor &now, const Tensor &before) const try {
  if (!condition.defined())
    return now;
  return where(condition.to(now.device()), now, before);
} catch (...) {
  detail::raiseExhausted({});
}

/// Parameters that a step leaves out do not count it, so they are given another
/// count than those that it takes.
void Optimizer::shareTakenSteps(const std::vector<const Param *> &params) try {
  struct Sharing {
    std::shared_ptr<TakenSteps> before;
    int64_t steps;
    DeviceId device;
    std::vector<State *> states;
  };
  std::vector<Sharing> all;
  taken = {}; // of a step that failed
  for (const Param *param : params) {
    State &state = stateOf(*param);
    if (!condition.defined() && !state.taken)
      continue;
    int64_t steps = state.taken ? 0 : state.steps();
    auto same = std::ranges::find_if(all, [&](const Sharing &each) {
      return each.before == state.taken && each.steps == steps &&
             each.device == param->device();
    });
    if (same == all.end()) {
      all.push_back({state.taken, steps, param->device(), {}});
      same = all.end() - 1;
    }
    same->states.push_back(&state);
  }
  for (Sharing &each : all) {
    if (each.before) {
      each.before->now.clear();
      // Two of this list, the one that was found and the states' own.
      auto users = static_cast<size_t>(each.before.use_count()) - 1;
      if (users == each.states.size())
        continue;
    }
    auto own = std::make_shared<TakenSteps>();
    if (each.before)
      for (const auto &[name, cell] : each.before->numbers)
        own->numbers.emplace(name, cell->copy());
    for (State *state : each.states)
      state->taken = own;
  }
} catch (...) {
  detail::raiseExhausted({});
}

/// What was computed of them must not be held: it will be replaced.
void Optimizer::endTakenSteps(const std::vector<const Param *> &params) try {
  taken = {};
  for (const Param *param : params)
    if (State &state = stateOf(*param); state.taken)
      state.taken->now.clear();
} catch (...) {
  detail::raiseExhausted({});
}

StepNumber
Optimizer::countedOnDevice(const Update &update, const std::string &name,
                           double before, double now,
                           const std::function<Tensor(Tensor)> &next) try {
  Tensor &value = taken->now[name];
  if (!value.defined()) {
    runtime::CellRef &cell = taken->numbers[name];
    if (!cell)
      cell = takenNumber(kind + "." + name, before, update.value.device());
    SourceLine line = SourceLine::current();
    Tensor last = detail::readCell(cell, line);
    // The numbers of a step that is not taken are never seen.
    value = next(last);
    detail::updateCell(cell, ifTaken(value, last), line);
  }
  return {now, value};
} catch (...) {
  detail::raiseExhausted({});
}

int64_t Optimizer::stepsOf(const State &state, std::source_location where) const
    try {
  if (!state.taken)
    return state.steps();
  auto count = state.taken->numbers.find("count");
  if (count == state.taken->numbers.end())
    return state.steps();
  return static_cast<int64_t>(
      detail::readCell(count->second, where).item<double>(where));
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::optim
