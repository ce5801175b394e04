/// The state of optimizers and schedulers in records.
#include <sinter/optim/Optimizer.h>
#include <sinter/optim/Scheduler.h>

#include "frontend/Raise.h"
#include "frontend/State.h"
#include "frontend/optim/TakenNumbers.h"
#include "frontend/weights/ReadTensor.h"
#include "frontend/weights/Slots.h"
#include "runtime/device/Device.h"
#include "runtime/params/FloatCasts.h"

#include <sinter/ModuleFile.h>
#include <sinter/Record.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinter::optim {

static void expectKind(const Record &record, const std::string &kind,
                       std::source_location where) {
  if (auto found = record.get<std::string>("kind", where); found != kind)
    detail::throwRecord(fmt::format("is state of {}, not of {}", found, kind),
                        where);
}

//===- Optimizers ---------------------------------------------------------===//

static std::string hex(uint64_t id) { return fmt::format("{:016x}", id); }

Record Optimizer::into_record(Where where) const try {
  Record parameters;
  for (const auto &[id, state] : statesById("into_record", where)) {
    Record own;
    own.put("steps", stepsOf(*state, where), where);
    // As they are: a power that is computed again would be of other bits.
    if (state->taken) {
      Record numbers;
      for (const auto &[name, cell] : state->taken->numbers)
        numbers.put(name, detail::readCell(cell, where).item<double>(where),
                    where);
      own.set("taken", std::move(numbers), where);
    }
    for (size_t i = 0; i < moments.size(); ++i)
      own.put(moments[i].name, detail::readCell(state->moments[i], where),
              where);
    parameters.set(hex(id), std::move(own), where);
  }
  Record record;
  record.put("kind", kind, where);
  record.set("parameters", std::move(parameters), where);
  return record;
} catch (...) {
  detail::raiseExhausted(where);
}

/// A cell on the parameter's device; empty where it does not fit.
static runtime::CellRef momentOf(const Param &param, const std::string &name,
                                 const RecordTensor &stored,
                                 std::source_location where) {
  DType dtype = param.dtype() == DType::f64 ? DType::f64 : DType::f32;
  if (!isFloat(stored.dtype) || stored.dims != detail::extentsOf(param.shape()))
    return nullptr;
  std::vector<std::byte> bytes(stored.data.size() / byteWidth(stored.dtype) *
                               byteWidth(dtype));
  runtime::castFloats(stored.data, stored.dtype, bytes, dtype);
  auto *device = detail::unwrap(runtime::getDevice(param.device()), where);
  auto buffer = detail::unwrap(device->allocate(bytes.size()), where);
  detail::unwrap(device->copyIn(*buffer, 0, bytes), where);
  runtime::CellSpec spec{.dtype = dtype,
                         .dims = param.shape(),
                         .device = param.device(),
                         .requiresGrad = false,
                         .name = param.name() + "." + name};
  return runtime::Cell::ready(std::move(spec), std::move(buffer));
}

void Optimizer::loadRecordFields(const detail::Fields &fields,
                                 const Record &record,
                                 std::source_location where) try {
  expectKind(record, kind, where);
  const Record &parameters = record.at("parameters", where);
  std::unordered_map<uint64_t, State> loaded;
  // Parameters that took the same steps share their numbers.
  std::map<std::pair<std::string, std::map<std::string, double>>,
           std::shared_ptr<TakenSteps>>
      taken;
  std::vector<std::string> problems;
  for (const auto &[path, param] : fields.params) {
    const Record *stored = parameters.find(hex(param->record_id()));
    if (!stored) // never stepped
      continue;
    State state;
    state.parameter = param->cell();
    state.recordId = param->record_id();
    state.loadedSteps = stored->get<int64_t>("steps", where);
    if (const Record *numbers = stored->find("taken")) {
      std::map<std::string, double> values;
      for (const Record::Entry &entry : numbers->as_map())
        values[entry.name] = numbers->get<double>(entry.name, where);
      auto &shared = taken[{toString(param->device()), values}];
      if (!shared) {
        shared = std::make_shared<TakenSteps>();
        for (const auto &[name, value] : values)
          shared->numbers[name] =
              takenNumber(kind + "." + name, value, param->device());
      }
      state.taken = shared;
    }
    for (const auto &[name, first] : moments) {
      const Record *own = stored->find(name);
      runtime::CellRef moment =
          own && own->is(Record::Kind::tensor)
              ? momentOf(*param, name, own->as_tensor(where), where)
              : nullptr;
      if (!moment)
        problems.push_back(fmt::format(
            "{} of '{}' is missing or of another shape", name, path));
      state.moments.push_back(std::move(moment));
    }
    loaded[param->cell()->id()] = std::move(state);
  }
  if (!problems.empty())
    detail::throwRecord(
        fmt::format("does not fit the model: {}", fmt::join(problems, "; ")),
        where);
  for (auto &[cell, state] : loaded)
    states[cell] = std::move(state);
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Schedulers ---------------------------------------------------------===//

Record Scheduler::into_record(Where where) const try {
  Record record;
  record.put("kind", schedule.name(), where);
  record.put("base", base, where);
  record.put("steps", done, where);
  return record;
} catch (...) {
  detail::raiseExhausted(where);
}

void Scheduler::load_record(const Record &record, Where where) try {
  expectKind(record, schedule.name(), where);
  auto ownBase = record.get<double>("base", where);
  auto steps = record.get<int64_t>("steps", where);
  optimizer.set_lr(schedule(ownBase, steps), where);
  base = ownBase;
  done = steps;
} catch (...) {
  detail::raiseExhausted(where);
}

static constexpr const char *plateauKind = "reduce_lr_on_plateau";

Record ReduceLROnPlateau::into_record(Where where) const try {
  Record record;
  record.put("kind", plateauKind, where);
  record.put("lr", optimizer.lr(), where);
  record.put("best", best, where);
  record.put("bad", bad, where);
  record.put("cooling", cooling, where);
  return record;
} catch (...) {
  detail::raiseExhausted(where);
}

void ReduceLROnPlateau::load_record(const Record &record, Where where) try {
  expectKind(record, plateauKind, where);
  auto rate = record.get<double>("lr", where);
  auto ownBest = record.get<double>("best", where);
  auto ownBad = record.get<int64_t>("bad", where);
  auto ownCooling = record.get<int64_t>("cooling", where);
  optimizer.set_lr(rate, where);
  best = ownBest;
  bad = ownBad;
  cooling = ownCooling;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::optim
