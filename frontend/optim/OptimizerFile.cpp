/// Optimizer state in files, by the parameters' record ids.
#include <sinter/optim/Optimizer.h>

#include "frontend/Raise.h"
#include "frontend/State.h"
#include "runtime/device/Device.h"
#include "runtime/params/Safetensors.h"

#include <sinter/ModuleFile.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace sinter::optim {

namespace {

constexpr std::string_view kindKey = "sinter.optimizer";
constexpr std::string_view stepsKey = "sinter.steps.";

std::string hex(uint64_t id) { return fmt::format("{:016x}", id); }

const std::string *findKey(const runtime::Metadata &metadata,
                           std::string_view key) {
  auto found = std::ranges::find(metadata, key,
                                 &std::pair<std::string, std::string>::first);
  return found == metadata.end() ? nullptr : &found->second;
}

ErrorInfo loadError(const std::string &file, std::string_view what) {
  return makeError(
      ErrorKind::invalid_argument,
      fmt::format("load: {} does not fit the model: {}", file, what), "load");
}

bool fits(const runtime::NamedTensor &tensor, const Param &param, DType dtype) {
  return tensor.dtype == dtype &&
         std::ranges::equal(tensor.shape, param.shape(), {}, {}, &Dim::value);
}

/// A cell on the parameter's device that holds a tensor of the file.
runtime::CellRef loadMoment(const Param &param, const std::string &name,
                            const runtime::NamedTensor &tensor,
                            std::source_location where) {
  auto *device = detail::unwrap(runtime::getDevice(param.device()), where);
  auto buffer = detail::unwrap(device->allocate(tensor.data.size()), where);
  detail::unwrap(device->copyIn(*buffer, 0, tensor.data), where);
  runtime::CellSpec spec{.dtype = tensor.dtype,
                         .dims = param.shape(),
                         .device = param.device(),
                         .requiresGrad = false,
                         .name = param.name() + "." + name};
  return runtime::Cell::ready(std::move(spec), std::move(buffer));
}

} // namespace

std::map<uint64_t, const Optimizer::State *>
Optimizer::statesById(const char *call, std::source_location where) const {
  std::map<uint64_t, const State *> byRecord;
  for (const auto &[cell, state] : states)
    if (!state.parameter.expired() &&
        !byRecord.emplace(state.recordId, &state).second)
      detail::raise(
          makeError(ErrorKind::invalid_argument,
                    fmt::format("{}: two parameters have the record id {}; "
                                "give each copy of a model an optimizer of its "
                                "own",
                                call, hex(state.recordId)),
                    call),
          where);
  return byRecord;
}

void Optimizer::save(const std::string &file, Where where) const try {
  std::map<uint64_t, const State *> byRecord = statesById("save", where);
  runtime::Metadata metadata = {{std::string(kindKey), kind}};
  std::vector<std::vector<std::byte>> bytes;
  std::vector<runtime::NamedTensor> tensors;
  for (const auto &[id, state] : byRecord) {
    for (size_t i = 0; i < moments.size(); ++i) {
      Tensor moment = detail::readCell(state->moments[i], where);
      runtime::NamedTensor tensor{
          hex(id) + "." + moments[i].name,
          moment.dtype(),
          {},
          bytes.emplace_back(detail::readBytes(moment, where))};
      for (Dim dim : moment.shape())
        tensor.shape.push_back(dim.value);
      tensors.push_back(std::move(tensor));
    }
    metadata.emplace_back(fmt::format("{}{}", stepsKey, hex(id)),
                          std::to_string(stepsOf(*state, where)));
  }
  detail::unwrap(runtime::writeSafetensors(file, tensors, metadata), where);
} catch (...) {
  detail::raiseExhausted(where);
}

void Optimizer::loadFields(const detail::Fields &fields,
                           const std::string &file,
                           std::source_location where) try {
  auto opened = detail::unwrap(runtime::SafetensorsFile::open(file), where);
  const std::string *found = findKey(opened.metadata(), kindKey);
  if (!found || *found != kind)
    detail::raise(loadError(file, fmt::format("it is no state of {}", kind)),
                  where);
  std::unordered_map<uint64_t, State> loaded;
  std::vector<std::string> problems;
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const Param &param = *fields.params[i].value;
    std::string id = hex(param.record_id());
    const std::string *steps =
        findKey(opened.metadata(), fmt::format("{}{}", stepsKey, id));
    if (!steps) // never stepped
      continue;
    State state;
    state.parameter = param.cell();
    state.recordId = param.record_id();
    std::from_chars(steps->data(), steps->data() + steps->size(),
                    state.loadedSteps);
    for (const auto &[name, first] : moments) {
      const auto *tensor = opened.find(fmt::format("{}.{}", id, name));
      DType dtype = param.dtype() == DType::f64 ? DType::f64 : DType::f32;
      if (!tensor || !fits(*tensor, param, dtype))
        problems.push_back(fmt::format("{} of '{}' is missing or of another "
                                       "shape",
                                       name, fields.params[i].path));
      else
        state.moments.push_back(loadMoment(param, name, *tensor, where));
    }
    loaded[param.cell()->id()] = std::move(state);
  }
  if (!problems.empty())
    detail::raise(loadError(file, fmt::format("{}", fmt::join(problems, "; "))),
                  where);
  for (auto &[cell, state] : loaded)
    states[cell] = std::move(state);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::optim
