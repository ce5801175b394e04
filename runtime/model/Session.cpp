/// Binds, runs and keeps.
#include "runtime/model/Session.h"

#include "runtime/device/ThreadPool.h"
#include "runtime/support/Cancel.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

using namespace sinter;
using namespace sinter::runtime;

Session::Session(std::shared_ptr<Model> model)
    : owner(std::move(model)), entries(owner->info().entries.size()),
      states(owner->info().states.size()), weights(owner->info().numWeights()) {
  for (size_t i = 0; i < states.size(); ++i)
    states[i].tensor = owner->info().states[i].initial;
  for (uint32_t i = 0; i < weights.size(); ++i)
    weights[i].tensor = i;
}

//===- What is kept -------------------------------------------------------===//

Status Session::load(Kept &kept) {
  if (kept.value.buffer)
    return {};
  SINTER_TRY_ASSIGN(kept.value.buffer, owner->tensor(kept.tensor));
  kept.value.dims = owner->info().tensors[kept.tensor].dims;
  return {};
}

Result<Output> Session::valueOf(Kept &kept) {
  SINTER_TRY(load(kept));
  return kept.value;
}

void Session::setState(uint32_t number, Output value) {
  states[number].value = std::move(value);
  states[number].isOwn = true;
}

void Session::setWeight(uint32_t number, Output value) {
  weights[number].value = std::move(value);
  weights[number].isOwn = true;
  ++weightsVersion;
}

void Session::reset() {
  for (Kept &state : states) {
    state.value = {};
    state.isOwn = false;
  }
  position.counter = 0;
}

//===- Binding ------------------------------------------------------------===//

Status Session::prepare(uint32_t number) {
  Entry &entry = entries[number];
  if (entry.program)
    return {};
  SINTER_TRY_ASSIGN(auto program, owner->program(number));
  const EntryPoint &point = owner->info().entries[number];
  const EntryPorts &ports = owner->ports(number);
  if (!point.parts.empty())
    SINTER_TRY(prepareParts(number));
  for (uint32_t input : ports.weights)
    SINTER_TRY(load(weights[point.inputs[input].number]));
  for (uint32_t input : ports.states)
    SINTER_TRY(load(states[point.inputs[input].number]));
  entry.bindings.resize(point.inputs.size());
  for (size_t i = 0; i < point.inputs.size(); ++i)
    entry.bindings[i].scalarBits = point.inputs[i].scalarBits;
  if (ports.updatesWeights && !weightsMove) {
    weightsMove = true;
    for (uint32_t i = 0; i < entries.size(); ++i)
      release(i);
  }
  entry.program = std::move(program);
  return {};
}

void Session::unbind(uint32_t number) {
  Entry &entry = entries[number];
  if (!entry.program)
    return;
  for (uint32_t input : owner->ports(number).given)
    entry.bindings[input].buffer = {};
  dropPassed(number);
}

/// Gives up what only a run needs of state and weights.
void Session::release(uint32_t number) {
  Entry &entry = entries[number];
  if (entry.bindings.empty())
    return;
  const EntryPorts &ports = owner->ports(number);
  for (uint32_t input : ports.states)
    entry.bindings[input].buffer = {};
  if (!weightsMove)
    return;
  for (uint32_t input : ports.weights)
    entry.bindings[input].buffer = {};
  entry.boundWeights = 0;
}

/// Whether a run of the entry gives the input another value.
static bool isUpdated(const EntryPoint &point, const EntryInput &input) {
  bool isWeight = input.kind == SlotKind::weight;
  return std::ranges::any_of(point.outputs, [&](const EntryOutput &output) {
    return output.updates == int32_t(input.number) &&
           output.isWeight == isWeight;
  });
}

bool Session::isGiven(const Buffer &buffer, uint32_t number) const {
  auto begin = reinterpret_cast<uintptr_t>(buffer.data());
  return std::ranges::any_of(owner->ports(number).given, [&](uint32_t input) {
    const BufferRef &given = entries[number].bindings[input].buffer;
    if (!given)
      return false;
    auto other = reinterpret_cast<uintptr_t>(given->data());
    return begin < other + given->bytes() && other < begin + buffer.bytes();
  });
}

/// What the session alone has is overwritten, where the program can do that.
Status Session::bindOne(Kept &kept, uint32_t number, uint32_t input) {
  SINTER_TRY(load(kept));
  const EntryPoint &point = owner->info().entries[number];
  Binding &binding = entries[number].bindings[input];
  const Buffer &buffer = *kept.value.buffer;
  binding.donate = kept.isOwn && buffer.useCount() == 1 &&
                   isUpdated(point, point.inputs[input]) &&
                   !isGiven(buffer, number);
  binding.buffer = kept.value.buffer;
  binding.dims = kept.value.dims;
  return {};
}

Status Session::bindKept(uint32_t number, bool &donates) {
  Entry &entry = entries[number];
  const EntryPoint &point = owner->info().entries[number];
  const EntryPorts &ports = owner->ports(number);
  auto bind = [&](std::vector<Kept> &all,
                  const std::vector<uint32_t> &inputs) -> Status {
    for (uint32_t input : inputs) {
      SINTER_TRY(bindOne(all[point.inputs[input].number], number, input));
      donates |= entry.bindings[input].donate;
    }
    return {};
  };
  SINTER_TRY(bind(states, ports.states));
  if (entry.boundWeights == weightsVersion)
    return {};
  SINTER_TRY(bind(weights, ports.weights));
  entry.boundWeights = weightsVersion;
  return {};
}

Status Session::bindRandom(uint32_t number, uint64_t &drawn) {
  Entry &entry = entries[number];
  const EntryPoint &point = owner->info().entries[number];
  const EntryPorts &ports = owner->ports(number);
  if (ports.random.empty())
    return {};
  std::vector<std::vector<int64_t>> dims;
  for (const Binding &binding : entry.bindings)
    dims.push_back(binding.dims);
  SINTER_TRY_ASSIGN(RandomDraws draws, randomDraws(point, dims));
  for (uint32_t input : ports.random) {
    const uint64_t words[] = {position.key.low, position.key.high,
                              position.counter + draws.offsets[input]};
    entry.bindings[input].scalarBits = words[point.inputs[input].number];
  }
  drawn = draws.total;
  return {};
}

//===- Parts --------------------------------------------------------------===//

Status Session::prepareParts(uint32_t number) {
  std::vector<uint32_t> all = owner->info().entries[number].parts;
  for (uint32_t part : all)
    SINTER_TRY(prepare(part));
  all.push_back(number);
  std::vector<const EntryPoint *> points;
  std::vector<std::shared_ptr<const Program>> loaded;
  std::vector<const Program *> programs;
  for (uint32_t each : all) {
    points.push_back(&owner->info().entries[each]);
    SINTER_TRY_ASSIGN(auto program, owner->program(each));
    programs.push_back(program.get());
    loaded.push_back(std::move(program));
  }
  return checkPassedTypes(points, programs);
}

/// A part is given what its entry is.
void Session::passGiven(uint32_t number, uint32_t part) {
  const std::vector<uint32_t> &from = owner->ports(number).given,
                              &to = owner->ports(part).given;
  for (size_t i = 0; i < from.size(); ++i)
    entries[part].bindings[to[i]] = entries[number].bindings[from[i]];
}

Status Session::runPart(uint32_t number, PassedValues &passed) {
  Entry &entry = entries[number];
  bool donates = false; // parts update nothing
  SINTER_TRY(passed.bind(owner->info().entries[number], entry.bindings,
                         owner->device()));
  SINTER_TRY(bindKept(number, donates));
  SINTER_TRY_ASSIGN(std::vector<Output> outputs,
                    runtime::run(*entry.program, entry.bindings));
  passed.add(std::move(outputs));
  return {};
}

/// Each takes what those before it gave.
Status Session::runParts(uint32_t number) {
  const EntryPoint &point = owner->info().entries[number];
  PassedValues passed;
  for (uint32_t part : point.parts) {
    passGiven(number, part);
    Status done = runPart(part, passed);
    release(part);
    unbind(part);
    if (!done)
      return done;
  }
  return passed.bind(point, entries[number].bindings, owner->device());
}

void Session::dropPassed(uint32_t number) {
  for (uint32_t input : owner->ports(number).passed)
    entries[number].bindings[input].buffer = {};
}

//===- Running ------------------------------------------------------------===//

void Session::listPlaces(const EntryPorts &ports, Entry &entry,
                         std::span<const Place> places) const {
  entry.places.clear();
  if (places.empty())
    return;
  entry.places.resize(entry.program->outputs().size());
  for (size_t i = 0; i < places.size(); ++i)
    entry.places[ports.returned[i]] = places[i];
}

Status Session::run(uint32_t number, std::span<const Place> places) {
  Entry &entry = entries[number];
  const EntryPoint &point = owner->info().entries[number];
  const EntryPorts &ports = owner->ports(number);
  if (!places.empty() && places.size() != ports.returned.size())
    return makeError(ErrorKind::invalid_argument,
                     fmt::format("the entry point returns {} outputs, got "
                                 "places for {}",
                                 ports.returned.size(), places.size()));
  SINTER_TRY(checkCancelled());
  ThreadLimit threads(owner->threads());
  if (Status done = point.parts.empty() ? Status() : runParts(number); !done) {
    dropPassed(number);
    return done;
  }
  listPlaces(ports, entry, places);
  bool donates = false;
  uint64_t drawn = 0;
  SINTER_TRY(bindRandom(number, drawn));
  SINTER_TRY(bindKept(number, donates));
  std::optional<CancelFlagScope> toItsEnd;
  if (donates)
    toItsEnd.emplace(nullptr);
  auto outputs = runtime::run(*entry.program, entry.bindings, nullptr, nullptr,
                              entry.places);
  entry.places.clear();
  release(number);
  dropPassed(number);
  if (!outputs)
    return outputs.takeError();
  take(point, entry, *std::move(outputs));
  position.counter += drawn;
  return {};
}

/// The caller's are results, the others the session's from here on.
void Session::take(const EntryPoint &point, Entry &entry,
                   std::vector<Output> outputs) {
  entry.results.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const EntryOutput &output = point.outputs[i];
    if (output.updates < 0)
      entry.results.push_back(std::move(outputs[i]));
    else if (output.isWeight)
      setWeight(uint32_t(output.updates), std::move(outputs[i]));
    else
      setState(uint32_t(output.updates), std::move(outputs[i]));
  }
}

//===- Memory -------------------------------------------------------------===//

/// Where values decide sizes, of the largest.
Status Session::memoryOfParts(uint32_t number, SessionMemory &memory,
                              uint64_t &temporaries) {
  const ModelInfo &info = owner->info();
  std::vector<std::vector<int64_t>> passed;
  auto bind = [&](uint32_t each) {
    const EntryPoint &point = info.entries[each];
    for (uint32_t input : owner->ports(each).passed)
      entries[each].bindings[input].dims = passed[point.inputs[input].number];
  };
  for (uint32_t part : info.entries[number].parts) {
    passGiven(number, part);
    bind(part);
    bool donates = false;
    SINTER_TRY(bindKept(part, donates));
    auto peak = peakMemory(*entries[part].program, entries[part].bindings);
    release(part);
    if (!peak)
      return peak.takeError();
    memory.temporaries += peak->outputBytes;
    temporaries = std::max(temporaries, peak->arenaBytes);
    for (size_t i = 0; i < info.entries[part].inputs.size(); ++i)
      if (SlotKind kind = info.entries[part].inputs[i].kind;
          kind == SlotKind::weight || kind == SlotKind::state)
        memory.kept += peak->inputSizes[i];
    for (std::vector<int64_t> &dims : peak->outputDims)
      passed.push_back(std::move(dims));
  }
  bind(number);
  return {};
}

Result<SessionMemory> Session::memory(uint32_t number) {
  Entry &entry = entries[number];
  const EntryPoint &point = owner->info().entries[number];
  SessionMemory memory;
  uint64_t partTemporaries = 0;
  if (!point.parts.empty())
    SINTER_TRY(memoryOfParts(number, memory, partTemporaries));
  bool donates = false;
  SINTER_TRY(bindKept(number, donates));
  auto known = peakMemory(*entry.program, entry.bindings);
  release(number);
  if (!known)
    return known.takeError();
  PeakMemory peak = *std::move(known);
  memory.temporaries += std::max(partTemporaries, peak.arenaBytes);
  for (size_t i = 0; i < point.inputs.size(); ++i) {
    if (point.inputs[i].kind == SlotKind::passed)
      continue; // told among temporaries
    (point.inputs[i].kind == SlotKind::given ? memory.inputs : memory.kept) +=
        peak.inputSizes[i];
  }
  for (size_t i = 0; i < point.outputs.size(); ++i) {
    if (point.outputs[i].updates >= 0) {
      memory.temporaries += peak.outputSizes[i];
      continue;
    }
    memory.outputs += peak.outputSizes[i];
    memory.outputDims.push_back(std::move(peak.outputDims[i]));
  }
  return memory;
}
